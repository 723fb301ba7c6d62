"""`Pod`: the few fields of a pod that a resolver needs, read from JSON or from a client's typed object.

Both are read by the same lines, which trust nothing: a field of another type than the API documents counts as absent.
That is what makes stand-ins such as ``MagicMock`` work, whose every attribute exists and is true.
Fields: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

__all__ = ["INDEX_KEYS", "JOB_INDEX_KEY", "Pod", "pod_from_json", "pod_from_object"]

#: Labels (annotations before Kubernetes 1.28) that give a pod its index, most trusted first.
INDEX_KEYS = (
    "batch.kubernetes.io/job-completion-index",
    "training.kubeflow.org/replica-index",
    "tf-replica-index",
    "apps.kubernetes.io/pod-index",
)
#: The child job of a JobSet that a pod belongs to; completion indices start at 0 in each.
JOB_INDEX_KEY = "jobset.sigs.k8s.io/job-index"

#: Resources that TensorFlow counts under its key GPU; slices of one GPU are devices of their own.
_GPU_RESOURCES = frozenset({"nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu"})
_GPU_PREFIXES = ("nvidia.com/mig-", "gpu.intel.com/")
_TPU_RESOURCE = "google.com/tpu"

# Waiting containers for these reasons do not come up by themselves, or only after somebody changes something.
_HOPELESS_WAITS = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
    }
)
# Indices above it are not trusted: a list with a place for each task is built from them.
_HIGHEST_INDEX = 999_999

_Get: TypeAlias = Callable[[object, str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """What a resolver knows of one pod; a field that the API server did not send is None or empty.

    Attributes:
        name: Its name.
        namespace: The namespace it is in.
        uid: Its unique id.
        phase: Pending, Running, Succeeded, Failed or Unknown.
        reason: Why it is in that phase, for example Evicted.
        pod_ip: Its primary address.
        pod_ips: All its addresses, the primary one first.
        host_ip: Its node's address.
        hostname: Its host name within the subdomain.
        subdomain: The name of the headless service that gives it a DNS name.
        is_terminating: Whether it is being deleted; its phase stays Running meanwhile.
        index: The index that its labels give it, or annotations of the same names; None without a usable one.
        job_index: The index of its child job in a JobSet, None elsewhere.
        accelerators: Accelerators in its containers' limits, by TensorFlow's device type.
        obstacle: Why it cannot come up, for example ``ImagePullBackOff: no such image``.
        waits_for: Why it does not run yet, for example ``ContainerCreating``.
    """

    name: str
    namespace: str | None = None
    uid: str | None = None
    phase: str | None = None
    reason: str | None = None
    pod_ip: str | None = None
    pod_ips: tuple[str, ...] = ()
    host_ip: str | None = None
    hostname: str | None = None
    subdomain: str | None = None
    is_terminating: bool = False
    index: int | None = None
    job_index: int | None = None
    accelerators: Mapping[str, int] = field(default_factory=dict)
    obstacle: str | None = None
    waits_for: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What tells this pod from others: its uid, else its namespace and name."""
        return (self.uid,) if self.uid else (self.namespace or "", self.name)

    @property
    def is_running(self) -> bool:
        """Whether its phase is Running."""
        return self.phase == "Running"

    @property
    def is_finished(self) -> bool:
        """Whether it ended, well or not, and will not run again."""
        return self.phase in ("Failed", "Succeeded")


def pod_from_json(item: object) -> Pod:
    """Read an item of a PodList, as parsed from JSON."""
    return _read(item, _json_field)


def pod_from_object(pod: object) -> Pod:
    """Read a typed pod, such as the kubernetes package's V1Pod.

    A stand-in written for TensorFlow's class knows the node's address only; where the pod's own address is neither text
    nor None, the node's is taken for it.
    """
    status = getattr(pod, "status", None)
    read = _read(pod, _attribute)
    if isinstance(getattr(status, "pod_ip", ...), str | None):
        return read
    return replace(read, pod_ip=read.host_ip)


def _json_field(source: object, name: str) -> object:
    return source.get(name) if isinstance(source, dict) else None


_ATTRIBUTES = {
    "containerStatuses": "container_statuses",
    "deletionTimestamp": "deletion_timestamp",
    "hostIP": "host_ip",
    "initContainerStatuses": "init_container_statuses",
    "podIP": "pod_ip",
    "podIPs": "pod_ips",
}


def _attribute(source: object, name: str) -> object:
    return getattr(source, _ATTRIBUTES.get(name, name), None)


def _read(source: object, get: _Get) -> Pod:
    metadata, spec, status = get(source, "metadata"), get(source, "spec"), get(source, "status")
    labels, annotations = get(metadata, "labels"), get(metadata, "annotations")
    pod_ip = _text(get(status, "podIP"))
    ips = tuple(ip for entry in _list(get(status, "podIPs")) if (ip := _text(get(entry, "ip"))))
    return Pod(
        name=_text(get(metadata, "name")) or "",
        namespace=_text(get(metadata, "namespace")),
        uid=_text(get(metadata, "uid")),
        phase=_text(get(status, "phase")),
        reason=_text(get(status, "reason")),
        pod_ip=pod_ip,
        pod_ips=ips or ((pod_ip,) if pod_ip else ()),
        host_ip=_text(get(status, "hostIP")),
        hostname=_text(get(spec, "hostname")),
        subdomain=_text(get(spec, "subdomain")),
        is_terminating=isinstance(get(metadata, "deletionTimestamp"), (str, datetime)),
        index=_first_index(INDEX_KEYS, labels, annotations),
        job_index=_first_index((JOB_INDEX_KEY,), labels, annotations),
        accelerators=_accelerators(_list(get(spec, "containers")), get),
        obstacle=_obstacle(status, get),
        waits_for=next((reason for reason, _ in _waits(status, get)), None),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _first_index(keys: Iterable[str], *sources: object) -> int | None:
    """Return the index of the first key that is there, None if it is no index: the next key is not asked then."""
    for key in keys:
        for source in sources:
            if isinstance(source, dict) and isinstance(value := source.get(key), str):
                return _index(value)
    return None


def _index(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_HIGHEST_INDEX))):
        return None
    return int(text)


def _accelerators(containers: list[object], get: _Get) -> dict[str, int]:
    counts: dict[str, int] = {}
    for container in containers:
        limits = get(get(container, "resources"), "limits")
        for resource, quantity in limits.items() if isinstance(limits, dict) else ():
            device = _device(resource)
            count = _index(str(quantity))
            if device and count:
                counts[device] = counts.get(device, 0) + count
    return counts


def _device(resource: object) -> str | None:
    if not isinstance(resource, str):
        return None
    if resource in _GPU_RESOURCES or resource.startswith(_GPU_PREFIXES):
        return "GPU"
    return "TPU" if resource == _TPU_RESOURCE else None


def _waits(status: object, get: _Get) -> Iterator[tuple[str, str | None]]:
    """Yield reason and message of each container that waits, init containers first."""
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in _list(get(status, key)):
            waiting = get(get(container, "state"), "waiting")
            if reason := _text(get(waiting, "reason")):
                yield reason, _text(get(waiting, "message"))


def _obstacle(status: object, get: _Get) -> str | None:
    for reason, message in _waits(status, get):
        if reason in _HOPELESS_WAITS:
            return f"{reason}: {message}" if message else reason
    for condition in _list(get(status, "conditions")):
        if (get(condition, "type"), get(condition, "reason")) == ("PodScheduled", "Unschedulable"):
            message = _text(get(condition, "message"))
            return f"Unschedulable: {message}" if message else "Unschedulable"
    return None
