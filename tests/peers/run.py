"""Let the official SDKs, unmodified, complete their own flows against the emulator: ``python tests/peers/run.py``.

Each SDK gets a virtual environment of its own (.venv-peer-v1, .venv-peer-v2 beside the project's), since they should
not share one. Arguments go to pytest. PEER_PYTHON names the Python to make them with; default: the first of those below
that is on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# azureml-core imports pkg_resources in places, which newer releases of setuptools no longer bring.
PEERS = {"v1": ["azureml-core>=1.57", "setuptools<81"], "v2": ["azure-ai-ml>=1.23"]}
PYTHONS = ("python3.11", "python3.10", "python3.12", "python3.9")


def python_for_peers() -> str:
    """The Python that the SDKs support."""
    named = os.environ.get("PEER_PYTHON")
    for name in (named,) if named else PYTHONS:
        found = shutil.which(name)
        # A name on the PATH may be a shim of a version that is not there.
        if (
            found
            and not subprocess.run([found, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode
        ):
            return found
    raise SystemExit(
        f"none of {', '.join(PYTHONS)} with its venv module is here; name one: PEER_PYTHON=/path/to/python"
    )


def make(peer: str, requirements: list[str]) -> None:
    """Make the environment of one SDK, unless it is there with these requirements."""
    folder = ROOT / f".venv-peer-{peer}"
    stamp = folder / "requirements.txt"
    wanted = "\n".join(requirements) + "\n"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"making {folder.name} with {', '.join(requirements)}", flush=True)
    subprocess.run([python_for_peers(), "-m", "venv", "--clear", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *requirements], check=True)
    stamp.write_text(wanted)


def main() -> int:
    """Make what is missing, then run the checks."""
    for peer, requirements in PEERS.items():
        make(peer, requirements)
    checks = [str(HERE / f"check_{peer}.py") for peer in PEERS]
    return subprocess.run([sys.executable, "-m", "pytest", *checks, *sys.argv[1:]], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
