"""Mistakes that other resolvers made, from their public issue trackers."""

import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest

from azureml_k8s.cluster_resolver import (
    ExecutableLocation,
    KubernetesClusterResolver,
    PodCannotRunError,
    WaitTimeoutError,
)

from .helpers import Client, addresses, typed_pod, workers


class FakePackage:
    """A kubernetes package that notes which of its loaders are called."""

    def __init__(self, monkeypatch):
        self.calls = []
        package, client, config = (ModuleType(f"kubernetes{part}") for part in ("", ".client", ".config"))
        client.Configuration = SimpleNamespace
        client.ApiClient = lambda configuration: configuration
        client.ApiException = type("ApiException", (Exception,), {})
        client.CoreV1Api = lambda api_client: self
        config.ConfigException = type("ConfigException", (Exception,), {})
        config.load_incluster_config = lambda **_: self.calls.append("in-cluster")
        config.load_kube_config = lambda **_: self.calls.append("file")
        package.client, package.config = client, config
        for module in (package, client, config):
            monkeypatch.setitem(sys.modules, module.__name__, module)

    def list_pod_for_all_namespaces(self, **_):
        """Return an empty list, as the raw answer of the client."""
        self.calls.append("list")
        return SimpleNamespace(status=200, read=lambda decode_content: b'{"items":[]}', release_conn=lambda: None)


@pytest.fixture
def package(monkeypatch):
    return FakePackage(monkeypatch)


def test_only_the_in_cluster_loader(package, service_account_files):
    """tensorflow/tensorflow#70581: within the cluster, no kubeconfig is loaded, in the constructor or later."""
    made = KubernetesClusterResolver(executable_location=ExecutableLocation.WITHIN_CLUSTER)
    made.cluster_spec()
    made.cluster_spec()
    assert package.calls == ["in-cluster", "list", "list"]


@pytest.fixture
def service_account_files(monkeypatch, tmp_path):
    from azureml_k8s.cluster_resolver import connection

    for name in ("token", "ca.crt"):
        (tmp_path / name).write_text("x")
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")


def test_only_the_file_loader(package, service_account_files):
    """tensorflow/tensorflow#70581: off the cluster, the service account is not loaded."""
    made = KubernetesClusterResolver(executable_location=ExecutableLocation.OFF_CLUSTER)
    made.cluster_spec()
    made.cluster_spec()
    assert package.calls == ["file", "list", "list"]


def test_no_loader_with_a_client(package):
    """tensorflow/tensorflow#50449, pytorch/torchx#917: with the caller's client, nothing is loaded."""
    client = Client(typed_pod("w-0"))
    made = KubernetesClusterResolver(override_client=client)
    assert made.cluster_spec() == made.cluster_spec()
    assert package.calls == []
    assert len(client.calls) == 2


def test_without_the_package(monkeypatch):
    """jax-ml/jax#22302: the package's absence matters only where it is needed, and then the error says what to do."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    assert workers(typed_pod("w-0")) == ["10.0.0.1"]
    with pytest.raises(ImportError, match="pip install"):
        KubernetesClusterResolver()


def test_terminating_pods_are_left_out(caplog):
    """kubernetes-client/python#2397, akka/akka-management#126: a pod that shuts down is no member, and is logged."""
    gone = typed_pod("w-1", "10.0.0.2", deletion_timestamp="2024-01-01T00:00:00Z")
    with caplog.at_level(logging.INFO, logger="azureml_k8s"):
        assert workers(typed_pod("w-0", "10.0.0.1"), gone) == ["10.0.0.1"]
    assert "pod \"w-1\" of job 'worker' is left out: it is being deleted" in caplog.text


def test_only_terminating_pods(caplog):
    """kubernetes-client/python#849: where all are shutting down, the job is empty, with one warning."""
    with caplog.at_level(logging.WARNING, logger="azureml_k8s"):
        assert workers(typed_pod("w-0", deletion_timestamp="2024-01-01T00:00:00Z"), namespace="default") == {}
    (record,) = caplog.records
    assert "'worker'" in record.getMessage()
    assert "'job-name=tensorflow' in namespace default" in record.getMessage()


def test_pods_without_address():
    """grafana-cold-storage/metrictank#1758: no address is never the text null; all that are not ready are named."""
    pods = [typed_pod("w-0"), typed_pod("w-2", None, "Pending"), typed_pod("w-4", None, None)]
    with pytest.raises(RuntimeError) as caught:
        workers(*pods)
    assert str(caught.value).splitlines() == [
        'Pod "w-2" is not running; phase: "Pending"',
        'Pod "w-4" is not running; phase: "None"',
    ]
    for ip in (None, ""):
        with pytest.raises(RuntimeError, match='Pod "w-1" has no IP address yet'):
            workers(typed_pod("w-0"), typed_pod("w-1", ip))


def test_pod_without_status():
    """grafana-cold-storage/metrictank#1758: a pod without any status does not run."""
    bare = SimpleNamespace(metadata=SimpleNamespace(name="w-0"), status=None)
    with pytest.raises(RuntimeError, match='Pod "w-0" is not running; phase: "None"'):
        workers(bare)


EVICTED = (
    typed_pod("old-0", "10.0.0.9", "Succeeded"),
    typed_pod("w-0", "10.0.0.1"),
    typed_pod("w-1", None, "Failed", reason="Evicted"),
)


def test_evicted_pods_raise():
    """dask/dask-kubernetes#91: pods that ended are not counted silently."""
    with pytest.raises(RuntimeError, match='Pod "w-1" is not running; phase: "Failed"'):
        workers(*EVICTED)


def test_evicted_pods_are_skipped_on_request():
    """akka/akka-management#1322: on request, pods that ended are left out; Unknown still is not ready."""
    assert list(workers(*EVICTED, not_running="skip").values()) == ["10.0.0.1"]
    with pytest.raises(RuntimeError, match='Pod "w-2" is not running; phase: "Unknown"'):
        workers(*EVICTED, typed_pod("w-2", "10.0.0.3", "Unknown"), not_running="skip")


@pytest.mark.parametrize(
    ("ip", "address"),
    [
        ("fd00::1", "[fd00::1]:8470"),
        ("fe80::1%eth0", "[fe80::1%eth0]:8470"),
        ("[fd00::3]", "[fd00::3]:8470"),
        ("10.0.0.2", "10.0.0.2:8470"),
    ],
)
def test_ipv6_addresses(ip, address):
    """kubernetes-sigs/agent-sandbox#988, tailscale/tailscale#18519: IPv6 addresses get brackets, and only once."""
    client = Client(typed_pod("w-0", ip))
    assert KubernetesClusterResolver(override_client=client).master("worker", 0) == f"grpc://{address}"


def test_dual_stack():
    """kubernetes-client/python#1203: the primary address of a dual-stack pod, unless the other family is asked for."""
    pod = typed_pod("w", "10.0.0.2", pod_ips=[SimpleNamespace(ip="10.0.0.2"), SimpleNamespace(ip="fd00::2")])
    assert workers(pod) == ["10.0.0.2"]
    assert workers(pod, address="ipv6") == ["[fd00::2]"]


def test_detection_does_not_guess(monkeypatch, package):
    """jax-ml/jax#24964: half of a pod's environment is one clear error on use; what was given explicitly wins."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    made = KubernetesClusterResolver()
    with pytest.raises(RuntimeError, match=r"token and .*ca\.crt are missing.*OFF_CLUSTER"):
        made.cluster_spec()
    assert workers(typed_pod("w-0")) == ["10.0.0.1"]
    KubernetesClusterResolver(executable_location=ExecutableLocation.OFF_CLUSTER).cluster_spec()
    assert package.calls == ["file", "list"]


def test_waits_for_the_coordinator(clock):
    """jax-ml/jax#27604, pytorch/pytorch#80772: worker 1 may come up before worker 0; the wait is for both."""
    lists = {0: [], 1: [typed_pod("w-1", "10.0.0.2")], 2: [typed_pod("w-1", "10.0.0.2"), typed_pod("w-0", "10.0.0.1")]}
    client = Client()
    clock.on_sleep = lambda now_s: setattr(client, "pods", lists[min(2, int(now_s))])
    made = KubernetesClusterResolver(override_client=client, clock=clock, sleep=clock.sleep)
    assert made.wait(2, timeout=30).job_tasks("worker") == ["10.0.0.1:8470", "10.0.0.2:8470"]
    assert clock.now_s == 2


def test_selector_that_matches_nothing(clock, caplog):
    """kubeflow/trainer#1399: a selector that fits no pod is told in the time-out, and in a warning without a wait."""
    made = KubernetesClusterResolver({"w": "a=b"}, override_client=Client(), clock=clock, sleep=clock.sleep)
    with pytest.raises(WaitTimeoutError, match="no pod matches selectors 'a=b' in all namespaces"):
        made.wait(2, timeout=30)
    assert caplog.records == []
    assert made.cluster_spec() == {"w": {}}
    assert len(caplog.records) == 1


@pytest.mark.parametrize("jobs", [{"worker": []}, {}])
def test_no_selectors(jobs):
    """akka/akka-management#397: no selectors is an empty job, no mapping is the default one."""
    assert addresses(jobs=jobs) == {"worker": {}}


def test_hopeless_wait_ends(clock):
    """dask/dask-kubernetes#91: a wait does not go on for a pod that was evicted."""
    made = KubernetesClusterResolver(override_client=Client(*EVICTED[1:]), clock=clock, sleep=clock.sleep)
    with pytest.raises(PodCannotRunError, match=r"Failed \(Evicted\)"):
        made.wait(2, timeout=30)
    assert clock.now_s == 0
