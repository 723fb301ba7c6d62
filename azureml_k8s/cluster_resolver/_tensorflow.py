"""The door to TensorFlow: used where the program has imported it, and imported only when somebody asks for that."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol

__all__ = ["cluster_def", "count_devices_here", "register", "register_if_imported"]


class _Job(Protocol):
    name: str
    tasks: Any


def cluster_def(jobs: Iterable[_Job]) -> Any | None:
    """Return the jobs as a ``tf.train.ClusterDef``, or None while TensorFlow is not imported."""
    # A module that is still being imported has no `train` yet.
    train = getattr(sys.modules.get("tensorflow"), "train", None)
    if train is None:
        return None
    message = train.ClusterDef()
    for job in jobs:
        added = message.job.add()
        added.name = job.name
        tasks: Mapping[int, str] = job.tasks
        for index, address in tasks.items():
            added.tasks[index] = address
    return message


def count_devices_here(task_type: str | None, task_id: int | None) -> defaultdict[str, int]:
    """Count this machine's devices by type as TensorFlow's class does in eager mode; none if it is not imported.

    Where job and index are given, only devices whose name has both in it are counted, by the text's beginning.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    config = getattr(sys.modules.get("tensorflow"), "config", None)
    wanted = [] if task_type is None or task_id is None else [f"/job:{task_type}", f"/task:{task_id}"]
    for device in [] if config is None else config.list_logical_devices():
        if device.device_type not in ("CPU", "XLA_CPU") and all(text in device.name for text in wanted):
            counts[device.device_type] += 1
    return counts


def register_if_imported() -> None:
    """Do what `register` does, if TensorFlow is imported; else nothing."""
    distribute = getattr(sys.modules.get("tensorflow"), "distribute", None)
    theirs = getattr(getattr(distribute, "cluster_resolver", None), "ClusterResolver", None)
    # While TensorFlow is being imported, there may be no such class yet.
    if callable(adopt := getattr(theirs, "register", None)):
        # Late: the base class needs this module.
        from azureml_k8s.cluster_resolver.base import ClusterResolver

        adopt(ClusterResolver)


def register() -> None:
    """Make our resolvers pass ``isinstance(x, tf.distribute.cluster_resolver.ClusterResolver)``; imports TensorFlow.

    MultiWorkerMirroredStrategy, UnionResolver and ``tf.config.experimental_connect_to_cluster`` look at that. Making a
    resolver does the same where TensorFlow is imported by then, so this is for programs that import it later. Calling
    it again changes nothing.

    Raises:
        ImportError: TensorFlow is not installed.
    """
    import_module("tensorflow")
    register_if_imported()
