"""Print pyproject.toml's dependencies, each at exactly its lower bound: those of the base and of the extras named.

Usage: ``python scripts/lowest_requirements.py test [kubernetes ...]``. An extra that names this project's other extras
brings theirs. A dependency without a lower bound ends the run with an error: an untested bound is no promise.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SELF = re.compile(r"azureml-k8s\[([\w,-]+)\]$")
_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[\w,-]+\])?\s*(?:.*[^~=!<>])?>=\s*(?P<low>[\w.]+)")


def direct_requirements(project: dict[str, Any], extras: list[str]) -> Iterator[str]:
    """Every requirement of the base and of the extras, those of extras within extras included."""
    yield from project["dependencies"]
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for requirement in project["optional-dependencies"][extra]:
            if inner := _SELF.match(requirement):
                waiting += inner[1].split(",")
            else:
                yield requirement


def at_lower_bound(requirement: str) -> str:
    """``requests>=2.32.3,<3`` becomes ``requests==2.32.3``."""
    if not (bound := _BOUND.match(requirement)):
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound")
    return f"{bound['name']}=={bound['low']}"


def main(extras: list[str]) -> None:
    """Print the pins, sorted."""
    with Path(__file__).parents[1].joinpath("pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    print("\n".join(sorted({at_lower_bound(r) for r in direct_requirements(project, extras)}, key=str.lower)))


if __name__ == "__main__":
    main(sys.argv[1:])
