"""Finding the pods of each job: one list for each selector in each namespace."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from azureml_k8s.cluster_resolver.order import Groups
from azureml_k8s.cluster_resolver.pods import Pod
from azureml_k8s.cluster_resolver.source import PodSource

__all__ = ["Found", "Scope", "Search"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scope:
    """One list of pods: a job's selector in one namespace, None for all."""

    job: str
    selector: str
    namespace: str | None


@dataclass
class Found:
    """The pods of each job, by selector; and the version of the cluster's state that each list is of."""

    jobs: dict[str, Groups] = field(default_factory=dict)
    versions: dict[Scope, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Search:
    """What is asked of the cluster: each job's selectors, in each of the namespaces."""

    jobs: Mapping[str, tuple[str, ...]]
    namespaces: tuple[str | None, ...]

    @property
    def where(self) -> str:
        """The namespaces, for people."""
        names = [name for name in self.namespaces if name is not None]
        if not names:
            return "all namespaces"
        return f"namespace{'s' * (len(names) > 1)} {', '.join(names)}"

    def described(self, job: str) -> str:
        """Return where a job's pods are searched, for people."""
        return f"selectors {', '.join(map(repr, self.jobs[job]))} in {self.where}"

    def find(self, source: PodSource, *, deadline: float | None = None) -> Found:
        """List the pods of all jobs.

        Pods that are being deleted are left out; one that two selectors of a job find belongs to the first.

        Raises:
            RuntimeError: A pod belongs to two jobs.
        """
        found, owners = Found(), dict[tuple[str, ...], str]()
        for job, selectors in self.jobs.items():
            groups: list[list[Pod]] = []
            for selector in selectors:
                group: dict[tuple[str, ...], Pod] = {}
                for scope in self._scopes(job, selector):
                    listing = source.list_pods(selector, scope.namespace, deadline=deadline)
                    found.versions[scope] = listing.version
                    group.update((pod.key, pod) for pod in listing.pods if not _is_leaving(pod, job))
                groups.append(list(_unowned(group, job, owners)))
                owners.update(dict.fromkeys(group, job))
            found.jobs[job] = groups
        return found

    def _scopes(self, job: str, selector: str) -> Iterator[Scope]:
        for namespace in self.namespaces:
            yield Scope(job, selector, namespace)


def _is_leaving(pod: Pod, job: str) -> bool:
    if pod.is_terminating:
        logger.info('pod "%s" of job %r is left out: it is being deleted', pod.name, job)
    return pod.is_terminating


def _unowned(group: Mapping[tuple[str, ...], Pod], job: str, owners: Mapping[tuple[str, ...], str]) -> Iterator[Pod]:
    for key, pod in group.items():
        owner = owners.get(key)
        if owner not in (None, job):
            raise RuntimeError(f'Pod "{pod.name}" matches selectors of two jobs, {owner!r} and {job!r}')
        if owner is None:
            yield pod
