"""The sample does what its first lines say."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from .helpers import json_pod

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "cluster_resolver.py"


@pytest.fixture
def run(server, kubeconfig, monkeypatch, capsys):
    """Return a function that runs the sample; it returns its exit code, and what it printed."""
    kubeconfig(server.url)

    def call(*args):
        monkeypatch.setattr(sys, "argv", [str(SAMPLE), *args])
        with pytest.raises(SystemExit) as caught:
            runpy.run_path(str(SAMPLE), run_name="__main__")
        return caught.value.code, capsys.readouterr().out

    return call


def test_sample(run, api, monkeypatch):
    """It waits, lists the workers, and prints TF_CONFIG where it runs in one of them."""
    api.put(json_pod("w-1", "10.0.0.2", labels={"app": "x"}), json_pod("w-0", "10.0.0.1", labels={"app": "x"}))
    assert run("default", "2", "app=x") == (0, "0 10.0.0.1:8470\n1 10.0.0.2:8470\n")
    monkeypatch.setenv("HOSTNAME", "w-1")
    code, out = run("default", "2", "app=x")
    assert (code, json.loads(out.splitlines()[-1])["task"]) == (0, {"type": "worker", "index": 1})


def test_sample_of_a_hopeless_job(run, api):
    """It ends with the reason where a worker cannot come up."""
    api.put(json_pod("w-0", None, "Failed", reason="Evicted"))
    assert run("default", "1") == ("Pod \"w-0\" of job 'worker' cannot come up: Failed (Evicted)", "")
