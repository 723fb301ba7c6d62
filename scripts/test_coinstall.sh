#!/usr/bin/env bash
# Can people install this package, extras included, beside what they have already? Each of these must resolve together
# with it, in the newest releases that go together; nothing is installed.
source "$(dirname "$0")/common.sh"

others=(azure-ai-ml azureml-core azure-cli mlflow black kubernetes)
fresh_venv .venv-coinstall "$PYTHON"
for other in "${others[@]}"; do
  started=$SECONDS
  report=$(mktemp)
  .venv-coinstall/bin/python -m pip install -qq --dry-run --ignore-installed --report "$report" '.[cli,kubernetes]' "$other"
  .venv-coinstall/bin/python - "$report" "$other" <<'PYTHON'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    found = {item["metadata"]["name"].lower(): item["metadata"]["version"] for item in json.load(file)["install"]}
shown = ["azureml-k8s", sys.argv[2], "azure-identity", "azure-mgmt-resource", "msrest", "requests"]
print("resolves:", ", ".join(f"{name} {found[name]}" for name in shown))
PYTHON
  rm -f "$report"
  echo "  in $((SECONDS - started)) s"
done
