"""Waiting until enough pods run: look at all of them, then sleep until something happens, and look again."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from azureml_k8s.cluster_resolver.errors import KubernetesApiError, PodCannotRunError, WaitTimeoutError
from azureml_k8s.cluster_resolver.membership import Members, Membership
from azureml_k8s.cluster_resolver.pods import Pod
from azureml_k8s.cluster_resolver.search import Found, Scope, Search
from azureml_k8s.cluster_resolver.source import PodSource

__all__ = ["Wait", "counts_by_job", "seconds"]

logger = logging.getLogger(__name__)

#: Seconds between two looks where nothing tells of changes: a tenth of the time waited, within these.
_SHORTEST_NAP_S, _LONGEST_NAP_S = 1.0, 10.0
#: Seconds of one watch; shorter where several lists take turns.
_LONG_WATCH_S, _SHORT_WATCH_S = 60.0, 10.0
_MOST_NAMED = 20


def counts_by_job(counts: object, jobs: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return how many pods of each job are waited for.

    Raises:
        TypeError: The counts are no whole number, and no mapping of jobs to such.
        ValueError: A count is negative, or a job is not one of the resolver's, or has no selector to find pods by.
    """
    given = counts if isinstance(counts, Mapping) else dict.fromkeys(jobs, counts)
    for job, count in given.items():
        if job not in jobs:
            raise ValueError(f"counts: there is no job {job!r}; the jobs are {', '.join(map(repr, jobs))}")
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"counts: the count of job {job!r} must be a whole number, not {count!r}")
        if count < 0:
            raise ValueError(f"counts: the count of job {job!r} is negative: {count}")
        if count and not jobs[job]:
            raise ValueError(f"counts: job {job!r} has no selector, so it has no pods to wait for")
    return dict(given)


def seconds(timeout: object) -> float | None:
    """Return the time-out in seconds, None for none; TypeError or ValueError if it is no number of seconds."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds or None, not {timeout!r}")
    if math.isnan(timeout) or timeout < 0:
        raise ValueError(f"timeout must be 0 or more seconds, not {timeout!r}")
    return None if math.isinf(timeout) else float(timeout)


@dataclass
class Wait:
    """One wait.

    Attributes:
        search: What is asked of the cluster.
        membership: What makes a pod a task.
        source: Where the pods come from.
        counts: How many ready pods of each job are waited for.
        clock: Monotonic seconds.
        sleep: Called with the seconds of a nap.
    """

    search: Search
    membership: Membership
    source: PodSource
    counts: Mapping[str, int]
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    _may_watch: bool = field(init=False)
    _turn: int = field(init=False, default=0)
    _looked_in_vain: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._may_watch = self.source.can_watch

    def run(self, timeout_s: float | None) -> Members:
        """Return the ready pods by job and index, once there are enough; there is always one look at the deadline.

        Raises:
            PodCannotRunError: A pod will not get ready.
            WaitTimeoutError: The time is over.
        """
        started = self.clock()
        deadline = None if timeout_s is None else started + timeout_s
        while True:
            found = self.search.find(self.source, deadline=deadline)
            missing = self._missing(found)
            if not missing:
                return self.membership.ready_members(found.jobs)
            self._raise_for_obstacles(found, missing)
            waited_s = self.clock() - started
            if timeout_s is not None and waited_s >= timeout_s:
                raise self._timed_out(found, waited_s)
            self._nap(found, waited_s, math.inf if timeout_s is None else timeout_s - waited_s)

    def _missing(self, found: Found) -> dict[str, int]:
        ready = {job: sum(map(self.membership.is_ready, _pods(found, job))) for job in self.counts}
        return {job: count - ready[job] for job, count in self.counts.items() if ready[job] < count}

    def _raise_for_obstacles(self, found: Found, missing: Mapping[str, int]) -> None:
        for job in missing:  # in the others, nobody waits for a pod that cannot come up
            for pod in _pods(found, job):
                if reason := self.membership.obstacle(pod):
                    raise PodCannotRunError(
                        f'Pod "{pod.name}" of job {job!r} cannot come up: {reason}', pod=pod.name, reason=reason
                    )

    def _nap(self, found: Found, waited_s: float, left_s: float) -> None:
        """Sleep until a pod changes for good or ill, or for a while."""
        nap_s = min(left_s, max(_SHORTEST_NAP_S, min(_LONGEST_NAP_S, waited_s / 10)))
        if self._may_watch and found.versions and left_s >= 1.0:
            started = self.clock()
            is_worth_a_look = self._watch(found, left_s)
            # Only the first time at once: lists that contradict the watch must not be asked for without a pause.
            nap_s = min(_SHORTEST_NAP_S, left_s) - (self.clock() - started)
            nap_s = 0.0 if is_worth_a_look and not self._looked_in_vain else nap_s
            self._looked_in_vain = is_worth_a_look
        if nap_s > 0:
            self.sleep(nap_s)

    def _watch(self, found: Found, left_s: float) -> bool:
        """Watch one of the lists; return whether the wait may be over."""
        scopes = [scope for scope in found.versions if scope.job in self._missing(found)] or list(found.versions)
        scope = scopes[self._turn % len(scopes)]
        self._turn += 1
        longest_s = _LONG_WATCH_S if len(found.versions) == 1 else _SHORT_WATCH_S
        try:
            return self._is_worth_a_look(found, scope, min(left_s, longest_s))
        except KubernetesApiError as error:
            if error.status in (403, 404, 405):
                logger.info("%s; pods are listed again and again instead of watched", error)
                self._may_watch = False
            else:  # 410 and broken connections: the next look starts afresh
                logger.debug("a watch ended: %s", error)
            return False

    def _is_worth_a_look(self, found: Found, scope: Scope, duration_s: float) -> bool:
        ready = {pod.key for pod in _pods(found, scope.job) if self.membership.is_ready(pod)}
        wanted = self.counts.get(scope.job, 0)
        events = self.source.watch(
            scope.selector, scope.namespace, version=found.versions[scope], duration_s=duration_s
        )
        for event in events:
            if event.kind == "DELETED" or event.pod.is_terminating:
                ready.discard(event.pod.key)
            elif self.membership.obstacle(event.pod):
                return True
            elif self.membership.is_ready(event.pod):
                ready.add(event.pod.key)
                if len(ready) >= wanted:
                    return True
        return False

    def _timed_out(self, found: Found, waited_s: float) -> WaitTimeoutError:
        missing = self._missing(found)
        lines = [f"timed out after {waited_s:g} s waiting for pods"]
        lines += [self._account(found, job) for job in missing]
        ready = {job: [pod.name for pod in _pods(found, job) if self.membership.is_ready(pod)] for job in found.jobs}
        return WaitTimeoutError("\n  ".join(lines), ready=ready, missing=missing, waited_s=waited_s)

    def _account(self, found: Found, job: str) -> str:
        pods = _pods(found, job)
        ready = [pod.name for pod in pods if self.membership.is_ready(pod)]
        others = [_state(pod) for pod in pods if not self.membership.is_ready(pod)]
        text = f"job {job!r} has {len(ready)} of {self.counts[job]}"
        if not pods:
            return f"{text}: no pod matches {self.search.described(job)}"
        seen = [f"{label}: {_some(names)}" for label, names in (("ready", ready), ("not ready", others)) if names]
        return f"{text} ({'; '.join(seen)}); {self.search.described(job)}"


def _pods(found: Found, job: str) -> list[Pod]:
    return sorted((pod for group in found.jobs[job] for pod in group), key=lambda pod: pod.name)


def _state(pod: Pod) -> str:
    if pod.is_running and not pod.pod_ip:
        return f"{pod.name} (Running, no IP address yet)"
    return f"{pod.name} ({', '.join(str(word) for word in (pod.phase, pod.waits_for or pod.reason) if word)})"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
