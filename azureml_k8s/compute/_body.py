"""The service's body of a compute: reading it, checking it, showing it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from azureml_k8s import _arm, _failures, _states, _wire
from azureml_k8s._retry import Purse
from azureml_k8s._secrets import get_logger
from azureml_k8s.compute._status import KubernetesComputeStatus
from azureml_k8s.exceptions import NotFoundException, ServiceException, UnreachableException, UserErrorException

if TYPE_CHECKING:
    from azureml_k8s.workspace import Workspace

_log = get_logger(__name__)

#: What azureml-core's serialize always had; null where the service sends nothing.
_KEYS = ("id", "name", "tags", "location", "identity", "properties")
_PROPERTIES = (
    "computeType",
    "computeLocation",
    "description",
    "resourceId",
    "provisioningErrors",
    "provisioningState",
    "properties",
    "status",
)
_KUBERNETES_PROPERTIES = ("namespace", "defaultInstanceType", "instanceTypes")


def path(workspace: Workspace, name: str) -> str:
    """The compute's URL path; the name is checked."""
    return workspace._workspace_id.compute_path(_arm.check_part("name", name))


def read(workspace: Workspace, name: str, *, purse: Purse | None = None) -> Mapping[str, Any]:
    """One GET. `purse`: of the call that this is a part of.

    Raises:
        NotFoundException: There is no such compute.
        UnreachableException: The answer describes no compute.
    """
    with naming(name):
        body = workspace._session.get(path(workspace, name), purse=purse)
    if not is_compute(body):
        raise _failures.no_compute(name)
    checked: Mapping[str, Any] = body
    return checked


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Let a refusal, or an answer that is none, say which compute it is about, where the service does not."""
    try:
        yield
    except (ServiceException, UnreachableException) as error:
        error.target = error.target or name
        raise


def read_if_present(workspace: Workspace, name: str, *, purse: Purse | None = None) -> Mapping[str, Any] | None:
    """One GET, see `read`; None where there is no such compute."""
    try:
        return read(workspace, name, purse=purse)
    except NotFoundException:
        return None


def each(workspace: Workspace) -> Iterator[Mapping[str, Any]]:
    """Each compute of the list, one GET a page; an item that is no compute comes with a logged warning."""
    for item in workspace._session.pages(workspace._workspace_id.computes_path):
        body = item if isinstance(item, dict) else {}
        known = _wire.COMPUTE_TYPE.raw(body)
        if not is_compute(body) or not isinstance(known, str):
            _log.warning("an item of the list describes no compute: %.200s", _wire.masked(item))
        elif known.casefold() not in _KNOWN_TYPES:
            _log.warning("compute %s is of an unknown type: %s", body.get("name"), _states.word(known))
        yield body


#: The published specification's computeTypes.
_KNOWN_TYPES = frozenset(
    {
        "aks",
        "amlcompute",
        "computeinstance",
        "databricks",
        "datafactory",
        "datalakeanalytics",
        "hdinsight",
        "kubernetes",
        "synapsespark",
        "virtualmachine",
    }
)


def is_compute(body: object) -> bool:
    """Whether it is an object with properties."""
    return isinstance(body, dict) and isinstance(body.get("properties"), dict)


def name_of(body: Mapping[str, Any], asked: str | None) -> str:
    """The compute's name in the service's letter case; never another than was asked for, or a detach would stray."""
    found = _wire.NAME.raw(body)
    if isinstance(found, str) and found and (asked is None or found.casefold() == asked.casefold()):
        return found
    in_id = _arm.compute_name_of(body.get("id"))
    return asked or (in_id[1] if in_id else "")


def status(reading: _wire.Reading) -> KubernetesComputeStatus:
    """The status of a reading."""
    errors = _wire.ERRORS.raw(reading.body)
    return KubernetesComputeStatus(
        reading.text(_wire.CREATED_ON),
        reading.text(_wire.MODIFIED_ON),
        _wire.STATE.raw(reading.body),
        errors if isinstance(errors, list) else None,
    )


def serialized(body: Mapping[str, Any], *, include_secrets: bool) -> dict[str, Any]:
    """A copy with azureml-core's keys, null where missing."""
    shown: dict[str, Any] = copy.deepcopy(dict(body)) if include_secrets else _wire.masked(body)
    _add_nulls(shown, _KEYS)
    if shown["properties"] is None:
        shown["properties"] = {}
    _add_nulls(shown["properties"], _PROPERTIES)
    kind = _wire.COMPUTE_TYPE.raw(shown)
    if isinstance(kind, str) and kind.casefold() == "kubernetes":
        _add_nulls(shown["properties"]["properties"], _KUBERNETES_PROPERTIES)
    return shown


def _add_nulls(here: Any, keys: tuple[str, ...]) -> None:
    if isinstance(here, dict):
        for key in keys:
            here.setdefault(key, None)


def checked(workspace: Workspace, body: object) -> Mapping[str, Any]:
    """The body that a caller gives as a serialized compute of the workspace.

    Raises:
        TypeError: It is no mapping.
        UserErrorException: It is no compute, or another workspace's.
    """
    if not isinstance(body, Mapping):
        raise TypeError(f"object_dict must be a mapping, as serialize() gives it, not {type(body).__name__}")
    found = _arm.compute_name_of(body.get("id"))
    if not found:
        raise UserErrorException("object_dict: its id is not a compute's", target="object_dict")
    if not found[0].same(workspace._workspace_id):
        raise UserErrorException(
            f"object_dict: it is a compute of workspace {found[0].id}, not of {workspace.id}", target="object_dict"
        )
    name = body.get("name")
    if name is not None and _arm.check_part("name in object_dict", name).casefold() != found[1].casefold():
        raise UserErrorException(f"object_dict: its name {name!r} is not that of its id", target="object_dict")
    if not isinstance(body.get("properties"), Mapping):
        raise UserErrorException("object_dict: it has no object named properties", target="object_dict")
    return copy.deepcopy(dict(body))
