"""Which of the pods are tasks, and which task each of them is."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from azureml_k8s.cluster_resolver.addresses import Addressing
from azureml_k8s.cluster_resolver.order import Groups, Order, arrange
from azureml_k8s.cluster_resolver.pods import Pod
from azureml_k8s.cluster_resolver.spec import ClusterSpec

__all__ = ["NOT_RUNNING", "Members", "Membership", "NotRunning"]

logger = logging.getLogger(__name__)

NotRunning: TypeAlias = Literal["raise", "skip"]
NOT_RUNNING: tuple[NotRunning, ...] = ("raise", "skip")

#: The pods of each job, by task index.
Members: TypeAlias = Mapping[str, Mapping[int, Pod]]

_MOST_NAMED = 10


@dataclass(frozen=True)
class Membership:
    """The rules that make tasks of pods.

    Attributes:
        order: See `arrange`.
        not_running: ``"raise"``: a pod that does not run is an error; ``"skip"``: pods that ended are left out, and
            leave gaps.
        addressing: How pods are addressed.
    """

    order: Order
    not_running: NotRunning
    addressing: Addressing

    def members(self, jobs: Mapping[str, Groups]) -> Members:
        """Return the pods by job and index.

        Raises:
            RuntimeError: Some pods do not run; the first of them by name is named as in TensorFlow, then the others.
        """
        for groups in jobs.values():
            _raise_for(list(self._not_running(groups)))
        return {job: self._running(groups) for job, groups in jobs.items()}

    def ready_members(self, jobs: Mapping[str, Groups]) -> Members:
        """Return the pods that are ready by job and index; the others leave gaps."""
        return {
            job: {index: pod for index, pod in arrange(groups, order=self.order).items() if self.is_ready(pod)}
            for job, groups in jobs.items()
        }

    def is_ready(self, pod: Pod) -> bool:
        """Whether the pod runs, has an address, and is in no state that it does not get out of."""
        return pod.is_running and pod.obstacle is None and self.addressing.is_known(pod)

    def obstacle(self, pod: Pod) -> str | None:
        """Why the pod will not get ready, None if it may; pods that are skipped are no obstacle."""
        if pod.is_finished:
            return None if self.not_running == "skip" else f"{pod.phase}{f' ({pod.reason})' if pod.reason else ''}"
        return pod.obstacle

    def spec(self, members: Members) -> ClusterSpec:
        """Return the addresses.

        Raises:
            RuntimeError: A pod has no address, or none yet.
        """
        return ClusterSpec(
            {job: {index: self.addressing.of(pod) for index, pod in pods.items()} for job, pods in members.items()}
        )

    def _running(self, groups: Groups) -> dict[int, Pod]:
        return {index: pod for index, pod in arrange(groups, order=self.order).items() if pod.is_running}

    def _not_running(self, groups: Groups) -> Iterable[Pod]:
        for group in groups:
            for pod in sorted(group, key=lambda pod: pod.name):
                if not pod.is_running and not (pod.is_finished and self.not_running == "skip"):
                    yield pod


def _raise_for(pods: list[Pod]) -> None:
    if not pods:
        return
    first, *others = (f'Pod "{pod.name}" is not running; phase: "{pod.phase}"' for pod in pods[:_MOST_NAMED])
    if len(pods) > _MOST_NAMED:
        others.append(f"and {len(pods) - _MOST_NAMED} more")
    raise RuntimeError("\n".join([first, *others]))
