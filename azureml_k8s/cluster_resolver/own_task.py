"""Which task this process is: its own pod in the cluster, else what the environment says. Sends nothing."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Mapping

from azureml_k8s.cluster_resolver.membership import Members
from azureml_k8s.cluster_resolver.pods import Pod

__all__ = ["find_own_task"]

logger = logging.getLogger(__name__)


def find_own_task(members: Members, environ: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the job and index of this process, None if they cannot be told.

    Args:
        members: The pods by job and index.
        environ: The environment. ``POD_NAME``, ``POD_NAMESPACE`` and ``POD_IP`` are used where the pod's author set
            them through the downward API, ``HOSTNAME`` else; then ``JOB_COMPLETION_INDEX``, which Kubernetes sets in
            Indexed Jobs, if there is one job; then ``TF_CONFIG``.
    """
    return _own_pod(members, environ) or _completion_index(members, environ) or _tf_config(environ)


def _own_pod(members: Members, environ: Mapping[str, str]) -> tuple[str, int] | None:
    names = {environ.get("POD_NAME"), environ.get("HOSTNAME")} - {None, ""}
    namespace = environ.get("POD_NAMESPACE")
    pods = [(job, index, pod) for job, tasks in members.items() for index, pod in tasks.items()]
    named = [
        (job, index) for job, index, pod in pods if names & _host_names(pod) and namespace in (None, "", pod.namespace)
    ]
    if len(named) == 1:
        return named[0]
    ips = _own_ips(environ)
    # Pods in the host's network share its address, so that several may have ours.
    addressed = [(job, index) for job, index, pod in pods if ips & {*pod.pod_ips, pod.pod_ip}]
    return addressed[0] if len(addressed) == 1 else None


def _host_names(pod: Pod) -> set[str | None]:
    """Return the names that the pod may know itself by; in Indexed Jobs, the host name is not the pod's name."""
    # What the kubelet makes of a name that is too long for a host's.
    return {pod.name, pod.name[:63].rstrip("-."), pod.hostname}


def _own_ips(environ: Mapping[str, str]) -> set[str | None]:
    if ip := environ.get("POD_IP"):
        return {ip}
    if not environ.get("KUBERNETES_SERVICE_HOST"):
        return set()  # elsewhere the look-up may go to a name server, and answer with anything
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        return set()


def _completion_index(members: Members, environ: Mapping[str, str]) -> tuple[str, int] | None:
    index = environ.get("JOB_COMPLETION_INDEX", "")
    if len(members) != 1 or not (index.isascii() and index.isdecimal()):
        return None
    return next(iter(members)), int(index)


def _tf_config(environ: Mapping[str, str]) -> tuple[str, int] | None:
    text = environ.get("TF_CONFIG")
    if not text:
        return None
    try:
        task = json.loads(text)["task"]
        job, index = task["type"], int(task["index"])
    except (ValueError, KeyError, TypeError):
        logger.warning("TF_CONFIG names no task; it is ignored")
        return None
    return (job, index) if isinstance(job, str) else None
