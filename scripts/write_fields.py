"""Write docs/fields.md from the table of fields; with --check, only say whether it is as the table says."""

from __future__ import annotations

import sys
from pathlib import Path

from azureml_k8s import _wire

PAGE = Path(__file__).parent.parent / "docs" / "fields.md"
HEAD = """# Fields of a Kubernetes compute

Written from the one table that reading, comparing, masking and the PUT body go by. *Compared*: a value asked for at
attach is compared with it; *read-only*: only the service writes it; *secret*: masked in `serialize()`, errors and logs.

| Name | In the service's JSON | Type (msrest) | | Meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    rows = (f"| `{name}` | `{path}` | `{kind}` | {notes} | {doc} |\n" for name, path, kind, notes, doc in ROWS)
    return HEAD + "".join(rows)


ROWS = list(_wire.reference_rows())

if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(
            0 if PAGE.read_text(encoding="utf-8") == page() else f"{PAGE} is not as the table says: run {__file__}"
        )
    PAGE.write_text(page(), encoding="utf-8")
