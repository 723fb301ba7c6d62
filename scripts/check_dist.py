"""Check what the wheel and the sdist in a folder hold: the package with its marks, and nothing of this machine."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

_WHEEL_HAS = {"azureml_k8s/__init__.py", "azureml_k8s/py.typed", "azureml_k8s/cli/__init__.py"}
_SDIST_HAS = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "azureml_k8s/py.typed", "tests"}
_NEVER = {"__pycache__", ".venv", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".coverage"}


def check(what: Path, names: set[str], wanted: set[str]) -> None:
    """End the run if a wanted name is missing or one is there that never belongs."""
    missing = {want for want in wanted if not any(name == want or name.startswith(f"{want}/") for name in names)}
    strange = {name for name in names if _NEVER & set(PurePosixPath(name).parts) or name.endswith(".pyc")}
    if missing or strange:
        raise SystemExit(f"{what.name}: missing {sorted(missing)}, does not belong: {sorted(strange)}")
    print(f"{what.name}: {len(names)} files, as wanted")


def main(folder: Path) -> None:
    """Check the one wheel and the one sdist of a folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    check(wheel, in_wheel, _WHEEL_HAS)
    if alien := {name for name in in_wheel if not name.startswith(("azureml_k8s/", "azureml_k8s-"))}:
        raise SystemExit(f"{wheel.name}: installs beside the package: {sorted(alien)}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in in_wheel):
        raise SystemExit(f"{wheel.name}: without its license")
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    check(sdist, in_sdist, _SDIST_HAS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
