"""What is asked for when a cluster is attached, checked when made, so that nothing later checks again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn, TypedDict

from azureml_k8s import _arm, _wire
from azureml_k8s._secrets import get_logger
from azureml_k8s._transport import is_shallow
from azureml_k8s.compute.compute import ComputeTargetAttachConfiguration
from azureml_k8s.exceptions import UserErrorException

_log = get_logger(__name__)

_IDENTITY_TYPES = {"systemassigned": "SystemAssigned", "userassigned": "UserAssigned"}


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


_NOT_GIVEN = _NotGiven()


class MoreSettings(TypedDict, total=False):
    """Keyword-only settings of `KubernetesComputeAttachConfiguration`; see there."""

    default_instance_type: str | None
    instance_types: Mapping[str, Any] | None
    tags: Mapping[str, str] | None
    description: str | None


@dataclass(frozen=True, init=False, eq=True, repr=False)
class KubernetesComputeAttachConfiguration(ComputeTargetAttachConfiguration):
    """An AKS or Arc cluster, by ARM id, and how its workloads run. Checked when made, and frozen.

    None means "not asked": nothing is sent for it, and a compute that has it otherwise is no conflict.

    Args:
        resource_id: ARM id of the cluster, in any letter case:
            ``/subscriptions/../resourceGroups/../providers/Microsoft.ContainerService/managedClusters/..`` for AKS,
            ``/subscriptions/../resourceGroups/../providers/Microsoft.Kubernetes/connectedClusters/..`` for Arc.
        namespace: Kubernetes namespace for the workloads, a DNS label. It must exist: the service neither makes nor
            checks it. The service's default is ``default``.
        identity_type: SystemAssigned or UserAssigned, in any letter case.
        identity_ids: ARM ids of user-assigned identities, a list or one text (with commas, as ``az`` takes it); the
            service uses the first alone.
        default_instance_type: Name of the instance type of jobs that name none.
        instance_types: Instance types by name, as the service takes them: ``{"gpu": {"nodeSelector": {...},
            "resources": {"requests": {...}, "limits": {...}}}}``.
        tags: Tags of the compute.
        description: Free text.

    Raises:
        UserErrorException: A value is wrong; the message names the argument and what would be right.
        TypeError: A value is of a wrong type, or `aml_k8s_config` is given.
    """

    resource_id: str
    namespace: str | None
    identity_type: str | None
    identity_ids: list[str] | None
    default_instance_type: str | None
    instance_types: dict[str, Any] | None
    tags: dict[str, str] | None
    description: str | None

    __hash__ = None  # type: ignore[assignment]  # it holds lists and mappings

    def __init__(
        self,
        resource_id: str | None = None,
        namespace: str | None = None,
        identity_type: str | None = None,
        identity_ids: str | Iterable[str] | None = None,
        *,
        default_instance_type: str | None = None,
        instance_types: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        aml_k8s_config: object = _NOT_GIVEN,
    ) -> None:
        if aml_k8s_config is not _NOT_GIVEN:
            raise TypeError(
                "aml_k8s_config was an argument of a private preview; give namespace, default_instance_type and"
                " instance_types instead"
            )
        super().__init__("Kubernetes")
        kind = None if identity_type is None else _checked_identity_type(identity_type)
        vars(self).update(
            resource_id=_arm.check_cluster_id(resource_id),
            namespace=None if namespace is None else _arm.check_namespace(namespace),
            identity_type=kind,
            identity_ids=_checked_identity_ids(kind, identity_ids),
            default_instance_type=_text("default_instance_type", default_instance_type),
            instance_types=_checked_instance_types(instance_types, default_instance_type),
            tags=_checked_tags(tags),
            description=_text("description", description, blank_is_fine=True),
        )

    def __repr__(self) -> str:
        given = {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in _wire.masked(given).items())})"

    def validate_configuration(self) -> None:
        """Do nothing: a configuration with a wrong value can't be made. Kept for callers of azureml-core."""

    def to_dict(self) -> dict[str, Any]:
        """Return azureml-core's mapping (resourceId, namespace, identityType, identityIds), and what else was given."""
        values: dict[str, Any] = {
            "resourceId": self.resource_id,
            "namespace": self.namespace,
            "identityType": self.identity_type,
            "identityIds": self.identity_ids,
        }
        more = {
            "defaultInstanceType": self.default_instance_type,
            "instanceTypes": self.instance_types,
            "tags": self.tags,
            "description": self.description,
        }
        return copy.deepcopy(values | {key: value for key, value in more.items() if value is not None})

    def _asked(self) -> dict[_wire.Field[Any], Any]:
        """The fields that are asked for, with their values on the wire."""
        identities: dict[str, Any] | None = (
            None if self.identity_ids is None else {one: {} for one in self.identity_ids}
        )
        values: dict[_wire.Field[Any], Any] = {
            _wire.RESOURCE_ID: self.resource_id,
            _wire.NAMESPACE: self.namespace,
            _wire.IDENTITY_TYPE: self.identity_type,
            _wire.IDENTITIES: identities,
            _wire.DEFAULT_INSTANCE_TYPE: self.default_instance_type,
            _wire.INSTANCE_TYPES: self.instance_types,
            _wire.TAGS: self.tags,
            _wire.DESCRIPTION: self.description,
        }
        return {field: value for field, value in values.items() if value is not None}


@dataclass(frozen=True)
class Difference:
    """A setting that a compute has otherwise than asked.

    Attributes:
        field: The argument of `KubernetesCompute.attach_configuration`.
        asked: The value asked for.
        present: The value that the compute has; None where it has none.
    """

    field: str
    asked: Any
    present: Any

    def __str__(self) -> str:
        return f"{self.field}: {self.asked!r} is asked for, {self.present!r} is there"


#: Arguments whose name is not that of the attribute that shows them.
_ARGUMENTS = {_wire.RESOURCE_ID: "resource_id", _wire.IDENTITIES: "identity_ids"}


def differences(
    configuration: KubernetesComputeAttachConfiguration, body: Mapping[str, Any], *, with_instance_types: bool = True
) -> list[Difference]:
    """How the compute of `body` differs from what is asked; secrets masked."""
    aside = () if with_instance_types else (_wire.INSTANCE_TYPES, _wire.DEFAULT_INSTANCE_TYPE)
    asked = {field: value for field, value in configuration._asked().items() if field not in aside}
    found = []
    for field, value, present in _wire.differences(asked, body):
        if field is _wire.IDENTITIES:
            value, present = list(value), list(present) if isinstance(present, Mapping) else present
        found.append(Difference(_ARGUMENTS.get(field, field.name), _wire.masked(value), _wire.masked(present)))
    return found


def of_body(body: Mapping[str, Any]) -> KubernetesComputeAttachConfiguration | None:
    """The configuration that would attach the compute as it is; None where ours can't express it."""
    reading = _wire.Reading(body)
    identities = reading.value(_wire.IDENTITIES)
    try:
        return KubernetesComputeAttachConfiguration(
            reading.value(_wire.RESOURCE_ID),
            reading.value(_wire.NAMESPACE),
            reading.value(_wire.IDENTITY_TYPE),
            list(identities) if identities else None,
            default_instance_type=reading.value(_wire.DEFAULT_INSTANCE_TYPE) or None,
            instance_types=reading.value(_wire.INSTANCE_TYPES) or None,
            tags=reading.value(_wire.TAGS) or None,
            description=reading.value(_wire.DESCRIPTION) or None,
        )
    except (UserErrorException, TypeError) as error:
        _log.warning("the present settings can't be kept as a configuration: %s", error)
        return None


def _refuse(argument: str, sentence: str) -> NoReturn:
    raise UserErrorException(f"{argument}: {sentence}", target=argument)


def _text(argument: str, value: str | None, *, blank_is_fine: bool = False) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a text, not {type(value).__name__}")
    if not value.strip() and not blank_is_fine:
        _refuse(argument, "it is blank; leave it out, or give a name (is an environment variable unset?)")
    return value


def _checked_identity_type(value: str) -> str:
    _text("identity_type", value)
    kinds = [part.strip().replace("_", "").casefold() for part in value.split(",")]
    if len(kinds) > 1 and set(kinds) <= _IDENTITY_TYPES.keys():
        _refuse(
            "identity_type", "a Kubernetes compute has one kind of identity, SystemAssigned or UserAssigned, not both"
        )
    if len(kinds) > 1 or kinds[0] not in _IDENTITY_TYPES:
        _refuse("identity_type", f"{value!r} is neither SystemAssigned nor UserAssigned")
    return _IDENTITY_TYPES[kinds[0]]


def _checked_identity_ids(kind: str | None, value: str | Iterable[str] | None) -> list[str] | None:
    if value is None:
        if kind == "UserAssigned":
            _refuse("identity_ids", "UserAssigned needs the ARM id of the identity")
        return None
    if not isinstance(value, str | Iterable) or isinstance(value, bytes | Mapping):
        raise TypeError(f"identity_ids must be a list of ARM ids or one, not {type(value).__name__}")
    ids = [_arm.check_identity_id(one) for one in (value.split(",") if isinstance(value, str) else value)]
    if kind != "UserAssigned":
        _refuse("identity_ids", "they go with identity_type='UserAssigned' only")
    if not ids:
        _refuse("identity_ids", "the list is empty; UserAssigned needs the ARM id of the identity")
    if len(ids) > 1:
        _log.warning("identity_ids: the service uses the first of the %d identities only: %s", len(ids), ids[0])
    return ids


def _checked_instance_types(value: Mapping[str, Any] | None, default: str | None) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"instance_types must be a mapping of name to settings, not {type(value).__name__}")
    for name, settings in value.items():
        if not isinstance(name, str) or not isinstance(settings, Mapping):
            raise TypeError("instance_types must map each name, a text, to a mapping with nodeSelector and resources")
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"instance_types must hold what JSON can: {error}") from None
    if not is_shallow(copied):
        raise TypeError("instance_types must hold what JSON can, and is nested too deep")
    if default is not None and default.casefold() not in {name.casefold() for name in copied}:
        _refuse("default_instance_type", f"{default!r} is not one of instance_types: {', '.join(copied) or 'none'}")
    return copied


def _checked_tags(value: Mapping[str, str] | None) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for tag in value.items() for part in tag):
        raise TypeError("tags must map texts to texts")
    return dict(value)
