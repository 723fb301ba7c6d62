#!/usr/bin/env bash
# The lowest release that pyproject.toml allows of every direct dependency, and the whole suite on them. Warnings are no
# errors here: an old release may warn of what a newer one has repaired.
source "$(dirname "$0")/common.sh"

fresh_venv .venv-lowest "$PYTHON"
"$PYTHON" scripts/lowest_requirements.py test >.venv-lowest/requirements.txt
cat .venv-lowest/requirements.txt
.venv-lowest/bin/python -m pip install -qq --requirement .venv-lowest/requirements.txt
.venv-lowest/bin/python -m pip install -qq --no-deps --editable .
.venv-lowest/bin/python -m pip check
.venv-lowest/bin/python -m pytest "$@"
