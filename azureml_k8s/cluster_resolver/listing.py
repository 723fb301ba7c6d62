"""Pods from the cluster: lists in pages and watches, repeated and explained by one set of rules."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from azureml_k8s import _retry
from azureml_k8s.cluster_resolver.answers import clipped, explain, foreign, status_error
from azureml_k8s.cluster_resolver.connection import Connection
from azureml_k8s.cluster_resolver.errors import KubernetesApiError
from azureml_k8s.cluster_resolver.pages import read_list
from azureml_k8s.cluster_resolver.pods import Pod, pod_from_json
from azureml_k8s.cluster_resolver.source import Event, Listing

__all__ = ["PodClient"]

logger = logging.getLogger(__name__)

#: Pods in one answer; one answer at a time is in memory.
PAGE_SIZE = 500
#: Lists started again because their page token expired, before one is asked for in a single piece.
_MAX_RESTARTS = 2
_CONNECT_S, _READ_S = 10.0, 60.0
#: Seconds of pauses, in all, that a server may ask for in one request.
_MAX_ASKED_PAUSES_S = 120.0
_CHUNK_BYTES = 65536

_T = TypeVar("_T")


@dataclass(frozen=True)
class _Page:
    pods: list[Pod]
    token: str | None
    version: str | None


class PodClient:
    """Lists and watches pods through the kubernetes package.

    Args:
        connection: Gives the package's client.
        clock: Monotonic seconds.
        sleep: Called with the seconds of a pause between two tries.
    """

    can_watch = True

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._connection, self._clock, self._sleep = connection, clock, sleep

    def own_namespace(self) -> str:
        """Return the namespace of the service account, or of the kubeconfig's current context; sends nothing."""
        return self._connection.own_namespace()

    def list_pods(self, selector: str | None, namespace: str | None, *, deadline: float | None = None) -> Listing:
        """Return the pods that match, with one request for each 500, and more where one is repeated.

        A page token that expired starts the list again; when that has happened twice, the list comes in one piece.

        Args:
            selector: The label selector; None or empty for all pods.
            namespace: Where to look; None for all namespaces.
            deadline: The clock's time after which nothing is repeated; None for no such time.

        Raises:
            KubernetesApiError: There is no usable answer, though 429, 5xx and broken connections were repeated with
                pauses, and a 401 once with credentials read again.
        """
        for _ in range(_MAX_RESTARTS):
            try:
                return self._list(selector, namespace, {"limit": PAGE_SIZE}, deadline)
            except KubernetesApiError as error:
                if error.status != 410:
                    raise
                logger.info("a page token expired while pods were listed; starting again")
        return self._list(selector, namespace, {}, deadline)

    def bare_pods(self, selector: str | None) -> list[tuple[str, str | None, str | None]]:
        """Return name, phase and node address of the pods of all namespaces, as far as TensorFlow's class looks."""
        return [(pod.name, pod.phase, pod.host_ip) for pod in self.list_pods(selector, None).pods]

    def watch(self, selector: str, namespace: str | None, *, version: str | None, duration_s: float) -> Iterator[Event]:
        """Yield changes since the version until the duration is over or the server ends the watch; one request.

        Raises:
            KubernetesApiError: The server refuses (403: the role lacks the verb watch; 410: the version is too old, a
                list gives a new one) or breaks off.
        """
        whole_s = max(1, int(duration_s))
        options: dict[str, Any] = {"watch": True, "allow_watch_bookmarks": True, "timeout_seconds": whole_s}
        if version:
            options["resource_version"] = version
        try:
            response = self._get(selector, namespace, whole_s + _CONNECT_S, options)
            try:
                yield from _events(response, namespace)
            finally:
                response.close()  # an unread stream is of no use to another request
        except Exception as error:
            failure, _ = explain(error, namespace)
            if failure is error:
                raise
            raise failure from error

    def _list(
        self, selector: str | None, namespace: str | None, options: Mapping[str, Any], deadline: float | None
    ) -> Listing:
        pods: list[Pod] = []
        token: str | None = None
        while True:
            asked = {**options, "_continue": token} if token else options
            page = self._repeated(partial(self._page, selector, namespace, asked), namespace, deadline)
            pods += page.pods
            token = page.token
            if not token:
                return Listing(pods, page.version)

    def _page(self, selector: str | None, namespace: str | None, options: Mapping[str, Any]) -> _Page:
        response = self._get(selector, namespace, _READ_S, options)
        try:
            text = response.read(decode_content=True).decode(errors="replace")
        finally:
            response.release_conn()
        try:
            pods, fields = read_list(text, pod_from_json)
        except (ValueError, RecursionError):
            raise foreign(response.status, _why_no_list(text)) from None
        metadata = fields.get("metadata")
        return _Page(pods, token=_metadata(metadata, "continue"), version=_metadata(metadata, "resourceVersion"))

    def _get(self, selector: str | None, namespace: str | None, read_s: float, options: Mapping[str, Any]) -> Any:
        api = self._connection.api()
        arguments = {
            "label_selector": selector,
            "_preload_content": False,
            "_request_timeout": (_CONNECT_S, read_s),
            **options,
        }
        try:
            if namespace is None:
                return api.list_pod_for_all_namespaces(**arguments)
            return api.list_namespaced_pod(namespace, **arguments)
        except Exception as error:
            if getattr(error, "status", None) == 401:
                self._connection.renew(api)
            raise

    def _repeated(self, send: Callable[[], _T], namespace: str | None, deadline: float | None) -> _T:
        tries, renewed = _retry.Tries(), False
        while True:
            try:
                return send()
            except Exception as error:
                failure, outcome = explain(error, namespace)
                if failure.status == 401 and not renewed:
                    renewed = True
                    continue
                pause_s = _retry.pause_s(
                    outcome,
                    tries,
                    time_left_s=None if deadline is None else deadline - self._clock(),
                    max_wait_s=_MAX_ASKED_PAUSES_S,
                    jitter=_retry.draw_jitter(),
                )
                if pause_s is None and failure is error:
                    raise
                if pause_s is None:
                    raise failure from error
            logger.info("%s; trying again in %.1f s", failure, pause_s)
            tries = tries.after(outcome, pause_s)
            self._sleep(pause_s)


def _metadata(metadata: object, name: str) -> str | None:
    value = metadata.get(name) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) and value else None


def _why_no_list(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return f"it is no JSON but begins {clipped(text)!r}"
    return f"it is no list of pods but begins {clipped(text)!r}"


def _events(response: Any, namespace: str | None) -> Iterator[Event]:
    for line in _lines(response.stream(_CHUNK_BYTES, decode_content=True)):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise foreign(response.status, f"a watch sent no JSON but {clipped(line)!r}") from None
        kind, thing = (event.get("type"), event.get("object")) if isinstance(event, dict) else (None, None)
        if kind == "ERROR":
            raise status_error(thing if isinstance(thing, dict) else {}, namespace)
        if kind in ("ADDED", "MODIFIED", "DELETED"):
            yield Event(kind, pod_from_json(thing))


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from filter(None, whole)
    # What a server sent of a line before it broke off is no event.
