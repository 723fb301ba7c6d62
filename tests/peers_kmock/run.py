"""Run the tests of this folder with kmock, in a virtual environment of their own: .venv-peer-kmock.

kmock is a second opinion on how a Kubernetes API answers, beside the fake server of the other tests. It brings a pytest
plugin that needs pytest-asyncio, which is why it stays out of the environment of the other tests.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv-peer-kmock"
REQUIREMENTS = ["hypothesis>=6.100", "kmock>=0.8", "kubernetes", "pytest>=8.2", "pytest-asyncio"]


def main() -> int:
    """Make the environment if need be, run the tests in it, and return their exit code."""
    python, stamp = VENV / "bin" / "python", VENV / ".made-with"
    wanted = "\n".join([sys.version, *REQUIREMENTS])
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"making {VENV.name} with {', '.join(REQUIREMENTS)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", Path(__file__).parent, *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
