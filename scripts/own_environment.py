"""Run the tests of one folder in a virtual environment of their own: ``own_environment.py FOLDER [pytest arguments]``.

FOLDER/requirements.txt says what the environment, .venv-NAME-OF-FOLDER, holds. It is made once, and again when the
requirements or the Python change. For packages that are too big for the environment of the other tests, or disturb it.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(folder: Path, *arguments: str) -> int:
    """Make the environment if need be, run the tests in it, and return their exit code."""
    environment = ROOT / f".venv-{folder.name.replace('_', '-')}"
    requirements = folder / "requirements.txt"
    python, stamp = environment / "bin" / "python", environment / ".made-with"
    wanted = f"{sys.version}\n{requirements.read_text()}"
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"making {environment.name} with {requirements.relative_to(ROOT)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", requirements], check=True)
        stamp.write_text(wanted)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", folder, *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
