"""Do an asked and a present value of a setting mean the same? As ARM compares, null being missing.

Ids and locations: resource-provider contract (letter case never counts). Present values come from the service and may
be of any JSON type; a wrong type is a difference, never an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from azureml_k8s import _arm

#: The namespace that the service uses when none is given (published specification).
DEFAULT_NAMESPACE = "default"


def texts(asked: str, present: Any) -> bool:
    """Exactly equal; an empty text is a missing one."""
    return (asked or None) == (present or None)


def words(asked: str, present: Any) -> bool:
    """Equal without regard to letter case."""
    return isinstance(present, str) and asked.casefold() == present.casefold()


def ids(asked: str, present: Any) -> bool:
    """The same ARM resource."""
    return isinstance(present, str) and _arm.same_id(asked, present)


def namespaces(asked: str, present: Any) -> bool:
    """The same Kubernetes namespace; a missing one is the default."""
    return asked == (present or DEFAULT_NAMESPACE)


def identity_types(asked: str, present: Any) -> bool:
    """The same kinds of identity, in any order, case and spacing; the service has two spellings of the combination."""
    return isinstance(present, str) and _kinds(asked) == _kinds(present)


def _kinds(text: str) -> set[str]:
    return {part.strip().casefold() for part in text.split(",")}


def identities(asked: Mapping[str, Any], present: Any) -> bool:
    """The first asked identity is there, and none that was not asked: the service uses the first alone."""
    if not isinstance(present, Mapping):
        return not asked
    wanted = [_arm.id_key(one) for one in asked]
    there = {_arm.id_key(one) for one in present if isinstance(one, str)}
    return wanted[0] in there and there <= set(wanted) if wanted else not there


def tags(asked: Mapping[str, str], present: Any) -> bool:
    """Every asked tag is there (names without regard to case); further ones were not asked about."""
    if not isinstance(present, Mapping):
        return not asked
    there = {str(name).casefold(): value for name, value in present.items()}
    return all(there.get(name.casefold()) == value for name, value in asked.items())


def instance_types(asked: Mapping[str, Any], present: Any) -> bool:
    """Every asked instance type is there with equal settings; quantities may come back as numbers or texts."""
    if not isinstance(present, Mapping):
        return not asked
    there = {str(name).casefold(): _plain(value) for name, value in present.items()}
    return all(name.casefold() in there and there[name.casefold()] == _plain(value) for name, value in asked.items())


def _plain(value: Any) -> Any:
    """Without nulls and empty objects; numbers as texts."""
    if isinstance(value, Mapping):
        members = {str(key): _plain(member) for key, member in value.items()}
        return {key: member for key, member in members.items() if member is not None} or None
    return None if value is None else str(value)
