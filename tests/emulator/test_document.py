"""What docs/emulator.md shows is run, and every call that it names exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import azureml_k8s
from azureml_k8s.emulator import Emulator, Faults

ROOT = Path(azureml_k8s.__path__[0]).parent
TEXT = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
YAML = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


def test_the_first_example_runs(tmp_path: Path) -> None:
    """It starts a server, and a workspace reads its location from it."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PYTHON[0]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "westeurope\n", "")


def test_the_example_test_passes(tmp_path: Path) -> None:
    """A user's test file as it stands."""
    (tmp_path / "test_example.py").write_text(PYTHON[1])
    plugin = "azureml_k8s.emulator.pytest_plugin"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider", "test_example.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_seed_describes_a_world(tmp_path: Path) -> None:
    """The YAML file is read, and what it says is there."""
    path = tmp_path / "seed.yaml"
    path.write_text(YAML[0])
    world = Emulator(seed=path).world
    scope = f"/subscriptions/{world.subscription_id}"
    clusters = [one["name"] for one in world.under(scope, "Microsoft.ContainerService/managedClusters")]
    assert clusters == ["prod", "stopped", "bare", "upgrading"]
    extensions = [
        one["properties"]["provisioningState"]
        for one in world.under(scope, "Microsoft.KubernetesConfiguration/extensions")
    ]
    assert extensions == ["Succeeded", "Succeeded", "Updating", "Succeeded"]
    computes = [one["properties"]["provisioningState"] for _, one in world.children(f"{world.workspace_id}/computes")]
    assert computes == ["Succeeded", "Failed"]


def test_every_call_of_the_fault_script_is_named() -> None:
    """The table lists the public methods of Faults, all of them and no others."""
    table = TEXT.partition("## The fault script")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)\(", row)}
    assert named == {name for name, value in vars(Faults).items() if callable(value) and not name.startswith("_")} - {
        "striking"
    }
