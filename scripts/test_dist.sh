#!/usr/bin/env bash
# Builds the sdist and, from it, the wheel; checks both; then runs the sdist's tests against the installed wheel, in a
# folder that holds no source of the package. PYTHON must have `build` and `twine` (the extra `dev`).
source "$(dirname "$0")/common.sh"

rm -rf dist
"$PYTHON" -m build --outdir dist . >/dev/null
"$PYTHON" -m twine check --strict dist/*
"$PYTHON" scripts/check_dist.py dist

fresh_venv .venv-dist "$PYTHON"
wheel=$(echo dist/*.whl)
.venv-dist/bin/python -m pip install -qq "$wheel"
.venv-dist/bin/python -W error -c 'import azureml_k8s; print("installed:", azureml_k8s.__version__)'
# The base alone: the command says what is missing, in one line and without a traceback.
if said=$(.venv-dist/bin/azureml-k8s --version 2>&1); then
  echo "the command ran without the extra" >&2
  exit 1
fi
[ "$(wc -l <<<"$said")" = 1 ] && grep -q 'azureml-k8s\[cli\]' <<<"$said"

.venv-dist/bin/python -m pip install -qq "$wheel[test]"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -xzf dist/*.tar.gz --strip-components 1 -C "$folder"
rm -rf "$folder/azureml_k8s"
python=$PWD/.venv-dist/bin/python
cd "$folder"
"$python" -m pytest "$@"
