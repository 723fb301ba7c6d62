"""Which pod is which task: indices from labels, else an order from names.

A label sets the index; a number in a name only sets the order, because names may start at 1 and pods may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from azureml_k8s.cluster_resolver.pods import INDEX_KEYS, Pod

__all__ = ["ORDERS", "Groups", "Order", "arrange"]

Order: TypeAlias = Literal["auto", "name", "index"]
ORDERS: tuple[Order, ...] = ("auto", "name", "index")

#: The pods of one job, one group for each of its selectors.
Groups: TypeAlias = Sequence[Sequence[Pod]]

_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


def arrange(groups: Groups, *, order: Order) -> dict[int, Pod]:
    """Return the job's pods by index, ascending.

    Pods that ended keep the place that their name gives them, and count for nothing where labels give the places.

    Args:
        groups: The pods that each selector found, none twice.
        order: ``"auto"``: by labels if all pods that have not ended have one and no two the same; else by the trailing
            number, selector by selector, where the names differ only in it; else by name. ``"name"``: by name, as text.
            ``"index"``: by labels, or an error.

    Raises:
        RuntimeError: The order is ``"index"``, and a pod has no usable label, or two have the same.
    """
    live = [pod for group in groups for pod in group if not pod.is_finished]
    if order == "name" or not live:
        return _joined(groups, _by_name)
    if order == "index":
        _require_indices(live)
        return _by_index(live, otherwise=dict)
    if any(pod.index is None for pod in live):
        return _joined(groups, _by_trailing_number)
    if len({pod.job_index for pod in live}) > 1:
        return _by_child_job(groups)
    return _by_index(live, otherwise=lambda: _joined(groups, _by_name))


def _by_index(live: Sequence[Pod], *, otherwise: Callable[[], dict[int, Pod]]) -> dict[int, Pod]:
    placed = {pod.index: pod for pod in live if pod.index is not None}
    return dict(sorted(placed.items())) if len(placed) == len(live) else otherwise()


def _require_indices(live: Sequence[Pod]) -> None:
    first: dict[int, Pod] = {}
    for pod in live:
        if pod.index is None:
            raise RuntimeError(f'Pod "{pod.name}" has no usable index; looked at the labels {", ".join(INDEX_KEYS)}')
        if (other := first.setdefault(pod.index, pod)) is not pod:
            raise RuntimeError(f'Pods "{other.name}" and "{pod.name}" have the same index {pod.index}')


def _by_child_job(groups: Groups) -> dict[int, Pod]:
    """Order the pods of a JobSet by child job, then by index in it; by name where two share both or one lacks one."""
    pods = [pod for group in groups for pod in group]
    live = [(pod.job_index, pod.index) for pod in pods if not pod.is_finished]
    if len(set(live)) < len(live) or any(None in pair for pair in live):
        return _joined(groups, _by_name)
    # A pod that ended and its replacement are one place, and the replacement, which comes last here, has it.
    ranked = sorted(pods, key=lambda pod: (not pod.is_finished, _name_key(pod)))
    places = {(pod.job_index or 0, pod.index or 0): pod for pod in ranked}
    return dict(enumerate(places[pair] for pair in sorted(places)))


def _joined(groups: Groups, sort: Callable[[Iterable[Pod]], list[Pod]]) -> dict[int, Pod]:
    return dict(enumerate(pod for group in groups for pod in sort(group)))


def _name_key(pod: Pod) -> tuple[str, str, str]:
    return pod.name, pod.namespace or "", pod.uid or ""


def _by_name(pods: Iterable[Pod]) -> list[Pod]:
    return sorted(pods, key=_name_key)


def _by_trailing_number(pods: Iterable[Pod]) -> list[Pod]:
    matches = [(_NUMBERED.fullmatch(pod.name), pod) for pod in pods]
    if len({match and match[1] for match, _ in matches}) != 1 or matches[0][0] is None:
        return _by_name(pod for _, pod in matches)
    numbered = [(match[2].lstrip("0"), pod) for match, pod in matches if match]
    # Digits compare as numbers by their length, then as text, however many there are.
    return [pod for _, pod in sorted(numbered, key=lambda pair: (len(pair[0]), pair[0], *_name_key(pair[1])))]
