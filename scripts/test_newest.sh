#!/usr/bin/env bash
# The newest Python found on this machine with the newest release of everything; warnings are errors.
source "$(dirname "$0")/common.sh"

newest=$("$PYTHON" scripts/newest_python.py)
echo "newest Python here: $("$newest" --version) ($newest)"
fresh_venv .venv-newest "$newest"
.venv-newest/bin/python -m pip install -qq --editable '.[test]'
.venv-newest/bin/python -m pip check
.venv-newest/bin/python -m pytest -W error "$@"
