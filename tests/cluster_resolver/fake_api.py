"""An API server for pods: what a kube-apiserver 1.20.2 was seen to do, over real HTTP, from the standard library.

It lists in key order, pages with tokens that can expire, filters by label and field selectors, watches from a version,
knows tokens and what they may do, and answers errors as Status objects. A script can answer in its place.
"""

import base64
import json
import ssl
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from .fake_selectors import BadSelector, parse_fields, parse_labels


@dataclass
class Seen:
    """One request; the names of its headers in lower case."""

    path: str
    query: dict
    headers: dict


@dataclass
class Answer:
    """What is sent back: a status, a body (text as it is, else JSON), headers; cut=N breaks off after N bytes."""

    status: int
    body: object = None
    headers: dict = field(default_factory=dict)
    cut: int | None = None


def status_answer(code, reason, message, *, headers=None, **metadata):
    """Return an error as the API server words it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return Answer(code, body | {"message": message, "metadata": metadata}, headers or {})


class FakeApi:
    """The cluster behind the server."""

    def __init__(self):
        self.changed = threading.Condition()
        self.pods = {}
        self.history = []
        self.version = 100
        self.oldest = 100
        self.seen = []
        self.script = deque()
        self.users = {"good-token": "alice"}
        self.forbidden = set()
        self.expiring_tokens = 0
        self.bookmarks = False
        self.longest_watch_s = 5.0
        self.on_watch = None

    def put(self, *pods):
        """Create or replace pods."""
        with self.changed:
            for pod in pods:
                self.version += 1
                pod = json.loads(json.dumps(pod))
                metadata = pod["metadata"]
                metadata.setdefault("namespace", "default")
                metadata["resourceVersion"] = str(self.version)
                key = (metadata["namespace"], metadata["name"])
                metadata.setdefault("uid", f"uid-{key[0]}-{key[1]}")
                self.history.append((self.version, "MODIFIED" if key in self.pods else "ADDED", pod))
                self.pods[key] = pod
            self.changed.notify_all()

    def delete(self, name, namespace="default"):
        """Remove a pod."""
        with self.changed:
            self.version += 1
            self.history.append((self.version, "DELETED", self.pods.pop((namespace, name))))
            self.changed.notify_all()

    def compact(self):
        """Forget all history, so that watches from before are refused."""
        self.oldest, self.history = self.version + 1, []
        self.version += 1

    def matching(self, namespace, query):
        """Return the pods that a request asks for, in key order."""
        fits_labels, fits_fields = parse_labels(query.get("labelSelector")), parse_fields(query.get("fieldSelector"))
        return [
            pod
            for (where, _), pod in sorted(self.pods.items())
            if namespace in (None, where) and fits_labels(pod["metadata"].get("labels") or {}) and fits_fields(pod)
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    @property
    def api(self):
        return self.server.api

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        self.api.seen.append(Seen(url.path, query, {name.lower(): value for name, value in self.headers.items()}))
        with suppress(BrokenPipeError, ConnectionResetError):
            if query.get("watch") in ("true", "True") and not self.api.script:
                self._watch(url.path, query)
            else:
                scripted = self.api.script.popleft() if self.api.script else None
                answer = scripted(self) if callable(scripted) else scripted
                self._send(answer or self._answer(url.path, query))

    def _answer(self, path, query):
        namespace, refusal = self._authorized(path, "list")
        if refusal:
            return refusal
        try:
            return self._list(namespace, query)
        except BadSelector as error:
            return status_answer(400, "BadRequest", str(error))

    def _authorized(self, path, verb):
        parts = path.strip("/").split("/")
        if parts == ["api", "v1", "pods"]:
            namespace = None
        elif parts[:3] == ["api", "v1", "namespaces"] and parts[4:] == ["pods"]:
            namespace = parts[3]
        else:
            return None, Answer(404, "404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        user = self.api.users.get(token) if kind.lower() == "bearer" else "system:anonymous"
        if user is None:
            return None, status_answer(401, "Unauthorized", "Unauthorized")
        if user == "system:anonymous" or (verb, namespace) in self.api.forbidden:
            where = "at the cluster scope" if namespace is None else f'in the namespace "{namespace}"'
            text = f'pods is forbidden: User "{user}" cannot {verb} resource "pods" in API group "" {where}'
            return None, status_answer(403, "Forbidden", text)
        return namespace, None

    def _list(self, namespace, query):
        api = self.api
        asked = int(query.get("resourceVersion") or 0)
        if asked > api.version:
            text = f"Too large resource version: {asked}, current: {api.version}"
            return status_answer(504, "Timeout", text, headers={"Retry-After": "1"})
        start, version = 0, api.version
        if token := query.get("continue"):
            try:
                place = json.loads(base64.b64decode(token, validate=True))
                start, version = place["start"], place["rv"]
            except ValueError:
                return status_answer(400, "BadRequest", "continue key is not valid")
            if api.expiring_tokens > 0:
                api.expiring_tokens -= 1
                text = "The provided continue parameter is too old to display a consistent list result."
                return status_answer(410, "Expired", text, **{"continue": _token(start, api.version)})
        pods = api.matching(namespace, query)
        end = min(len(pods), start + int(query.get("limit") or len(pods)))
        metadata = {"resourceVersion": str(version)}
        if end < len(pods):
            metadata["continue"] = _token(end, version)
            if not query.get("labelSelector") and not query.get("fieldSelector"):
                metadata["remainingItemCount"] = len(pods) - end
        return Answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": pods[start:end]})

    def _send(self, answer):
        is_text = isinstance(answer.body, (str, bytes))
        body = answer.body if is_text else json.dumps(answer.body, separators=(",", ":"))
        body = body.encode() if isinstance(body, str) else body
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json"} | answer.headers
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if answer.cut is not None:
            self._chunk(body[: answer.cut])
            self.close_connection = True
            return
        for at in range(0, len(body), 65536):
            self._chunk(body[at : at + 65536])
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _watch(self, path, query):
        api = self.api
        namespace, refusal = self._authorized(path, "watch")
        if refusal:
            self._send(refusal)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        version = int(query.get("resourceVersion") or 0)
        if version and version < api.oldest:
            gone = status_answer(410, "Expired", f"too old resource version: {version} ({api.oldest})").body
            self._event("ERROR", gone)
        else:
            self._stream(namespace, query, version, min(float(query["timeoutSeconds"]), api.longest_watch_s))
        self.wfile.write(b"0\r\n\r\n")

    def _stream(self, namespace, query, version, duration_s):
        api = self.api
        if not version:  # from nothing: what is there, in no particular order
            for pod in reversed(api.matching(namespace, query)):
                self._event("ADDED", pod)
            version = api.version
        if api.on_watch:
            threading.Thread(target=api.on_watch).start()
        if api.bookmarks and query.get("allowWatchBookmarks"):
            bookmark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}}
            self._event("BOOKMARK", bookmark)
        fits = parse_labels(query.get("labelSelector"))
        while True:
            with api.changed:
                fresh = [entry for entry in api.history if entry[0] > version]
                if not fresh and not api.changed.wait(duration_s):
                    return
            for version, kind, pod in fresh:  # noqa: B007 - the last version is where to go on from
                where, labels = pod["metadata"]["namespace"], pod["metadata"].get("labels") or {}
                if namespace in (None, where) and fits(labels):
                    self._event(kind, pod)

    def _event(self, kind, thing):
        self._chunk(json.dumps({"type": kind, "object": thing}).encode() + b"\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """Clients that go away, or do not like the certificate, are part of the tests."""


class FakeApiServer:
    """A `FakeApi` on a port of this machine, as a context manager.

    Args:
        tls: Paths of the certificate and its key, for https.
    """

    def __init__(self, tls=None):
        self.api = FakeApi()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self.api
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _token(start, version):
    return base64.b64encode(json.dumps({"start": start, "rv": version}).encode()).decode()
