"""Time and memory of listing 5,000 pods, against the official client and against a floor.

    python benchmarks/pods.py [--pods 5000] [--rounds 3]

Each way runs in a process of its own, against a server in another one that sends prepared pages of pods of 6 kB each
over loopback HTTP. The floor is the standard library: http.client and json, pages of 500, four fields read. Time counts
from the first request to the result, after imports; the peak is the process's, imports included.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SELECTOR = "job-name=tensorflow"
PAGE_SIZE = 500


def pod(i: int) -> dict[str, object]:
    """Return a pod as an API server sends it, 6 kB long; most of it is what a resolver does not need."""
    field: dict[str, object] = {f"f:field-{n}": {".": {}, "f:value": {}, "f:other": {}} for n in range(60)}
    container = {
        "name": "main",
        "image": "registry.example/team/training:2024-01-01",
        "command": ["python", "-m", "train", "--epochs", "10", "--data", "/mnt/data"],
        "env": [{"name": f"VARIABLE_{n}", "value": f"value-{n}" * 3} for n in range(25)],
        "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": f"volume-{n}", "mountPath": f"/mnt/volume-{n}"} for n in range(8)],
    }
    return {
        "metadata": {
            "name": f"worker-{i}",
            "namespace": "default",
            "uid": f"00000000-0000-0000-0000-{i:012}",
            "resourceVersion": str(1000 + i),
            "labels": {"job-name": "tensorflow", "app": "training", "batch.kubernetes.io/job-completion-index": str(i)},
            "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": field}}],
        },
        "spec": {
            "containers": [container],
            "nodeName": f"node-{i % 100}",
            "tolerations": [{"key": f"key-{n}", "operator": "Exists", "effect": "NoSchedule"} for n in range(6)],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.{i // 65536}.{i // 256 % 256}.{i % 256}",
            "podIPs": [{"ip": f"10.{i // 65536}.{i // 256 % 256}.{i % 256}"}],
            "hostIP": f"192.0.2.{i % 100}",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "name": "main",
                    "image": "registry.example/team/training:2024-01-01",
                    "imageID": "",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": "2024-01-01T00:00:00Z"}},
                }
            ],
        },
    }


def body(items: list[str], token: str | None) -> bytes:
    """Return a PodList."""
    metadata = json.dumps({"resourceVersion": "9"} | ({"continue": token} if token else {}))
    return f'{{"kind":"PodList","apiVersion":"v1","metadata":{metadata},"items":[{",".join(items)}]}}'.encode()


def serve(number: int, port: "multiprocessing.Queue[tuple[int, int]]") -> None:
    """Serve all pods at once, or page by page."""
    items = [json.dumps(pod(i), separators=(",", ":")) for i in range(number)]
    starts = range(0, number, PAGE_SIZE)
    pages = {
        str(at): body(items[at : at + PAGE_SIZE], str(at + PAGE_SIZE) if at + PAGE_SIZE < number else None)
        for at in starts
    }
    whole = body(items, None)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            data = pages[query.get("continue", ["0"])[0]] if "limit" in query else whole
            if query.get("labelSelector") != [SELECTOR]:
                data = body([], None)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(data), 65536):
                chunk = data[at : at + 65536]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.put((server.server_address[1], len(items[-1])))
    server.serve_forever()


class Timer:
    """Wall-clock and processor seconds since it was made."""

    def __init__(self) -> None:
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def stop(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self.wall, time.process_time() - self.processor


Result = tuple[tuple[float, float], int]


def floor(url: str) -> Result:
    """List in pages with the standard library."""
    timer = Timer()
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    found, token = [], ""
    while True:
        connection.request("GET", f"/api/v1/pods?labelSelector=job-name%3Dtensorflow&limit={PAGE_SIZE}{token}")
        page = json.loads(connection.getresponse().read())
        found += [
            (item["metadata"]["name"], item["metadata"]["labels"], item["status"]["phase"], item["status"]["podIP"])
            for item in page["items"]
        ]
        if "continue" not in page["metadata"]:
            break
        token = f"&continue={page['metadata']['continue']}"
    return timer.stop(), len(found)


def resolver(url: str) -> Result:
    """Use KubernetesClusterResolver.cluster_spec()."""
    from azureml_k8s.cluster_resolver import KubernetesClusterResolver

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(
            {
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": url}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            },
            file,
        )
        file.flush()
        os.environ["KUBECONFIG"] = file.name
        KubernetesClusterResolver({"nobody": "nobody"}).cluster_spec()  # the package imports at the first request
        made = KubernetesClusterResolver()
        timer = Timer()
        spec = made.cluster_spec()
        return timer.stop(), spec.num_tasks("worker")


def official(url: str, **options: Any) -> Result:
    """Use the official client, with all pods in one answer."""
    import kubernetes.client

    configuration = kubernetes.client.Configuration()
    configuration.host = url
    api = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(configuration))
    api.list_pod_for_all_namespaces(label_selector="nobody")  # the package imports at the first request
    timer = Timer()
    answer: Any = api.list_pod_for_all_namespaces(label_selector=SELECTOR, **options)
    items = answer.items if not options else json.loads(answer.data)["items"]
    return timer.stop(), len(items)


WAYS: dict[str, Callable[[str], Result]] = {
    "floor": floor,
    "resolver": resolver,
    "official, raw": lambda url: official(url, _preload_content=False),
    "official, typed": official,
}


def peak_mb() -> float:
    """Return the peak of this process's memory since its start; ru_maxrss would include the parent's."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def measure(way: str, url: str) -> list[float]:
    """Run one way in a process of its own; return seconds, processor seconds and peak MB."""
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, "--url", url], stdout=subprocess.PIPE, text=True, check=True
    )
    return [float(figure) for figure in done.stdout.split()]


def main() -> None:
    """Print a table; or, with --way, run one way and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--url")
    asked = parser.parse_args()
    if asked.way:
        seconds, number = WAYS[asked.way](asked.url)
        if not number:
            raise SystemExit("no pods")
        print(*seconds, peak_mb())
        return
    compare(asked.pods, asked.rounds)


def compare(number: int, rounds_asked: int) -> None:
    """Print a table of all ways."""
    port: multiprocessing.Queue[tuple[int, int]] = multiprocessing.Queue()
    process = multiprocessing.Process(target=serve, args=(number, port), daemon=True)
    process.start()
    at, size = port.get(timeout=120)
    url = f"http://127.0.0.1:{at}"
    print(f"{number} pods of {size / 1000:.1f} kB, Python {sys.version.split()[0]}, median of {rounds_asked}")
    print(f"{'':18}{'seconds':>9}{'x floor':>9}{'CPU s':>9}{'x floor':>9}{'peak MB':>9}")
    # In turns, so that other work on the machine hits all ways alike.
    rounds = [{way: measure(way, url) for way in WAYS} for _ in range(rounds_asked)]
    medians = {way: [statistics.median(figures[way][i] for figures in rounds) for i in range(3)] for way in WAYS}
    for way, (wall_s, processor_s, megabytes) in medians.items():
        ratio, processor_ratio = wall_s / medians["floor"][0], processor_s / medians["floor"][1]
        print(f"{way:18}{wall_s:9.2f}{ratio:9.2f}{processor_s:9.2f}{processor_ratio:9.2f}{megabytes:9.0f}")
    process.terminate()
    process.join()


if __name__ == "__main__":
    main()
