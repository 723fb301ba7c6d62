"""The command line: arguments to public calls, answers to text and an exit code.

What a command was asked for goes to stdout, everything else to stderr; `azureml_k8s.cli.exit_codes` lists the codes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]

_NEEDS = {"click": "click", "rich": "rich", "yaml": "PyYAML"}


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the console script and ``python -m azureml_k8s`` call this.

    Args:
        args: What follows the program's name, by default that of this process.
    """
    if missing := [name for module, name in _NEEDS.items() if find_spec(module) is None]:
        install = 'pip install "azureml-k8s[cli]"'
        sys.stderr.write(f"The azureml-k8s command needs {', '.join(missing)}: {install}\n")
        return 2
    from azureml_k8s.cli.app import run

    return run(args)
