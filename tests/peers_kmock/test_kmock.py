"""The resolver against kmock, an independent mock of the Kubernetes API."""

import asyncio
import json
import threading

import pytest

kmock = pytest.importorskip("kmock")

from azureml_k8s.cluster_resolver import (  # noqa: E402 - only with kmock
    KubernetesApiError,
    KubernetesClusterResolver,
    WaitTimeoutError,
)


def pod(i, job="t", phase="Running"):
    ip = {"podIP": f"192.0.2.{i}"} if phase == "Running" else {}
    metadata = {"name": f"w-{i}", "namespace": "default", "uid": f"uid-{i}", "labels": {"job-name": job}}
    return {"metadata": metadata, "status": {"phase": phase, **ip}}


class Server:
    """kmock in a thread; `pods` are what lists have, kmock itself does neither selectors nor pages."""

    def __init__(self):
        self.pods, self.lists = [], []
        self.up = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()))
        self.thread.start()
        assert self.up.wait(30)

    def list(self, request):
        """Answer a list with selectors and pages."""
        query = request.params
        self.lists.append(dict(query))
        key, _, value = query.get("labelSelector", "").partition("=")
        hits = [pod for pod in self.pods if not key or pod["metadata"]["labels"].get(key) == value]
        at = int(query.get("continue") or 0)
        end = at + int(query.get("limit") or len(hits))
        metadata = {"resourceVersion": "9", "continue": str(end) if end < len(hits) else ""}
        return {"kind": "PodList", "apiVersion": "v1", "items": hits[at:end], "metadata": metadata}

    async def serve(self):
        """Serve until stopped."""
        async with kmock.KubernetesEmulator() as k, kmock.Server(k, host="127.0.0.1", port=0):
            (k.fallback**1)[kmock.action.LIST, kmock.resource("v1/pods")] << self.list
            self.kmock, self.url = k, str(k.url).rstrip("/")
            self.loop, self.stopped = asyncio.get_running_loop(), asyncio.Event()
            self.up.set()
            await self.stopped.wait()

    def stop(self):
        """End the thread."""
        self.loop.call_soon_threadsafe(self.stopped.set)
        self.thread.join()


@pytest.fixture
def server(monkeypatch, tmp_path):
    server = Server()
    config = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    for name in ("KUBERNETES_SERVICE_HOST", "HOSTNAME"):
        monkeypatch.delenv(name, raising=False)
    yield server
    server.stop()


def resolver(on_sleep=lambda: None, **options):
    naps = []

    def sleep(nap_s):
        naps.append(nap_s)
        on_sleep()

    made = KubernetesClusterResolver({"worker": "job-name=t"}, clock=lambda: sum(naps), sleep=sleep, **options)
    return made, naps


def test_pages_and_selectors(server):
    """1,200 pods in three pages, others left out."""
    server.pods = [pod(i, "t" if i % 5 else "u") for i in range(1500)]
    made, _ = resolver()
    assert made.cluster_spec().num_tasks("worker") == 1200
    assert [(query["limit"], query.get("continue")) for query in server.lists] == [
        ("500", None),
        ("500", "500"),
        ("500", "1000"),
    ]


@pytest.mark.parametrize("status", [403, 404, 400])
def test_refusals(server, status):
    """An error's status and text are told."""
    server.kmock["get /api/v1/namespaces/denied/pods"] << status << {"kind": "Status", "message": "kmock says no"}
    made, naps = resolver(namespace="denied")
    with pytest.raises(KubernetesApiError, match=f"HTTP {status}: kmock says no") as caught:
        made.cluster_spec()
    assert (caught.value.status, naps) == (status, [])


@pytest.mark.parametrize("status", [429, 503])
def test_repeats(server, status):
    """Busy servers are asked again."""
    server.pods = [pod(1)]
    (server.kmock["get /api/v1/pods"] ** 9)[:2] << status
    made, naps = resolver()
    assert made.cluster_spec().as_dict() == {"worker": ["192.0.2.1:8470"]}
    assert len(naps) == 2


def test_watch_of_scripted_events(server):
    """A watch's stream of events, a bookmark and an ERROR 410 among them, is read line by line."""
    server.pods = [pod(1), pod(2, phase="Pending")]
    events = (
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "10"}}},
        {"type": "MODIFIED", "object": pod(2)},
        {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}},
    )
    server.kmock[kmock.action.WATCH, kmock.resource("v1/pods")] << events
    made, naps = resolver()
    with pytest.raises(WaitTimeoutError, match="ready: w-1; not ready: w-2"):
        made.wait(2, timeout=2)
    assert made.wait(1, timeout=0).as_dict() == {"worker": ["192.0.2.1:8470"]}
    assert naps == [1.0, 1.0]


def test_forbidden_watch(server):
    """Where watching is forbidden, the wait lists until the pods are there."""
    server.pods = [pod(1)]
    server.kmock[kmock.action.WATCH, kmock.resource("v1/pods")] << 403
    made, naps = resolver(on_sleep=lambda: server.pods.append(pod(len(server.pods) + 1)))
    assert made.wait(3, timeout=60).num_tasks("worker") == 3
    assert naps == [1.0, 1.0]
