"""`ClusterResolver`: what a resolver shows to those who use it, TensorFlow's strategies among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from typing import Self

from azureml_k8s.cluster_resolver import _tensorflow
from azureml_k8s.cluster_resolver.spec import ClusterSpec

__all__ = ["ClusterResolver"]


class ClusterResolver(ABC):
    """Base of resolvers, with the interface of ``tf.distribute.cluster_resolver.ClusterResolver``; light to import.

    TensorFlow takes its instances for its own where it was imported before the first of them was made, or where
    `register_with_tensorflow` was called.

    Attributes:
        rpc_layer: The protocol put in front of `master`'s address, None for none.
    """

    rpc_layer: str | None = None
    _task_type: str | None = None
    _task_id: int | None = None

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Make an instance that TensorFlow, if it is imported, takes for its own."""
        _tensorflow.register_if_imported()
        return super().__new__(cls)

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """Return the cluster as it is now."""

    @abstractmethod
    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, ``''`` where it is not known which task is meant."""

    @abstractmethod
    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> defaultdict[str, int]:
        """Return how many accelerators a task has, by type."""

    @property
    def environment(self) -> str:
        """The environment that the tasks run in; always ``''``, as TensorFlow's for Kubernetes."""
        return ""

    @property
    def task_type(self) -> str | None:
        """The job of this task, None while it is not known; settable. Reading it sends nothing."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this task in its job, None while it is not known; settable. Reading it sends nothing."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    register_with_tensorflow = staticmethod(_tensorflow.register)
