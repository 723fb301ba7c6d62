"""Arguments that make no sense are refused when the resolver is made, by name."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from azureml_k8s.cluster_resolver import KubernetesClusterResolver

from .helpers import Client, typed_pod


def make(jobs=None, **options):
    return KubernetesClusterResolver(jobs, override_client=options.pop("client", Client()), **options)


@pytest.mark.parametrize("selectors", [None, 3, {"a"}, {"a": 1}, iter(["a"]), (s for s in "ab"), b"a", bytearray(b"a")])
def test_case_61_selectors_of_the_wrong_type(selectors):
    """Selectors that are no text and no list are a TypeError that names argument and job."""
    with pytest.raises(TypeError, match="job_to_label_mapping: the selectors of job 'worker' must be a list of texts"):
        make({"worker": selectors})


@pytest.mark.parametrize("selector", [None, 3, b"a", ["a"]])
def test_case_66_selector_that_is_no_text(selector):
    """A selector that is no text is a TypeError that names argument and job."""
    with pytest.raises(TypeError, match="job_to_label_mapping: job 'worker' has a selector that is no text"):
        make({"worker": ["a", selector]})


@pytest.mark.parametrize("job", [None, 3, b"worker", ("a",)])
def test_job_name_that_is_no_text(job):
    """A job's name that is no text is a TypeError."""
    with pytest.raises(TypeError, match=r"job_to_label_mapping: the job name .* is no text"):
        make({job: ["a"]})


@pytest.mark.parametrize(
    "port", [None, 0, -1, 65536, 70000, "abc", "", "22 22", "0x10", "٢٢", 1.5, 2222.0, True, [1], "9" * 5000]
)
def test_cases_67_68_ports(port):
    """A port that is none is a ValueError that names it."""
    with pytest.raises(ValueError, match="tf_server_port must be a port number from 1 to 65535, not"):
        make(tf_server_port=port)


@pytest.mark.parametrize("port", [1, 65535, "1", "65535", "02222"])
def test_ports_at_the_edges(port):
    """The lowest and highest ports are fine, as numbers and as text."""
    made = make(tf_server_port=port, client=Client(typed_pod("w")))
    assert made.master("worker", 0) == f"grpc://10.0.0.1:{int(port)}"


@pytest.mark.parametrize("argument", ["address", "order", "not_running"])
@pytest.mark.parametrize("value", ["nonsense", "", None, 3, [], "POD_IP"])
def test_unknown_modes(argument, value):
    """An unknown mode is a ValueError that names the argument and the modes."""
    with pytest.raises(ValueError, match=f"{argument} must be one of '.*', not "):
        make(**{argument: value})


@pytest.mark.parametrize(
    ("namespace", "error"),
    [
        ("", ValueError),
        ("Team A", ValueError),
        ("a/b", ValueError),
        ("../x", ValueError),
        ("x" * 64, ValueError),
        ("-a", ValueError),
        ("a\n", ValueError),
        ([], ValueError),
        ([""], ValueError),
        (3, TypeError),
        ([None], TypeError),
        (b"a", TypeError),
        ({"a": 1}, TypeError),
    ],
)
def test_namespaces(namespace, error):
    """What cannot be a namespace's name is refused, so that it cannot become another path."""
    with pytest.raises(error, match="namespace"):
        make(namespace=namespace)


@pytest.mark.parametrize("client", [object(), SimpleNamespace(list_pod_for_all_namespaces=3), 0, ""])
def test_client_without_the_method(client):
    """A client that cannot list pods is refused, with what would be right; a false one, too."""
    with pytest.raises(TypeError, match="override_client must have the method list_pod_for_all_namespaces"):
        make(client=client)


def test_client_without_namespaces():
    """Where a namespace is given, the client must be able to list it."""
    client = MagicMock(spec=["list_pod_for_all_namespaces"])
    with pytest.raises(TypeError, match="list_namespaced_pod"):
        make(client=client, namespace="a")


def test_kubernetes_module_is_no_client():
    """The module that TensorFlow's documentation names is refused; its CoreV1Api is what works."""
    module = pytest.importorskip("kubernetes.client")
    with pytest.raises(TypeError, match=r"as kubernetes\.client\.CoreV1Api\(\) has; a module has not"):
        make(client=module)


def test_empty_selectors_are_legal():
    """A job without selectors is legal, empty, and asks nothing; an empty text means every pod."""
    client = Client()
    assert make({"worker": [], "ps": [""]}, client=client).cluster_spec() == {"worker": {}, "ps": {}}
    assert client.calls == [(None, "")]


COMPUTE = SimpleNamespace(name="k8s1", namespace="team-a")


def from_compute(target, *args, **options):
    client = Client(typed_pod("w", namespace="team-a"), typed_pod("w", "10.0.0.2"))
    made = KubernetesClusterResolver.from_compute(target, *args, override_client=client, **options)
    return made, client


def test_from_compute():
    """The namespace is the compute's, or default where it has none; all other arguments are the class's."""
    made, client = from_compute(COMPUTE, {"worker": "a"}, 2222, rpc_layer="x")
    assert made.master("worker", 0) == "x://10.0.0.1:2222"
    assert client.calls == [("team-a", "a")]
    made, client = from_compute(SimpleNamespace(name="k8s1", namespace=None))
    assert made.master("worker", 0) == "grpc://10.0.0.2:8470"
    assert client.calls == [("default", "job-name=tensorflow")]


def test_compute_with_a_namespace_named_own():
    """A compute whose namespace is called "own" means that one."""
    _, client = made = from_compute(SimpleNamespace(name="k8s1", namespace="own"))
    made[0].cluster_spec()
    assert client.calls == [("own", "job-name=tensorflow")]


@pytest.mark.parametrize(
    ("jobs", "calls"),
    [
        (None, ["ml.azure.com/run-id=run_1"]),
        (
            {"worker": ["role=w", ""], "ps": "role in (p)"},
            ["role=w,ml.azure.com/run-id=run_1", "ml.azure.com/run-id=run_1", "role in (p),ml.azure.com/run-id=run_1"],
        ),
    ],
)
def test_from_compute_with_run_id(jobs, calls):
    """A run's pods are those with its label."""
    client = Client()
    client.list_namespaced_pod = MagicMock(return_value=SimpleNamespace(items=[]))
    KubernetesClusterResolver.from_compute(COMPUTE, jobs, override_client=client, run_id="run_1").cluster_spec()
    assert [call.kwargs["label_selector"] for call in client.list_namespaced_pod.call_args_list] == calls


@pytest.mark.parametrize("run_id", ["", "a,b", "a b", "-a", "x" * 64, "a\n", "ü"])
def test_run_id_that_is_no_label(run_id):
    """A run id that would change the selector is refused."""
    with pytest.raises(ValueError, match="run_id"):
        from_compute(COMPUTE, run_id=run_id)


def test_run_id_that_is_no_text():
    """A run id that is no text is a TypeError."""
    with pytest.raises(TypeError, match="run_id must be a text, not 3"):
        from_compute(COMPUTE, run_id=3)


@pytest.mark.parametrize("target", [None, "k8s1", object(), MagicMock()])
def test_target_that_is_no_compute(target):
    """What has no namespace is no attached compute."""
    with pytest.raises(TypeError, match="target must be an attached KubernetesCompute"):
        from_compute(target)


@pytest.mark.parametrize("option", ["namespace", "nonsense"])
def test_from_compute_takes_no_namespace(option):
    """The namespace cannot be given a second time."""
    with pytest.raises(TypeError, match=option):
        from_compute(COMPUTE, **{option: "x"})


def test_from_compute_is_never_literal():
    """TensorFlow's class knows no namespaces, so nothing can be literal here."""
    with pytest.raises(ValueError, match=r"literal=True .* has no argument namespace"):
        from_compute(COMPUTE, literal=True)
