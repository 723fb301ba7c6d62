"""TensorFlow's way of making a cluster spec, flaws included, for those who depend on it."""

from __future__ import annotations

from typing import Any

from azureml_k8s.cluster_resolver.source import PodSource
from azureml_k8s.cluster_resolver.spec import ClusterSpec

__all__ = ["literal_spec"]


def literal_spec(jobs: Any, port: Any, source: PodSource) -> ClusterSpec:
    """Return the node addresses of all pods that match, in the text order of their names.

    As in TensorFlow: nothing is checked, a selector given as one text is taken letter by letter, the port is pasted,
    terminating pods and pods found twice count, IPv6 addresses get no brackets, a missing address reads ``None``.

    Raises:
        RuntimeError: A pod does not run.
    """
    return ClusterSpec(
        {job: [f"{host}:{port}" for selector in jobs[job] for host in _hosts(selector, source)] for job in jobs}
    )


def _hosts(selector: Any, source: PodSource) -> list[Any]:
    pods = sorted(source.bare_pods(selector), key=lambda pod: pod[0])
    for name, phase, _ in pods:
        if phase != "Running":
            raise RuntimeError(f'Pod "{name}" is not running; phase: "{phase}"')
    return [host for _, _, host in pods]
