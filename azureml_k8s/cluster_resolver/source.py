"""Where pods come from: what the resolver asks of a client, and the adapter for a client given by the caller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from azureml_k8s.cluster_resolver.checks import ExecutableLocation
from azureml_k8s.cluster_resolver.connection import own_namespace
from azureml_k8s.cluster_resolver.pods import Pod, pod_from_object

__all__ = ["Event", "GivenClient", "Listing", "PodSource"]


@dataclass(frozen=True)
class Listing:
    """The pods that one selector found, and the version of the cluster's state that they are of."""

    pods: list[Pod]
    version: str | None = None


@dataclass(frozen=True)
class Event:
    """A change of one pod: ADDED, MODIFIED or DELETED."""

    kind: str
    pod: Pod


class PodSource(Protocol):
    """What the resolver asks of a client."""

    @property
    def can_watch(self) -> bool:
        """Whether `watch` works."""

    def own_namespace(self) -> str:
        """Return the namespace that this program belongs to."""

    def list_pods(self, selector: str | None, namespace: str | None, *, deadline: float | None = None) -> Listing:
        """Return the pods that match, in the namespace or in all."""

    def bare_pods(self, selector: str | None) -> list[tuple[Any, Any, Any]]:
        """Return name, phase and node address of the pods of all namespaces, as far as TensorFlow's class looks."""

    def watch(self, selector: str, namespace: str | None, *, version: str | None, duration_s: float) -> Iterator[Event]:
        """Yield changes since the version for some time."""


class GivenClient:
    """A client given by the caller, asked as TensorFlow's class asks it: stand-ins may understand nothing else.

    Its errors pass unchanged. It is not watched.

    Args:
        client: A ``CoreV1Api`` or whatever has its ``list_pod_for_all_namespaces`` and returns typed pods; its
            ``list_namespaced_pod`` is called where namespaces are given.
    """

    can_watch = False

    def __init__(self, client: Any) -> None:
        self._client = client

    def own_namespace(self) -> str:
        """Return the namespace of the service account, or of the kubeconfig's current context."""
        return own_namespace(ExecutableLocation.DETECT)

    def list_pods(self, selector: str | None, namespace: str | None, *, deadline: float | None = None) -> Listing:
        """Return the pods that match, with one call."""
        return Listing([pod_from_object(pod) for pod in self._items(selector, namespace)])

    def bare_pods(self, selector: str | None) -> list[tuple[Any, Any, Any]]:
        """Return name, phase and node address as they are, whatever they are."""
        return [(pod.metadata.name, pod.status.phase, pod.status.host_ip) for pod in self._items(selector, None)]

    def watch(self, selector: str, namespace: str | None, *, version: str | None, duration_s: float) -> Iterator[Event]:
        """Yield nothing: a given client is only listed."""
        return iter(())

    def _items(self, selector: str | None, namespace: str | None) -> Any:
        if namespace is None:
            return self._client.list_pod_for_all_namespaces(label_selector=selector).items
        return self._client.list_namespaced_pod(namespace, label_selector=selector).items
