"""Where TensorFlow's class is wrong and this one is not; the numbers are those of the list of cases."""

import logging
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from azureml_k8s.cluster_resolver import KubernetesClusterResolver

from .helpers import INDEX, Client, addresses, typed_pod, workers


def test_case_50_pod_address():
    """The pod's address is taken, not its node's."""
    assert workers(typed_pod("w", "192.0.2.1", host_ip="198.51.100.1")) == ["192.0.2.1"]


@pytest.mark.parametrize("number", [3, 12], ids=["51-few", "51-many"])
def test_case_51_trailing_numbers_order(number):
    """Names that differ only in a trailing number are in the order of the numbers, and need not start at 0."""
    pods = [typed_pod(f"worker-{i}", f"10.0.0.{i}") for i in range(1, number + 1)]
    assert workers(*reversed(pods)) == [f"10.0.0.{i}" for i in range(1, number + 1)]


def indexed(i, suffix, **more):
    return typed_pod(f"train-{i}-{suffix}", f"10.0.0.{i}", labels={INDEX: str(i)}, **more)


def test_case_52_index_labels():
    """Index labels set the index, whatever the random end of the name."""
    pods = [indexed(i, "zx1" if i % 2 else "u1u") for i in range(11)]
    assert workers(*sorted(pods, key=lambda pod: pod.metadata.name)) == [f"10.0.0.{i}" for i in range(11)]


@pytest.mark.parametrize(
    "label", [INDEX, "training.kubeflow.org/replica-index", "tf-replica-index", "apps.kubernetes.io/pod-index"]
)
@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_case_53_other_index_keys(label, where):
    """The index may come from any of the known labels, or from an annotation of the same name."""
    pods = [typed_pod(f"p-{name}", f"10.0.0.{i}", **{where: {label: str(i)}}) for i, name in enumerate("cba")]
    assert workers(*pods) == ["10.0.0.0", "10.0.0.1", "10.0.0.2"]


@pytest.mark.parametrize("value", ["", "x", "-1", "1.0", "01e3", "٣", "99999999999", None, 2])
def test_case_54_useless_index(value):
    """An index that is no number, or out of range, is not trusted: then names order the pods."""
    pods = [typed_pod("w-1", "10.0.0.1", labels={INDEX: value}), typed_pod("w-0", "10.0.0.2", labels={INDEX: "5"})]
    assert workers(*pods) == ["10.0.0.2", "10.0.0.1"]


def test_case_55_clashing_labels():
    """Where two pods have the same index, the whole job is in the text order of the names; or raises, if asked to."""
    pods = [typed_pod(f"w-{i}", f"10.0.0.{i}", labels={INDEX: str(label)}) for i, label in [(10, 1), (2, 0), (1, 0)]]
    assert workers(*pods) == ["10.0.0.1", "10.0.0.10", "10.0.0.2"]
    with pytest.raises(RuntimeError, match=r'Pods "w-1" and "w-2" have the same index 0|"w-2" and "w-1"'):
        workers(*pods, order="index")


def test_case_56_replacement():
    """A pod that is being deleted does not stand in the way of its replacement."""
    leaving = indexed(0, "old", deletion_timestamp=datetime.now(UTC))
    replacement = typed_pod("train-0-new", "10.0.0.99", labels={INDEX: "0"})
    assert workers(leaving, replacement, indexed(1, "x")) == ["10.0.0.99", "10.0.0.1"]


@pytest.mark.parametrize("ip", [None, ""])
def test_case_57_no_address_yet(ip):
    """A running pod without an address is an error, never the text None or an empty host."""
    with pytest.raises(RuntimeError, match=r'^Pod "w-1" has no IP address yet$'):
        workers(typed_pod("w-0"), typed_pod("w-1", ip))


def test_case_58_ipv6():
    """An IPv6 address gets its brackets."""
    assert addresses(typed_pod("w", "2001:db8::5")) == {"worker": ["[2001:db8::5]:8470"]}


def test_case_59_dual_stack():
    """Of a dual-stack pod the primary address is taken, or that of the family asked for."""
    ips = [SimpleNamespace(ip="192.0.2.5"), SimpleNamespace(ip="2001:db8::5")]
    pod = typed_pod("w", "192.0.2.5", pod_ips=ips)
    assert workers(pod) == workers(pod, address="ipv4") == ["192.0.2.5"]
    assert workers(pod, address="ipv6") == ["[2001:db8::5]"]
    odd = typed_pod("w", "192.0.2.5", pod_ips=[SimpleNamespace(ip="odd"), SimpleNamespace(ip="192.0.2.6")])
    assert workers(odd, address="ipv4") == ["192.0.2.6"]
    with pytest.raises(RuntimeError, match=r'Pod "w" has no IPv6 address; it has 192\.0\.2\.5'):
        workers(typed_pod("w", "192.0.2.5"), address="ipv6")


def test_case_60_selector_as_one_text():
    """A selector given as one text is one selector."""
    client = Client()
    KubernetesClusterResolver({"worker": "job-name=w"}, override_client=client).cluster_spec()
    assert client.calls == [(None, "job-name=w")]


def test_case_62_overlapping_selectors():
    """A pod that two selectors of a job find counts once, where the first finds it."""
    both, other = typed_pod("b", "10.0.0.2"), typed_pod("a", "10.0.0.1")
    client = Client(by_selector={"x": [both], "y": [other, both]})
    spec = KubernetesClusterResolver({"worker": ["x", "y"]}, override_client=client).cluster_spec()
    assert spec.job_tasks("worker") == ["10.0.0.2:8470", "10.0.0.1:8470"]


def test_case_63_equal_names_in_two_namespaces():
    """Equal names are in the order of their namespaces, whatever the server's."""
    pods = [typed_pod("w-0", f"10.0.0.{i}", namespace=name) for i, name in enumerate(("b", "a"))]
    assert workers(*pods) == workers(*reversed(pods)) == ["10.0.0.1", "10.0.0.0"]


def test_case_64_client_that_is_false():
    """A client is used though it is false."""

    class Falsy(Client):
        def __bool__(self):
            return False

    spec = KubernetesClusterResolver(override_client=Falsy(typed_pod("w"))).cluster_spec()
    assert spec.as_dict() == {"worker": ["10.0.0.1:8470"]}


def test_case_65_mapping_is_copied():
    """What the caller does to the mapping later is not seen."""
    jobs = {"worker": ["a"]}
    client = Client()
    made = KubernetesClusterResolver(jobs, override_client=client)
    jobs["ps"] = ["b"]
    jobs["worker"].append("c")
    assert made.cluster_spec().jobs == ["worker"]
    assert client.calls == [(None, "a")]


def test_pod_of_two_jobs():
    """A pod that two jobs find is an error that names all three."""
    with pytest.raises(RuntimeError, match="Pod \"w\" matches selectors of two jobs, 'worker' and 'ps'"):
        addresses(typed_pod("w"), jobs={"worker": ["a"], "ps": ["b"]})


def test_case_70_namespace():
    """A namespace is one namespaced request."""
    client = Client(typed_pod("w", "10.0.0.1", namespace="team-a"), typed_pod("w", "10.0.0.2", namespace="team-b"))
    made = KubernetesClusterResolver(override_client=client, namespace="team-a")
    assert made.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
    assert client.calls == [("team-a", "job-name=tensorflow")]


def test_several_namespaces():
    """Several namespaces are asked in turn, each once, and make one order."""
    client = Client(*[typed_pod(f"w-{i}", f"10.0.0.{i}", namespace="ab"[i % 2]) for i in range(4)])
    made = KubernetesClusterResolver(override_client=client, namespace=["b", "a", "b"])
    assert made.cluster_spec().job_tasks("worker") == [f"10.0.0.{i}:8470" for i in range(4)]
    assert [namespace for namespace, _ in client.calls] == ["b", "a"]


def test_case_71_skip_keeps_indices():
    """Leaving out a pod that failed leaves a gap, by labels and by names alike."""
    by_label = [indexed(i, "x", phase="Failed" if i == 1 else "Running") for i in range(3)]
    assert workers(*by_label, not_running="skip") == {0: "10.0.0.0", 2: "10.0.0.2"}
    by_name = [typed_pod(f"w-{i}", f"10.0.0.{i}", "Succeeded" if i == 1 else "Running") for i in range(3)]
    assert workers(*by_name, not_running="skip") == {0: "10.0.0.0", 2: "10.0.0.2"}


def test_skip_prefers_the_replacement():
    """A failed pod that is kept beside its replacement with the same index is no clash."""
    pods = [indexed(0, "a", phase="Failed"), typed_pod("train-0-b", "10.0.0.9", labels={INDEX: "0"}), indexed(1, "c")]
    assert workers(*pods, not_running="skip") == ["10.0.0.9", "10.0.0.1"]


@pytest.mark.parametrize("phase", ["Pending", "Unknown", None])
def test_skip_is_for_pods_that_ended(phase):
    """Pods that may yet run, or of which nobody knows, are not skipped."""
    with pytest.raises(RuntimeError, match=f'Pod "w-1" is not running; phase: "{phase}"'):
        workers(typed_pod("w-0", phase="Succeeded"), typed_pod("w-1", phase=phase), not_running="skip")


def test_node_address_on_request():
    """The node's address is there for pods in the host's network."""
    assert workers(typed_pod("w", host_ip="198.51.100.7"), address="host_ip") == ["198.51.100.7"]
    with pytest.raises(RuntimeError, match='Pod "w" has no host IP address yet'):
        workers(typed_pod("w", host_ip=None), address="host_ip")


def test_dns_names():
    """A headless service's names are made of host name, subdomain and namespace, and the domain if given."""
    pod = typed_pod("w", hostname="train-0", subdomain="train", namespace="team-a")
    assert workers(pod, address="dns") == ["train-0.train.team-a.svc"]
    assert workers(pod, address="dns", cluster_domain="cluster.local") == ["train-0.train.team-a.svc.cluster.local"]


@pytest.mark.parametrize(("missing", "given"), [("hostname", "subdomain"), ("subdomain", "hostname")])
def test_dns_name_missing(missing, given):
    """A pod without host name or subdomain has no DNS name, and the error says which is missing."""
    with pytest.raises(RuntimeError, match=f'Pod "w" has no DNS name: its {missing} is not set'):
        workers(typed_pod("w", **{given: "x"}), address="dns")
    with pytest.raises(RuntimeError, match="its hostname and subdomain are not set"):
        workers(typed_pod("w"), address="dns")


def test_address_by_function():
    """A function may make the whole address of what is known of a pod."""
    assert workers(typed_pod("w-0"), address=lambda pod: f"{pod.name}.example:1") == ["w-0.example:1"]
    with pytest.raises(TypeError, match='returned None for pod "w-0"'):
        workers(typed_pod("w-0"), address=lambda pod: None)


def test_order_by_name_on_request():
    """TensorFlow's order can be asked for."""
    pods = [typed_pod(f"w-{i}", f"10.0.0.{i}", labels={INDEX: str(i)}) for i in (2, 10)]
    assert workers(*pods, order="name") == ["10.0.0.10", "10.0.0.2"]


def test_order_by_index_needs_labels():
    """Where labels are asked for, a pod without one is an error."""
    with pytest.raises(RuntimeError, match='Pod "w-0" has no usable index'):
        workers(typed_pod("w-0"), order="index")
    assert workers(indexed(3, "x"), order="index") == {3: "10.0.0.3"}


def jobset(job, index, ip, **more):
    labels = {"jobset.sigs.k8s.io/job-index": str(job), INDEX: str(index)}
    return typed_pod(f"set-w-{job}-{index}-x", ip, labels=labels, **more)


def test_jobset():
    """In a JobSet the child job comes first, then the index in it."""
    pods = [jobset(j, i, f"10.0.{j}.{i}") for j in (10, 2) for i in (1, 0)]
    assert workers(*pods) == ["10.0.2.0", "10.0.2.1", "10.0.10.0", "10.0.10.1"]


def test_jobset_of_one_job():
    """With one child job, its indices count as they are."""
    assert workers(jobset(0, 2, "10.0.0.2"), jobset(0, 0, "10.0.0.0")) == {0: "10.0.0.0", 2: "10.0.0.2"}


def test_jobset_replacement():
    """The place of a failed pod in a JobSet goes to its replacement."""
    failed = jobset(0, 0, "10.9.9.9", phase="Failed", uid="old")
    pods = [failed, jobset(0, 0, "10.0.0.0"), jobset(1, 0, "10.0.1.0")]
    assert workers(*pods, not_running="skip") == ["10.0.0.0", "10.0.1.0"]


def test_jobset_with_clashing_places():
    """Two live pods in the same place of a JobSet: the names decide, then the uids, whatever the server's order."""
    twin = jobset(1, 0, "10.0.1.9", uid="other")
    pods = [jobset(0, 0, "10.0.0.0"), jobset(1, 0, "10.0.1.0"), twin]
    assert workers(*pods) == workers(*reversed(pods)) == ["10.0.0.0", "10.0.1.9", "10.0.1.0"]


def test_empty_match_warns_once(caplog):
    """A job without pods is empty, and one warning tells job, selector and namespace."""
    with caplog.at_level(logging.WARNING, logger="azureml_k8s"):
        assert addresses(jobs={"worker": ["job-name=w"], "ps": []}, namespace="team-a") == {"worker": {}, "ps": {}}
    (record,) = caplog.records
    assert (
        record.getMessage()
        == "job 'worker' has no task: no running pod matches selectors 'job-name=w' in namespace team-a"
    )


def test_accelerators_of_a_task():
    """Accelerators come from the limits of the pod of the task that is meant, under TensorFlow's keys."""

    def container(**limits):
        return SimpleNamespace(resources=SimpleNamespace(limits={k.replace("__", "/"): v for k, v in limits.items()}))

    gpus = [
        container(**{"nvidia.com/gpu": "2", "cpu": "4"}),
        container(**{"amd.com/gpu": 1}),
        SimpleNamespace(resources=None),
    ]
    slices = [container(**{"nvidia.com/mig-1g.5gb": "3", "google.com/tpu": "4", "nvidia.com/gpu": "many"})]
    client = Client(typed_pod("w-0", containers=gpus), typed_pod("w-1", containers=slices), typed_pod("w-2"))
    made = KubernetesClusterResolver(override_client=client)
    assert made.num_accelerators() == {}
    assert client.calls == []
    assert made.num_accelerators("worker", 0) == {"GPU": 3}
    made.task_type, made.task_id = "worker", 1
    assert made.num_accelerators() == {"GPU": 3, "TPU": 4}
    assert made.num_accelerators(task_id=2)["GPU"] == 0
    with pytest.raises(ValueError, match="No task with index 9"):
        made.num_accelerators("worker", 9)


def test_config_proto_is_ignored_and_says_so(caplog):
    """A session's configuration has no effect, which is logged."""
    made = KubernetesClusterResolver(override_client=Client())
    with caplog.at_level(logging.INFO, logger="azureml_k8s"):
        assert made.num_accelerators(config_proto=object()) == {}
    assert "ignores config_proto" in caplog.text


def test_jobset_with_two_ended_pods_in_one_place():
    """Of two pods that ended in one place of a JobSet, the server's order does not decide which counts."""
    ended = [jobset(0, 0, None, phase="Failed", uid=uid) for uid in "ab"]
    live = [jobset(1, 0, "10.0.1.0"), jobset(2, 0, "10.0.2.0")]
    expected = {1: "10.0.1.0", 2: "10.0.2.0"}
    assert workers(*ended, *live, not_running="skip") == workers(*live, *ended[::-1], not_running="skip") == expected
