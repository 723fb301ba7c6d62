"""Pods and clients for the tests: stand-ins as people write them for TensorFlow's class, typed pods, JSON pods."""

from types import SimpleNamespace
from unittest.mock import MagicMock

from azureml_k8s.cluster_resolver import KubernetesClusterResolver

INDEX = "batch.kubernetes.io/job-completion-index"


def stub_pod(name, phase="Running", host_ip="192.0.2.1"):
    """Return a mock that sets what TensorFlow's class reads, and nothing else."""
    pod = MagicMock()
    pod.metadata.name, pod.status.phase, pod.status.host_ip = name, phase, host_ip
    return pod


def stub_client(*answers):
    """Return a mock client that gives these pods, whatever it is asked; or one list for each selector of a dict."""
    client = MagicMock()
    if len(answers) == 1 and isinstance(answers[0], dict):
        by_selector = answers[0]
        client.list_pod_for_all_namespaces.side_effect = lambda label_selector: as_list(by_selector[label_selector])
    else:
        client.list_pod_for_all_namespaces.return_value = as_list(answers)
    return client


def as_list(pods):
    """Return the mock of a V1PodList."""
    answer = MagicMock()
    answer.items = list(pods)
    return answer


class Client:
    """A client of typed pods: by namespace, whatever the selector; it takes nothing but what it must."""

    def __init__(self, *pods, by_selector=None):
        self.pods, self.by_selector, self.calls = list(pods), by_selector, []

    def list_pod_for_all_namespaces(self, label_selector):
        """As CoreV1Api's."""
        self.calls.append((None, label_selector))
        pods = self.pods if self.by_selector is None else self.by_selector[label_selector]
        return SimpleNamespace(items=list(pods))

    def list_namespaced_pod(self, namespace, label_selector):
        """As CoreV1Api's."""
        self.calls.append((namespace, label_selector))
        return SimpleNamespace(items=[pod for pod in self.pods if pod.metadata.namespace == namespace])


def typed_pod(name, ip="10.0.0.1", phase="Running", *, host_ip="198.51.100.1", namespace="default", **more):
    """Return a pod with the attributes of the kubernetes package's V1Pod."""
    metadata = {"labels": None, "annotations": None, "deletion_timestamp": None, "uid": f"uid-{namespace}-{name}"}
    spec = {"hostname": None, "subdomain": None, "containers": []}
    status = {"pod_ips": None, "reason": None, "conditions": None, "container_statuses": None}
    for part in (metadata, spec, status):
        part |= {key: more.pop(key) for key in list(more) if key in part}
    assert not more, f"no such fields: {more}"
    return SimpleNamespace(
        metadata=SimpleNamespace(name=name, namespace=namespace, **metadata),
        spec=SimpleNamespace(**spec),
        status=SimpleNamespace(phase=phase, pod_ip=ip, host_ip=host_ip, **status),
    )


def json_pod(name, ip="10.0.0.1", phase="Running", *, namespace="default", labels=None, metadata=None, **status):
    """Return a pod as the API server sends it; `labels` default to the resolver's default selector."""
    addresses = {"podIP": ip, "podIPs": [{"ip": ip}]} if ip else {}
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "labels": {"job-name": "tensorflow"} if labels is None else labels,
            **(metadata or {}),
        },
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": phase, "hostIP": "198.51.100.1", **addresses, **status},
    }


def addresses(*pods, jobs=None, **options):
    """Return {job: tasks} of a resolver with a client that has these pods."""
    return KubernetesClusterResolver(jobs, override_client=Client(*pods), **options).cluster_spec().as_dict()


def workers(*pods, **options):
    """Return the addresses of the job `worker`, without the port."""
    tasks = addresses(*pods, **options)["worker"]
    if isinstance(tasks, dict):
        return {index: address.removesuffix(":8470") for index, address in tasks.items()}
    return [address.removesuffix(":8470") for address in tasks]


class Clock:
    """Time that passes only when somebody sleeps; `on_sleep` is called with the time that it is then."""

    def __init__(self):
        self.now_s, self.naps_s, self.on_sleep = 0.0, [], None

    def __call__(self):
        return self.now_s

    def sleep(self, nap_s):
        """Let time pass."""
        self.naps_s.append(nap_s)
        self.now_s += nap_s
        if self.on_sleep:
            self.on_sleep(self.now_s)
