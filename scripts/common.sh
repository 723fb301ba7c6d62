# Sourced by the scripts beside this file: strict mode, the repository's root, and an environment made afresh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

# fresh_venv DIR PYTHON: an empty environment with a current pip, whatever stood there before.
fresh_venv() {
  rm -rf "$1"
  "$2" -m venv "$1"
  "$1/bin/python" -m pip install -qq --upgrade pip
}
