"""Which task this process is, and the TF_CONFIG made of it."""

import json

import pytest

from azureml_k8s.cluster_resolver import KubernetesClusterResolver, own_task

from .helpers import Client, typed_pod

PODS = {
    "w": [typed_pod("w-0", "10.0.0.1"), typed_pod("w-1", "10.0.0.2")],
    "p": [typed_pod("p-0", "10.0.0.3", namespace="other")],
}
ONE_JOB, TWO_JOBS = {"worker": "w"}, {"worker": "w", "ps": "p"}


def own(monkeypatch, environment, jobs=TWO_JOBS, **options):
    """Return job and index that a resolver finds in this environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    client = Client(by_selector=PODS)
    made = KubernetesClusterResolver(jobs, override_client=client, **options)
    assert (made.task_type, made.task_id, made.master(), client.calls) == (None, None, "", [])
    made.cluster_spec()
    return made.task_type, made.task_id


def tf_config(**task):
    return json.dumps({"task": task})


@pytest.mark.parametrize(
    ("environment", "task"),
    [
        ({}, (None, None)),
        ({"HOSTNAME": "laptop"}, (None, None)),
        ({"HOSTNAME": "w-1"}, ("worker", 1)),
        ({"HOSTNAME": "x", "POD_NAME": "p-0"}, ("ps", 0)),
        ({"HOSTNAME": "p-0", "POD_NAMESPACE": "default"}, (None, None)),
        ({"HOSTNAME": "p-0", "POD_NAMESPACE": "other"}, ("ps", 0)),
        ({"POD_IP": "10.0.0.3"}, ("ps", 0)),
        ({"POD_IP": "10.9.9.9"}, (None, None)),
        ({"HOSTNAME": "w-1", "JOB_COMPLETION_INDEX": "0"}, ("worker", 1)),
        ({"JOB_COMPLETION_INDEX": "1"}, (None, None)),
        ({"TF_CONFIG": tf_config(type="ps", index=3)}, ("ps", 3)),
        ({"TF_CONFIG": tf_config(type="ps", index="3")}, ("ps", 3)),
        ({"HOSTNAME": "w-0", "TF_CONFIG": tf_config(type="ps", index=3)}, ("worker", 0)),
        ({"TF_CONFIG": "no json"}, (None, None)),
        ({"TF_CONFIG": "[]"}, (None, None)),
        ({"TF_CONFIG": '{"task": null}'}, (None, None)),
        ({"TF_CONFIG": tf_config(type=1, index=0)}, (None, None)),
        ({"TF_CONFIG": tf_config(type="ps", index="x")}, (None, None)),
        ({"TF_CONFIG": '{"cluster": {}}'}, (None, None)),
    ],
)
def test_found(monkeypatch, environment, task):
    """The own pod in the cluster comes first, then what the environment says."""
    assert own(monkeypatch, environment) == task


@pytest.mark.parametrize(
    ("index", "task"), [("1", ("worker", 1)), ("7", ("worker", 7)), ("x", (None, None)), ("٣", (None, None))]
)
def test_completion_index(monkeypatch, index, task):
    """An Indexed Job's index is that of the only job."""
    assert own(monkeypatch, {"JOB_COMPLETION_INDEX": index}, ONE_JOB) == task


def test_own_address(monkeypatch):
    """In a pod, its own address is looked up, and may be that of one task."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setattr(own_task.socket, "getaddrinfo", lambda host, port: [(2, 1, 6, "", ("10.0.0.2", 0))])
    assert own(monkeypatch, {}) == ("worker", 1)


def test_host_name_of_an_indexed_job(monkeypatch):
    """In an Indexed Job the host name is not the pod's name; in a pod with a very long name, it is its beginning."""
    long = "x" * 62 + "-0"
    pods = [
        typed_pod("train-0-abcde", hostname="train-0"),
        typed_pod("train-1-fghij", hostname="train-1"),
        typed_pod(long),
    ]
    for host_name, index in [("train-1", 1), ("train-0", 0), (long[:62], 2)]:
        monkeypatch.setenv("HOSTNAME", host_name)
        made = KubernetesClusterResolver(override_client=Client(*pods))
        made.cluster_spec()
        assert made.task_id == index


def test_own_address_is_unknown(monkeypatch):
    """A host name that cannot be looked up is no error."""

    def fail(host, port):
        raise OSError("no such host")

    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setattr(own_task.socket, "getaddrinfo", fail)
    assert own(monkeypatch, {}) == (None, None)


def test_shared_address_tells_nothing(monkeypatch):
    """Pods in the host's network share its address; then it is not known which is ours."""
    pods = [typed_pod(f"w-{i}", "198.51.100.1") for i in range(2)]
    monkeypatch.setenv("POD_IP", "198.51.100.1")
    made = KubernetesClusterResolver(override_client=Client(*pods))
    made.cluster_spec()
    assert (made.task_type, made.task_id) == (None, None)


def test_what_was_set_wins(monkeypatch):
    """What the caller sets is kept, and completed only where it fits."""
    monkeypatch.setenv("HOSTNAME", "w-1")
    for job, index, result in [
        ("ps", 5, ("ps", 5)),
        ("worker", None, ("worker", 1)),
        ("ps", None, ("ps", None)),
        (None, 1, ("worker", 1)),
        (None, 0, (None, 0)),
    ]:
        made = KubernetesClusterResolver(TWO_JOBS, override_client=Client(by_selector=PODS))
        made.task_type, made.task_id = job, index
        made.cluster_spec()
        assert (made.task_type, made.task_id) == result


def test_found_task_follows_the_cluster(monkeypatch):
    """What was found is found anew by each cluster_spec(), so that it fits the spec that is used."""
    monkeypatch.setenv("HOSTNAME", "w-1")
    client = Client(*PODS["w"])
    made = KubernetesClusterResolver(override_client=client)
    made.cluster_spec()
    assert made.master() == "grpc://10.0.0.2:8470"
    client.pods = client.pods[1:]
    assert made.master() == "grpc://10.0.0.2:8470"
    assert made.task_id == 0


def test_tf_config(monkeypatch):
    """tf_config() has the cluster, the own task and the RPC layer, as TensorFlow reads them."""
    monkeypatch.setenv("HOSTNAME", "w-1")
    made = KubernetesClusterResolver({**TWO_JOBS, "chief": []}, override_client=Client(by_selector=PODS))
    assert json.loads(made.tf_config()) == {
        "cluster": {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"], "ps": ["10.0.0.3:8470"], "chief": []},
        "task": {"type": "worker", "index": 1},
        "rpc_layer": "grpc",
    }


def test_tf_config_of_a_given_spec():
    """A spec that one has need not be asked for again; without an RPC layer there is none in it."""
    client = Client(by_selector=PODS)
    made = KubernetesClusterResolver(ONE_JOB, rpc_layer=None, override_client=client)
    spec = made.wait(2, timeout=0)
    made.task_type, made.task_id = "worker", 0
    made_of = json.loads(made.tf_config(spec))
    assert made_of == {"cluster": spec.as_dict(), "task": {"type": "worker", "index": 0}}
    assert len(client.calls) == 1


def test_tf_config_without_own_task():
    """tf_config() of a process that is no task is an error that says what to set."""
    with pytest.raises(RuntimeError, match="set task_type and task_id"):
        KubernetesClusterResolver(ONE_JOB, override_client=Client(by_selector=PODS)).tf_config()
