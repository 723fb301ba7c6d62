"""What must be as in TensorFlow's class; the numbers are those of the list of cases that both were run through."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from azureml_k8s.cluster_resolver import ClusterSpec, ExecutableLocation, KubernetesClusterResolver

from .helpers import Client, as_list, stub_client, stub_pod, typed_pod


def resolver(*pods, jobs=None, **options):
    return KubernetesClusterResolver(jobs, override_client=stub_client(*pods), **options)


def test_case_01_single_worker():
    """A stub pod that knows its node's address only gets that."""
    pod = stub_pod("tensorflow-abc123", host_ip="192.0.2.3")
    assert resolver(pod).cluster_spec() == {"worker": {0: "192.0.2.3:8470"}}


def test_case_02_within_cluster_named():
    """With a client, naming the location changes nothing."""
    pod = stub_pod("tensorflow-abc123", host_ip="192.0.2.3")
    made = resolver(pod, executable_location=ExecutableLocation.WITHIN_CLUSTER)
    assert made.cluster_spec().as_dict() == {"worker": ["192.0.2.3:8470"]}


@pytest.mark.parametrize("location", [None, 0, 1, 2, "WITHIN_CLUSTER", "DETECT", object()])
def test_case_03_location_is_no_member(location):
    """Without a client, whatever is no member is refused; with one, it is not looked at."""
    with pytest.raises(ValueError, match="The executable location provided is invalid"):
        KubernetesClusterResolver(executable_location=location)
    assert resolver(executable_location=location).cluster_spec() == {"worker": {}}


def test_case_04_names_are_sorted_as_text():
    """Names with differing prefixes are sorted as text."""
    pods = [
        stub_pod(f"tensorflow-{name}", host_ip=f"192.0.2.{ip}")
        for name, ip in [("abc123", 3), ("def456", 4), ("999999", 5)]
    ]
    assert resolver(*pods).cluster_spec().as_dict() == {
        "worker": ["192.0.2.5:8470", "192.0.2.3:8470", "192.0.2.4:8470"]
    }


def test_case_05_own_task_is_settable():
    """Job and index can be set, and are read back."""
    made = resolver()
    made.task_type, made.task_id = "worker", 0
    assert (made.task_type, made.task_id) == ("worker", 0)


def test_case_07_master_of_own_task_and_of_another():
    """master() means the own task, or the one given."""
    made = resolver(*[stub_pod(f"tensorflow-{i}", host_ip=f"192.0.2.{i}") for i in (3, 4, 5)])
    made.task_type, made.task_id = "worker", 0
    assert made.master() == "grpc://192.0.2.3:8470"
    assert made.master("worker", 2) == "grpc://192.0.2.5:8470"


def test_case_08_failed_pod():
    """A failed pod is an error with its name and phase."""
    with pytest.raises(RuntimeError, match=r'^Pod "tensorflow-abc123" is not running; phase: "Failed"$'):
        resolver(stub_pod("tensorflow-abc123", "Failed")).cluster_spec()


def test_case_10_several_jobs_and_selectors():
    """Selectors are sorted each for itself and joined; numbers in names order, and are no indices."""
    by_selector = {
        "job-name=w1": [stub_pod("tensorflow-w1", host_ip="192.0.2.3")],
        "job-name=w2": [stub_pod("tensorflow-w0", host_ip="192.0.2.4")],
        "job-name=ps": [
            stub_pod("tensorflow-ps-2", host_ip="192.0.2.7"),
            stub_pod("tensorflow-ps-1", host_ip="192.0.2.6"),
        ],
    }
    jobs = {"worker": ["job-name=w1", "job-name=w2"], "ps": ["job-name=ps"]}
    spec = KubernetesClusterResolver(jobs, override_client=stub_client(by_selector)).cluster_spec()
    assert spec.jobs == ["worker", "ps"]
    assert spec.as_dict() == {
        "worker": ["192.0.2.3:8470", "192.0.2.4:8470"],
        "ps": ["192.0.2.6:8470", "192.0.2.7:8470"],
    }


def test_case_16_new_resolver():
    """A new resolver knows no task and speaks grpc."""
    made = resolver()
    assert (made.task_type, made.task_id, made.rpc_layer, made.environment) == (None, None, "grpc", "")


def test_case_17_requests():
    """Each selector is one request for all namespaces, word for word and in order."""
    client = Client()
    jobs = {"worker": ["a=1,b!=2", "c in (x, y)"], "ps": ["d"]}
    KubernetesClusterResolver(jobs, override_client=client).cluster_spec()
    assert client.calls == [(None, "a=1,b!=2"), (None, "c in (x, y)"), (None, "d")]


def test_case_18_construction_sends_nothing():
    """Making a resolver, reading its attributes and asking for an unknown master call nothing."""
    client = Client()
    made = KubernetesClusterResolver(override_client=client)
    assert (made.task_type, made.environment, made.master(), client.calls) == (None, "", "", [])


def test_case_19_each_call_asks_anew():
    """Two calls are two requests, and see two clusters."""
    client = Client(typed_pod("w-0", "10.0.0.1"))
    made = KubernetesClusterResolver(override_client=client)
    first = made.cluster_spec()
    client.pods.append(typed_pod("w-1", "10.0.0.2"))
    assert (first.num_tasks("worker"), made.cluster_spec().num_tasks("worker"), len(client.calls)) == (1, 2, 2)


@pytest.mark.parametrize("jobs", [None, {}, []])
def test_case_20_default_selector(jobs):
    """A mapping that is none or empty means TensorFlow's default."""
    client = Client()
    assert KubernetesClusterResolver(jobs, override_client=client).cluster_spec().jobs == ["worker"]
    assert client.calls == [(None, "job-name=tensorflow")]


def test_case_21_positional_arguments():
    """The order of the arguments is TensorFlow's."""
    client = Client(typed_pod("w-0", "10.0.0.1"))
    made = KubernetesClusterResolver({"w": ["a"]}, 2222, "http", client, ExecutableLocation.OFF_CLUSTER)
    assert made.master("w", 0) == "http://10.0.0.1:2222"


@pytest.mark.parametrize("port", [2222, "2222"])
def test_case_22_port_as_text(port):
    """A port may be text."""
    assert resolver(stub_pod("w"), tf_server_port=port).cluster_spec().as_dict() == {"worker": ["192.0.2.1:2222"]}


def test_case_23_tuple_of_selectors():
    """A tuple is as good as a list."""
    client = Client()
    KubernetesClusterResolver({"worker": ("a", "b")}, override_client=client).cluster_spec()
    assert client.calls == [(None, "a"), (None, "b")]


def test_case_24_no_pod():
    """A job without pods is there, and the spec is true."""
    spec = resolver().cluster_spec()
    assert spec.jobs == ["worker"]
    assert bool(spec)


def test_case_25_unknown_keyword():
    """An unknown argument is refused by name."""
    with pytest.raises(TypeError, match="nonsense"):
        KubernetesClusterResolver(nonsense=1)


@pytest.mark.parametrize("jobs", [["worker"], "worker", 3])
def test_case_26_mapping_is_none(jobs):
    """What maps nothing is refused."""
    with pytest.raises(TypeError, match="job_to_label_mapping"):
        resolver(jobs=jobs)


def test_case_28_errors_of_the_client_pass():
    """A given client's errors are not touched."""
    client = MagicMock()
    error = OSError("quota of the mock")
    client.list_pod_for_all_namespaces.side_effect = error
    with pytest.raises(OSError, match="quota of the mock") as caught:
        KubernetesClusterResolver(override_client=client).cluster_spec()
    assert caught.value is error


def test_case_29_least_client_and_pods():
    """A method that takes the selector only, and pods with three attributes, are enough."""

    class Least:
        def list_pod_for_all_namespaces(self, label_selector):
            status = SimpleNamespace(phase="Running", host_ip="192.0.2.9")
            return SimpleNamespace(items=[SimpleNamespace(metadata=SimpleNamespace(name="w"), status=status)])

    spec = KubernetesClusterResolver(override_client=Least()).cluster_spec()
    assert spec.as_dict() == {"worker": ["192.0.2.9:8470"]}


@pytest.mark.parametrize(("job", "index"), [(None, None), ("worker", None), (None, 0)])
def test_case_30_master_of_nobody(job, index):
    """While job or index is unknown, master() is empty and asks nothing."""
    client = Client(typed_pod("w-0"))
    assert KubernetesClusterResolver(override_client=client).master(job, index) == ""
    assert client.calls == []


@pytest.mark.parametrize(
    ("own", "given", "prefix"),
    [
        pytest.param("grpc", None, "grpc://", id="31-own"),
        pytest.param("grpc", "http", "http://", id="31-given"),
        pytest.param("x", None, "x://", id="31-object"),
        pytest.param(None, None, "", id="32-none"),
        pytest.param("", None, "", id="32-empty"),
        pytest.param("grpc", "", "grpc://", id="32-empty-given"),
    ],
)
def test_case_31_32_rpc_layers(own, given, prefix):
    """The given layer, else the resolver's, stands in front; an empty one given does not switch it off."""
    made = resolver(stub_pod("w-0"), stub_pod("w-1", host_ip="192.0.2.2"), rpc_layer=own)
    assert made.master("worker", 1, rpc_layer=given) == f"{prefix}192.0.2.2:8470"


@pytest.mark.parametrize(
    ("job", "index", "text"),
    [
        pytest.param("chief", 0, "No such job in cluster: 'chief'", id="34"),
        pytest.param("worker", 9, "No task with index 9 in job 'worker'", id="35"),
        pytest.param("worker", -1, "No task with index -1 in job 'worker'", id="36-negative"),
        pytest.param("worker", "0", "No task with index '0' in job 'worker'", id="36-text"),
        pytest.param("", 0, "No such job in cluster: ''", id="37"),
    ],
)
def test_case_34_to_37_no_such_task(job, index, text):
    """A task that is not there is a ValueError with TensorFlow's text."""
    with pytest.raises(ValueError, match=f"^{text}$"):
        resolver(stub_pod("w-0")).master(job, index)


def test_case_33_zero_is_known():
    """Index 0 is an index, not an absent one."""
    made = resolver(stub_pod("w-0"))
    made.task_type, made.task_id = "worker", 0
    assert made.master(task_id=0) == "grpc://192.0.2.1:8470"


def test_case_38_empty_job():
    """An empty job has no task 0."""
    with pytest.raises(ValueError, match="No task with index 0 in job 'worker'"):
        resolver().master("worker", 0)


def test_case_39_master_lists_all_jobs():
    """For one address, all jobs are listed, as in TensorFlow."""
    client = Client(by_selector={"a": [typed_pod("a-0")], "b": [typed_pod("b-0")]})
    KubernetesClusterResolver({"worker": ["a"], "ps": ["b"]}, override_client=client).master("worker", 0)
    assert client.calls == [(None, "a"), (None, "b")]


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Unknown", "running", None])
def test_case_40_phases(phase):
    """Any phase but Running is an error with pod and phase."""
    pods = [stub_pod("w-0"), stub_pod("w-1", phase), stub_pod("w-2")]
    with pytest.raises(RuntimeError, match=f'^Pod "w-1" is not running; phase: "{phase}"$'):
        resolver(*pods).cluster_spec()


def test_case_41_first_by_name_is_named_first():
    """Of several pods that do not run, the first by name is named first; the others follow."""
    with pytest.raises(RuntimeError) as caught:
        resolver(stub_pod("b-1", "Failed"), stub_pod("a-1", "Pending")).cluster_spec()
    assert str(caught.value).splitlines() == [
        'Pod "a-1" is not running; phase: "Pending"',
        'Pod "b-1" is not running; phase: "Failed"',
    ]


def test_case_43_host_network():
    """Where both addresses are equal, it is that one."""
    client = Client(typed_pod("w", "192.0.2.1", host_ip="192.0.2.1"))
    assert KubernetesClusterResolver(override_client=client).master("worker", 0) == "grpc://192.0.2.1:8470"


def literal(*pods, jobs=None, **options):
    client = Client(*pods)
    return KubernetesClusterResolver(jobs, override_client=client, literal=True, **options).cluster_spec().as_dict()


def test_case_44_literal_node_address():
    """Literally, the node's address is taken."""
    assert literal(typed_pod("w", "192.0.2.1", host_ip="198.51.100.1")) == {"worker": ["198.51.100.1:8470"]}


def test_case_46_literal_terminating():
    """Literally, a pod that is being deleted counts."""
    pods = [typed_pod("w-0", host_ip="h0"), typed_pod("w-1", host_ip="h1", deletion_timestamp="2024-01-01T00:00:00Z")]
    assert literal(*pods) == {"worker": ["h0:8470", "h1:8470"]}


def test_case_47_literal_found_twice():
    """Literally, a pod that two selectors find counts twice."""
    assert literal(typed_pod("w", host_ip="h"), jobs={"worker": ["a", "b"]}) == {"worker": ["h:8470", "h:8470"]}


def test_case_49_many_pods_in_reverse():
    """5,000 pods given in reverse come in order."""
    pods = [typed_pod(f"w-{i:04}", f"10.0.{i // 250}.{i % 250}") for i in reversed(range(5000))]
    spec = KubernetesClusterResolver(override_client=Client(*pods)).cluster_spec()
    assert spec.job_tasks("worker") == [f"10.0.{i // 250}.{i % 250}:8470" for i in range(5000)]


def test_literal_takes_anything_as_tensorflow():
    """Literally, nothing is checked: ports are pasted, a text is walked, a missing address is the word None."""
    client = Client(typed_pod("w-10", host_ip=None), typed_pod("w-2", host_ip="2001:db8::5"))
    jobs = {"worker": "ab"}
    made = KubernetesClusterResolver(jobs, 70000, override_client=client, literal=True)
    assert made.cluster_spec().job_tasks("worker") == ["None:70000", "2001:db8::5:70000"] * 2
    assert client.calls == [(None, "a"), (None, "b")]
    jobs["ps"] = [None]
    assert made.cluster_spec().jobs == ["worker", "ps"]
    assert client.calls[-1] == (None, None)


def test_literal_pod_that_does_not_run():
    """Literally, the first pod by name that does not run ends the call."""
    with pytest.raises(RuntimeError, match=r'^Pod "a" is not running; phase: "Pending"$'):
        literal(typed_pod("b", phase="Failed"), typed_pod("a", phase="Pending"))


@pytest.mark.parametrize(
    "options",
    [{"namespace": "x"}, {"address": "dns"}, {"order": "name"}, {"not_running": "skip"}, {"cluster_domain": "x"}],
)
def test_literal_refuses_what_tensorflow_has_not(options):
    """Literally, there are no further arguments, and no wait."""
    with pytest.raises(ValueError, match=next(iter(options))):
        KubernetesClusterResolver(override_client=Client(), literal=True, **options)
    with pytest.raises(ValueError, match="cannot wait"):
        KubernetesClusterResolver(override_client=Client(), literal=True).wait(1)


def test_literal_finds_no_own_task(monkeypatch):
    """Literally, the own task is the caller's business, and accelerators are those that TensorFlow sees here."""
    monkeypatch.setenv("HOSTNAME", "w-0")
    made = KubernetesClusterResolver(override_client=Client(typed_pod("w-0")), literal=True)
    made.cluster_spec()
    assert (made.task_type, made.task_id, made.master(), dict(made.num_accelerators())) == (None, None, "", {})


def test_spec_is_fresh_each_time():
    """The mapping's order is kept, and each spec is an object of its own."""
    made = KubernetesClusterResolver({"b": ["x"], "a": ["y"]}, override_client=Client())
    first = made.cluster_spec()
    first["b"][0] = "changed"
    assert made.cluster_spec() == {"b": {}, "a": {}}
    assert isinstance(first, ClusterSpec)
    assert made.cluster_spec().jobs == ["b", "a"]


def test_list_of_a_mock_client_needs_no_metadata():
    """A mock's answer, whose every attribute is true, is no endless list."""
    client = MagicMock()
    client.list_pod_for_all_namespaces.return_value = as_list([stub_pod("w")])
    assert KubernetesClusterResolver(override_client=client).cluster_spec().num_tasks("worker") == 1
    client.list_pod_for_all_namespaces.assert_called_once_with(label_selector="job-name=tensorflow")
