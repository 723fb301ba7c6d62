"""Run the tests of this folder with TensorFlow, in a virtual environment of their own: .venv-peer-tf.

The environment is made once, and again when the requirements change. TensorFlow is too big for the environment of the
other tests, and nothing of it is needed there.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv-peer-tf"
REQUIREMENTS = ["tensorflow-cpu>=2.21,<3", "pytest>=8.2", "hypothesis>=6.100"]


def main() -> int:
    """Make the environment if need be, run the tests in it, and return their exit code."""
    python, stamp = VENV / "bin" / "python", VENV / ".made-with"
    wanted = "\n".join([sys.version, *REQUIREMENTS])
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"making {VENV.name} with {', '.join(REQUIREMENTS)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", Path(__file__).parent, *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
