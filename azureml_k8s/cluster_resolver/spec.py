"""`ClusterSpec`: who is where, as a dict that TensorFlow takes as it is. Imports nothing heavy.

The names, the errors and their texts are those of ``tf.train.ClusterSpec``:
https://www.tensorflow.org/api_docs/python/tf/train/ClusterSpec
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from azureml_k8s.cluster_resolver import _tensorflow

__all__ = ["ClusterDef", "ClusterSpec", "JobDef"]

Tasks: TypeAlias = Sequence[str] | Mapping[int, str]

_NOT_A_CLUSTER = (
    "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
    "or a `ClusterDef` protocol buffer"
)
# A task's index is an int32 in TensorFlow's protocol buffer.
_LOWEST_INDEX, _HIGHEST_INDEX = -(2**31), 2**31 - 1


@dataclass
class JobDef:
    """One job of a `ClusterDef`: its name, and its tasks' addresses by index."""

    name: str
    tasks: dict[int, str] = field(default_factory=dict)


@dataclass
class ClusterDef:
    """The jobs of a cluster, sorted by name: what TensorFlow's message of that name holds, without TensorFlow."""

    job: list[JobDef] = field(default_factory=list)


class _Definition(Protocol):
    """What a `ClusterDef`, ours or TensorFlow's, shows."""

    @property
    def job(self) -> Iterable[Any]: ...


@runtime_checkable
class _Specification(Protocol):
    """What a ``tf.train.ClusterSpec`` shows."""

    def as_cluster_def(self) -> _Definition: ...


class ClusterSpec(dict[str, dict[int, str]]):
    """The addresses of a cluster's tasks: ``{job: {index: "host:port"}}``.

    It has the interface of ``tf.train.ClusterSpec``. Because it is a dict, ``tf.train.ClusterSpec(spec)`` and the
    strategies accept it, and ``json.dumps(spec)`` works. It is false only without jobs, and equal to any mapping of
    jobs to mappings of indices to addresses.

    Args:
        cluster: Job names with their tasks, each a list or tuple of addresses or a dict of index to address; or another
            cluster spec or definition, ours or TensorFlow's. It is copied.

    Raises:
        TypeError: It is none of these, or a job's name or an address is no text.
        ValueError: An index is no number, or does not fit in 32 bits.
    """

    def __init__(self, cluster: Mapping[str, Tasks] | _Definition | _Specification) -> None:
        super().__init__(_read(cluster))

    def __repr__(self) -> str:
        jobs = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{job!r}: {jobs[job]!r}' for job in sorted(jobs))}}})"

    def copy(self) -> ClusterSpec:
        """Return a copy that shares nothing with this one."""
        return ClusterSpec(self)

    @property
    def jobs(self) -> list[str]:
        """Job names, in the order in which they were given."""
        return list(self)

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """Return ``{job: [address, ...]}``; a job with gaps, and one without tasks, comes as ``{index: address}``."""
        return {job: _dense(tasks) or {index: tasks[index] for index in sorted(tasks)} for job, tasks in self.items()}

    def num_tasks(self, job_name: str) -> int:
        """Return how many tasks the job has; ValueError if there is no such job."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the indices of the job's tasks, ascending; ValueError if there is no such job."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return one task's address; ValueError if there is no such job, or no such task in it."""
        tasks = self._tasks(job_name)
        try:
            return tasks[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the job's addresses by index, None in the gaps; ``[]`` if it has no task.

        Raises:
            ValueError: There is no such job.
        """
        tasks = self._tasks(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def as_cluster_def(self) -> Any:
        """Return the cluster as a definition, jobs sorted by name.

        Where TensorFlow is already imported, that is its ``tf.train.ClusterDef`` message; otherwise it is a
        `ClusterDef`, which has the same attributes. This method imports nothing.
        """
        jobs = [
            JobDef(name=_text(job), tasks={index: _text(tasks[index]) for index in sorted(tasks)})
            for job, tasks in sorted(self.items())
        ]
        return _tensorflow.cluster_def(jobs) or ClusterDef(jobs)

    register_with_tensorflow = staticmethod(_tensorflow.register)

    def _tasks(self, job_name: str) -> dict[int, str]:
        try:
            return self[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None


def _read(cluster: object) -> dict[str, dict[int, str]]:
    if isinstance(cluster, dict):
        jobs = {job: _numbered(job, tasks) for job, tasks in cluster.items()}
    else:
        definition = cluster.as_cluster_def() if isinstance(cluster, _Specification) else cluster
        if not isinstance(listed := getattr(definition, "job", None), Iterable) or isinstance(listed, (str, bytes)):
            raise TypeError(_NOT_A_CLUSTER)
        jobs = {job.name: _numbered(job.name, dict(job.tasks)) for job in listed}
    for job, tasks in jobs.items():
        _check(job, tasks)
    sorted(jobs)  # raises TypeError for text mixed with bytes, as making TensorFlow's definition does
    return jobs


def _numbered(job: object, tasks: object) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return {int(index): address for index, address in tasks.items()}
    raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")


def _check(job: object, tasks: dict[int, str]) -> None:
    if not isinstance(job, (str, bytes)):
        raise TypeError(f"Job name {job!r} must be bytes or unicode")
    for index, address in tasks.items():
        if not isinstance(address, (str, bytes)):
            raise TypeError(f"Task address {address!r} must be bytes or unicode")
        if not _LOWEST_INDEX <= index <= _HIGHEST_INDEX:
            raise ValueError(f"Value out of range: {index}, an index of job {job!r}, does not fit in 32 bits")


def _dense(tasks: Mapping[int, str]) -> list[str] | None:
    if tasks and max(tasks) + 1 == len(tasks) and min(tasks) == 0:
        return [tasks[index] for index in range(len(tasks))]
    return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
