"""The fixtures for users, in pytest runs of their own; and what an unrelated run pays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import azureml_k8s

PLUGIN = "azureml_k8s.emulator.pytest_plugin"
ROOT = Path(azureml_k8s.__path__[0]).parent

SCRIPT = """
from azureml_k8s import ComputeTarget, KubernetesCompute, Workspace

def attach(cluster_id):
    ws = Workspace.from_config()
    target = ComputeTarget.attach(ws, "k8s1", KubernetesCompute.attach_configuration(cluster_id, "team"))
    target.wait_for_completion()
    return target
"""
TESTS = {
    "in_process": """
        import time
        import pytest
        from azureml_k8s import ComputeTargetException, Workspace
        from my_script import attach

        def test_attaches(azureml_emulator):
            began_s = time.monotonic()
            azureml_emulator.provisioning(polls=30)
            assert attach(azureml_emulator.aks_id).provisioning_state == "Succeeded"
            assert sum(azureml_emulator.clock.naps_s) > 30
            assert time.monotonic() - began_s < 5
            assert azureml_emulator.workspace().compute_targets["k8s1"].namespace == "team"

        def test_says_why_it_fails(azureml_emulator):
            azureml_emulator.fail_next("ClusterNotReachable", "no route to the cluster")
            with pytest.raises(ComputeTargetException, match="no route to the cluster"):
                attach(azureml_emulator.arc_id)

        def test_survives_throttling(azureml_emulator):
            azureml_emulator.faults.throttle(retry_after_s=5, times=2)
            assert attach(azureml_emulator.aks_id).provisioning_state == "Succeeded"
            assert azureml_emulator.clock.naps_s.count(5) >= 2

        def test_needs_no_credential(azureml_emulator):
            ids = azureml_emulator.subscription_id, azureml_emulator.resource_group
            assert Workspace.get("ws", subscription_id=ids[0], resource_group=ids[1]).location == "westeurope"
            assert list(Workspace.list(ids[0])) == ["ws"]
            assert Workspace(*ids, "ws").compute_targets == {}

        def test_starts_afresh(azureml_emulator):
            assert azureml_emulator.workspace().compute_targets == {}
    """,
    "server": """
        import subprocess, sys, os
        from my_script import attach

        def test_attaches_over_http(azureml_emulator_server):
            azureml_emulator_server.provisioning(polls=1)
            assert azureml_emulator_server.workspace().compute_targets == {}
            code = "import my_script; print(my_script.attach(%r).provisioning_state)" % azureml_emulator_server.aks_id
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"]})
            assert done.stdout == "Succeeded\\n", done.stderr
            assert "PUT" in [one.method for one in azureml_emulator_server.requests]

        def test_fails_next(azureml_emulator_server):
            azureml_emulator_server.fail_next("Conflict", "busy", operation=False)
            assert azureml_emulator_server.faults is not None
            assert azureml_emulator_server.url.startswith("http://127.0.0.1:")
    """,
    "restored": """
        import os
        from azureml_k8s import Workspace

        DEFAULTS = dict(Workspace.__init__.__kwdefaults__)
        HERE = os.getcwd()

        def test_one(azureml_emulator):
            assert os.path.exists("config.json")
            assert Workspace.__init__.__kwdefaults__ != DEFAULTS

        def test_two():
            assert os.getcwd() == HERE
            assert Workspace.__init__.__kwdefaults__ == DEFAULTS
    """,
    "unrelated": """
        import sys

        def test_nothing_heavy_is_loaded():
            heavy = {"requests", "azure", "msrest", "cryptography", "yaml", "http.server"}
            assert heavy.isdisjoint(sys.modules)
            loaded = {name for name in sys.modules if name.startswith("azureml_k8s")}
            assert loaded == {"azureml_k8s", "azureml_k8s._version", "azureml_k8s.emulator",
                              "azureml_k8s.emulator.pytest_plugin"}
    """,
}


def run_pytest(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run one of the test files above in a process of its own, with the plugin and warnings as errors."""
    (folder / "my_script.py").write_text(SCRIPT)
    (folder / f"test_{name}.py").write_text(textwrap.dedent(TESTS[name]))
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", PLUGIN, "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_script_is_tested_in_process_without_waiting(tmp_path: Path) -> None:
    """A script that opens its workspace from the config file attaches in no real time, fails as told, survives 429."""
    done = run_pytest(tmp_path, "in_process")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_a_script_is_tested_over_http(tmp_path: Path) -> None:
    """A process of its own finds the server by the config file."""
    done = run_pytest(tmp_path, "server")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_after_a_test_everything_is_as_before(tmp_path: Path) -> None:
    """Current folder and defaults come back."""
    done = run_pytest(tmp_path, "restored")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_unrelated_run_pays_nothing(tmp_path: Path) -> None:
    """Installed but unused, the plugin loads itself and nothing else."""
    done = run_pytest(tmp_path, "unrelated")
    assert done.returncode == 0, done.stdout + done.stderr
