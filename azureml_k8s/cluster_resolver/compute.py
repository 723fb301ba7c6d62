"""What an attached compute says about where its pods are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypedDict, runtime_checkable

from azureml_k8s.cluster_resolver import checks
from azureml_k8s.cluster_resolver.addresses import Address
from azureml_k8s.cluster_resolver.checks import ExecutableLocation
from azureml_k8s.cluster_resolver.membership import NotRunning
from azureml_k8s.cluster_resolver.order import Order
from azureml_k8s.cluster_resolver.pods import Pod

__all__ = ["AttachedCompute", "Options", "jobs_of_run"]

# Seen on pods of the extension; no public document has it.
_RUN_ID = "ml.azure.com/run-id"
# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@runtime_checkable
class AttachedCompute(Protocol):
    """A compute target that tells its Kubernetes namespace, as `KubernetesCompute` does."""

    @property
    def namespace(self) -> str | None:
        """The namespace of its pods."""


class Options(TypedDict, total=False):
    """Arguments of the resolver that go with an attached compute."""

    tf_server_port: int | str
    rpc_layer: str | None
    override_client: Any
    executable_location: ExecutableLocation
    address: Address | Callable[[Pod], str]
    order: Order
    not_running: NotRunning
    cluster_domain: str | None
    clock: Callable[[], float]
    sleep: Callable[[float], object]


def jobs_of_run(
    mapping: Mapping[str, Sequence[str] | str] | None, run_id: str | None
) -> Mapping[str, Sequence[str] | str] | None:
    """Return the mapping, its selectors narrowed to the pods of a run if one is given.

    Raises:
        TypeError: The mapping is none, or the run id is no text.
        ValueError: The run id cannot be a label's value.
    """
    if run_id is None:
        return mapping
    if not isinstance(run_id, str):
        raise TypeError(f"run_id must be a text, not {run_id!r}")
    if not _LABEL_VALUE.fullmatch(run_id):
        raise ValueError(f"run_id: {run_id!r} cannot be a label's value")
    of_run = f"{_RUN_ID}={run_id}"
    if not mapping:
        return {"worker": [of_run]}
    return {
        job: [f"{selector},{of_run}" if selector else of_run for selector in selectors]
        for job, selectors in checks.jobs(mapping).items()
    }
