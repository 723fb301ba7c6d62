"""What the service's error codes mean, and what to do: for people, in plain words.

``find`` looks up an error's codes and text; ``all_hints`` gives the whole table. Nothing is sent. The table follows
Microsoft's troubleshooting pages for Kubernetes compute, its extension and online endpoints (learn.microsoft.com,
"Troubleshoot Kubernetes compute" and its neighbours) and public bug reports; what no document confirms has
``verified=False``.

>>> find(["ClusterNotReachable"]).scope
'compute'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from azureml_k8s.hints._attach import ATTACH
from azureml_k8s.hints._compute import COMPUTE
from azureml_k8s.hints._endpoint import ENDPOINT
from azureml_k8s.hints._extension import EXTENSION
from azureml_k8s.hints._healthcheck import HEALTHCHECK
from azureml_k8s.hints._hint import Hint
from azureml_k8s.hints._job import JOB

__all__ = ["Hint", "all_hints", "find"]

# Of equal matches the first is taken, so the tables stand in the order in which users of this library meet them.
_ALL: tuple[Hint, ...] = (*ATTACH, *COMPUTE, *EXTENSION, *ENDPOINT, *HEALTHCHECK, *JOB)

# Codes and words that say little: anything more particular in the same error goes before them.
_VAGUE_CODES = frozenset(
    (
        "badargument",
        "conflict",
        "e40000",
        "e49999",
        "extensionoperationfailed",
        "genericclustererror",
        "genericcomputeerror",
        "internalservererror",
        "operationcanceled",
        "resourcenotfound",
        "resourcenotready",
    )
)
_VAGUE_FRAGMENTS = frozenset(("internal server error", "operation returned an invalid status code"))
# Fragments that many other programs say too: they count only if the scope is asked for.
_COMMON_FRAGMENTS = frozenset(
    (
        "earlier operation",
        "ingress class",
        "ingressclass",
        "oomkilled",
        "permission denied",
        "timed out waiting for the",
    )
)
_WORD = re.compile(r"[A-Za-z0-9]{5,80}+")


def find(codes: Iterable[str], text: str = "", *, scope: str | None = None) -> Hint | None:
    """Return the hint that fits an error best, or None.

    A code that means several things is told apart by the text. Then the deepest code decides, then a code that stands
    in the text, then a fragment of the text, the longest first; codes and fragments that say little (such as
    InternalServerError) come last.

    Args:
        codes: Error codes, outermost first, as `ServiceReport.codes` has them; letter case does not count.
        text: Messages, details, whatever else is known, in one text.
        scope: One of `Hint.scope`: its hints are preferred, those of other scopes follow. Fragments that other
            programs use too, such as "permission denied", count only in their own scope.
    """
    deepest_first = [code.lower() for code in codes][::-1]
    lowered = " ".join(text.lower().split())
    of_scope = [hint for hint in _ALL if hint.scope == scope]
    pools = [of_scope, [hint for hint in _ALL if hint.fragment not in _COMMON_FRAGMENTS]]
    for vague in (False, True):
        for pool in pools:
            hints = [hint for hint in pool if _is_vague(hint) is vague]
            if found := next(_matches(hints, deepest_first, text, lowered), None):
                return found
    return None


def all_hints() -> tuple[Hint, ...]:
    """Return every hint, grouped by scope."""
    return _ALL


def _matches(hints: list[Hint], codes: list[str], text: str, lowered: str) -> Iterator[Hint]:
    fitting = [hint for hint in hints if hint.fragment is None or _contains(lowered, hint.fragment)]
    for code in codes:
        yield from (hint for hint in fitting if hint.fragment and _is_of(hint, code))
    for code in codes:
        yield from (hint for hint in fitting if not hint.fragment and _is_of(hint, code))
    words = set(_WORD.findall(text))
    in_text = [hint for hint in fitting if hint.code in words and not _is_vague(hint)]
    yield from sorted(in_text, key=lambda hint: hint.fragment is None)
    by_length = sorted(fitting, key=lambda hint: len(hint.fragment or ""), reverse=True)
    yield from (hint for hint in by_length if hint.fragment and hint.code is None)


def _contains(lowered: str, fragment: str) -> bool:
    """Tell whether the text has the fragment; one that ends in a number, such as an exit code, has to end there."""
    if fragment[-1].isdigit():
        return re.search(rf"{re.escape(fragment)}(?!\d)", lowered) is not None
    return fragment in lowered


def _is_of(hint: Hint, code: str) -> bool:
    return hint.code is not None and hint.code.lower() == code


def _is_vague(hint: Hint) -> bool:
    if hint.code is None:
        return hint.fragment in _VAGUE_FRAGMENTS
    return hint.fragment is None and hint.code.lower() in _VAGUE_CODES
