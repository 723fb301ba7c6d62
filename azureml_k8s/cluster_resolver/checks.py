"""Arguments, checked when a resolver is made: each error names the argument, and the job where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn, TypeVar

__all__ = ["DEFAULT_JOBS", "ExecutableLocation", "choice", "client", "jobs", "location", "namespaces", "port"]

#: The jobs and selectors of a resolver that is given none, as in TensorFlow.
DEFAULT_JOBS = {"worker": ["job-name=tensorflow"]}

# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

_T = TypeVar("_T", bound=str)


class ExecutableLocation(Enum):
    """Where this program runs, which decides how it finds the cluster.

    WITHIN_CLUSTER and OFF_CLUSTER are TensorFlow's; DETECT, the default, is ours.
    """

    WITHIN_CLUSTER = 0
    """In a pod: the service account's token."""
    OFF_CLUSTER = 1
    """Elsewhere: the kubeconfig, from ``KUBECONFIG`` or ``~/.kube/config``, and its current context."""
    DETECT = 2
    """WITHIN_CLUSTER where ``KUBERNETES_SERVICE_HOST`` and the service account's files are there; OFF_CLUSTER where
    none is; an error that names what is missing where only some are."""


def jobs(mapping: object) -> dict[str, tuple[str, ...]]:
    """Return a copy of the jobs with their selectors, `DEFAULT_JOBS` for a mapping that is None or empty.

    Raises:
        TypeError: It is no mapping, a job's name is no text, or its selectors are not a text or a list of texts.
    """
    given = mapping or DEFAULT_JOBS
    if not isinstance(given, Mapping):
        raise TypeError(f"job_to_label_mapping must map job names to lists of label selectors, not be {given!r}")
    return {_job_name(job): _selectors(job, selectors) for job, selectors in given.items()}


def _job_name(job: object) -> str:
    if not isinstance(job, str):
        raise TypeError(f"job_to_label_mapping: the job name {job!r} is no text")
    return job


def _selectors(job: str, selectors: object) -> tuple[str, ...]:
    if isinstance(selectors, str):
        return (selectors,)
    # A set has no order and a generator is empty at the second call: the tasks' order would change.
    if not isinstance(selectors, Sequence) or isinstance(selectors, (bytes, bytearray)):
        raise TypeError(
            f"job_to_label_mapping: the selectors of job {job!r} must be a list of texts, not {_described(selectors)}"
        )
    for selector in selectors:
        if not isinstance(selector, str):
            raise TypeError(f"job_to_label_mapping: job {job!r} has a selector that is no text: {selector!r}")
    return tuple(selectors)


def _described(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def port(value: object) -> int:
    """Return the port as a number; text of digits is fine.

    Raises:
        ValueError: It is no whole number from 1 to 65535.
    """
    is_number = isinstance(value, int) and not isinstance(value, bool)
    is_digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 9
    number = int(str(value)) if is_number or is_digits else 0
    if not 1 <= number <= 65535:
        raise ValueError(f"tf_server_port must be a port number from 1 to 65535, not {value!r}")
    return number


def choice(value: Any, allowed: Sequence[_T], *, argument: str) -> _T:
    """Return the value, if it is one of those allowed; else raise ValueError."""
    for one in allowed:
        if isinstance(value, str) and value == one:
            return one
    raise ValueError(f"{argument} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def client(value: Any, *, is_namespaced: bool) -> Any:
    """Return the client, if it has the method that will be called; else raise TypeError."""
    method = "list_namespaced_pod" if is_namespaced else "list_pod_for_all_namespaces"
    if not callable(getattr(value, method, None)):
        raise TypeError(
            f"override_client must have the method {method}, as kubernetes.client.CoreV1Api() has; "
            f"a {type(value).__name__} has not"
        )
    return value


def location(value: object) -> ExecutableLocation:
    """Return the location, if it is a member of `ExecutableLocation`; else raise ValueError."""
    if isinstance(value, ExecutableLocation):
        return value
    members = ", ".join(str(member) for member in ExecutableLocation)
    raise ValueError(f"The executable location provided is invalid: {value!r}; it must be one of {members}.")


def namespaces(value: object) -> tuple[str | None, ...]:
    """Return the namespaces to search, each once, in order; ``(None,)`` for all.

    Raises:
        TypeError: It is not None, a text or a list of texts.
        ValueError: The list is empty, or a name cannot be a namespace's.
    """
    if value is None:
        return (None,)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)):
        raise TypeError(f"namespace must be None, a name or a list of names, not {value!r}")
    return tuple(dict.fromkeys(_namespace(name) for name in names)) or _refuse_no_namespace()


def _refuse_no_namespace() -> NoReturn:
    raise ValueError("namespace is an empty list; None searches all namespaces")


def _namespace(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"namespace: {name!r} is no text")
    if not _DNS_LABEL.fullmatch(name):
        raise ValueError(f"namespace: {name!r} cannot be a namespace's name: lower-case letters, digits and hyphens")
    return name
