"""Print the path of the newest released CPython (3.11 or newer) on this machine: PATH, pyenv and this Python itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"python3(\.\d+)?$")
_ASK = """
import ensurepip, sys, sysconfig, venv
if not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(sys.implementation.name, sys.version_info.releaselevel, *sys.version_info[:3])
"""


def candidates() -> Iterator[Path]:
    """Every file that is named like a Python 3."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [*map(Path, os.environ.get("PATH", "").split(os.pathsep)), *pyenv.glob("versions/*/bin")]
    for folder in folders:
        if folder.is_dir():
            yield from (file for file in folder.iterdir() if _NAME.match(file.name))
    yield Path(sys.executable)


def version(python: Path) -> tuple[int, ...]:
    """The version of a released CPython that can make environments, or () for anything else."""
    try:
        answer = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match answer.stdout.split():
        case ["cpython", "final", *numbers]:
            return tuple(map(int, numbers))
    return ()


def main() -> None:
    """Print the newest one's path."""
    newest, python = max((version(file), str(file)) for file in set(candidates()))
    if newest < (3, 11):
        raise SystemExit("no Python 3.11 or newer on this machine")
    print(python)


if __name__ == "__main__":
    main()
