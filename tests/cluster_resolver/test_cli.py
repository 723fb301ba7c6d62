"""``azureml-k8s cluster-spec``."""

import json
import logging

import pytest

from azureml_k8s.cli import main

from .helpers import json_pod


@pytest.fixture
def run(server, kubeconfig, capsys):
    """Return a function that runs the command against the fake server; it returns exit code, stdout and stderr."""
    kubeconfig(server.url)
    ours = logging.getLogger("azureml_k8s")
    level = ours.level

    def call(*args):
        code = main(["cluster-spec", *args])
        return code, *capsys.readouterr()

    yield call
    ours.setLevel(level)


@pytest.fixture
def two_workers(api):
    api.put(*[json_pod(f"w-{i}", f"10.0.0.{i}", labels={"app": "train"}, namespace="team-a") for i in range(2)])


def test_json(run, two_workers, api, caplog):
    """The spec is printed as JSON, and nothing else."""
    code, out, _ = run("--selector", "worker=app=train", "--selector", "ps=app=ps", "--namespace", "team-a")
    assert (code, json.loads(out)) == (0, {"worker": ["10.0.0.0:8470", "10.0.0.1:8470"], "ps": {}})
    assert "job 'ps' has no task" in caplog.text
    assert {request.path for request in api.seen} == {"/api/v1/namespaces/team-a/pods"}


def test_default_selector(run, api):
    """Without options: the job worker, in all namespaces."""
    api.put(json_pod("w", "10.0.0.1"))
    assert json.loads(run()[1]) == {"worker": ["10.0.0.1:8470"]}


def test_options_reach_the_resolver(run, api):
    """The other options are the resolver's arguments."""
    labels, spec = {"a": "b"}, {"hostname": "w-9", "subdomain": "s"}
    api.put(json_pod("ended", None, "Failed", labels=labels), json_pod("w-9", labels=labels) | {"spec": spec})
    args = ["--address", "dns", "--cluster-domain", "x", "--order", "name", "--port", "2222", "--skip-ended"]
    code, out, _ = run("--selector", "w=a=b", "--location", "off", *args)
    assert (code, json.loads(out)) == (0, {"w": {"1": "w-9.s.default.svc.x:2222"}})


def test_several_namespaces(run, two_workers, api):
    """--namespace may be given several times."""
    run("--selector", "worker=app=train", "-n", "team-a", "-n", "team-b")
    assert [request.path.split("/")[4] for request in api.seen] == ["team-a", "team-b"]


@pytest.mark.parametrize("count", [["--wait", "2"], ["--wait", "worker=2"]])
def test_waits(run, two_workers, count):
    """--wait waits for pods of all jobs, or of the one named."""
    code, out, _ = run("--selector", "worker=app=train", *count, "--timeout", "10")
    assert (code, len(json.loads(out)["worker"])) == (0, 2)


def test_wait_is_too_long(run, two_workers):
    """A time-out has its own exit code, and tells what is missing."""
    code, out, err = run("--selector", "worker=app=train", "--wait", "3", "--timeout", "0")
    assert (code, out) == (8, "")
    assert "job 'worker' has 2 of 3 (ready: w-0, w-1)" in err


def test_tf_config(run, two_workers, monkeypatch):
    """tf-config has the task that is given, or found."""
    args = ["--selector", "worker=app=train", "-o", "tf-config"]
    code, out, _ = run(*args, "--task-type", "worker", "--task-id", "1")
    assert (code, json.loads(out)["task"]) == (0, {"type": "worker", "index": 1})
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert "it is not known which task this is" in err
    monkeypatch.setenv("HOSTNAME", "w-0")
    assert json.loads(run(*args)[1])["task"] == {"type": "worker", "index": 0}


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--selector", "worker"], "'worker' is no JOB=SELECTOR"),
        (["--selector", "=a"], "is no JOB=SELECTOR"),
        (["--selector", "worker="], "is no JOB=SELECTOR"),
        (["--wait", "two"], "'two' is no number of pods"),
        (["--wait", "worker=-1"], "is no number of pods"),
        (["--wait", "2", "--wait", "worker=2"], "one number for all jobs"),
        (["--wait", "chief=2"], "there is no job 'chief'"),
        (["--timeout", "5"], "--timeout needs --wait"),
        (["--wait", "1", "--timeout", "-1"], "-1"),
        (["--namespace", "Team A"], "cannot be a namespace's name"),
        (["--port", "0"], "tf_server_port"),
        (["--address", "x"], "address must be one of"),
        (["--order", "x"], "order must be one of"),
        (["-o", "yaml"], "yaml"),
    ],
)
def test_usage(run, api, args, text):
    """What makes no sense is exit code 2, with a reason and without a request."""
    code, out, err = run(*args)
    assert (code, out, api.seen) == (2, "", [])
    assert text in err


@pytest.mark.parametrize(
    ("prepare", "code", "text"),
    [
        (lambda api: api.forbidden.add(("list", None)), 5, "ClusterRole"),
        (lambda api: api.users.clear(), 4, "HTTP 401"),
        (lambda api: api.put(json_pod("w", None, "Pending")), 1, 'Pod "w" is not running; phase: "Pending"'),
    ],
)
def test_failures(run, api, prepare, code, text):
    """Each cause has its exit code and its sentence."""
    prepare(api)
    result = run()
    assert result[:2] == (code, "")
    assert text in result[2]
    assert "Traceback" not in result[2]


def test_hopeless_wait(run, api):
    """A pod that cannot come up is a failure of what was waited for."""
    api.put(json_pod("w", None, "Failed"))
    assert run("--wait", "1")[0] == 7


def test_no_cluster(run, monkeypatch, tmp_path):
    """Without a kubeconfig nothing can be reached."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run()[0] == 9
