"""Fields of the service's JSON, each declared once; the door to msrest.

One table, `KUBERNETES_FIELDS`, says for each field of a Kubernetes compute where it stands on the wire, its msrest
type, whether the service alone writes it, whether it is a secret, and how an asked value is compared with a present
one. Reading, the PUT body, comparison, masking and the reference page all go by it. Source: the published
Microsoft.MachineLearningServices specification, 2024-04-01 (later versions have the same Kubernetes fields).

msrest is loaded when the first field is converted; name, id, type, state and location never need it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, overload

from azureml_k8s import _compare
from azureml_k8s._secrets import MASK, get_logger, mask_json

_log = get_logger(__name__)
T = TypeVar("T")

#: What JSON gives for each msrest type, by the first letter of the type's name: str, iso-8601, bool, object, mappings,
#: lists.
_JSON_KINDS: dict[str, type] = {"s": str, "i": str, "b": bool, "o": dict, "{": dict, "[": list}


class HasReading(Protocol):
    """Anything that holds a reading of a compute."""

    @property
    def _reading(self) -> Reading: ...


@dataclass(frozen=True, eq=False)
class Field(Generic[T]):
    """One field: a row of the table and, as a class attribute, the property that reads it.

    Attributes:
        name: Python attribute.
        path: Where it stands in the body, keys joined by dots.
        type: msrest's name of its type.
        doc: What it means.
        readonly: Only the service writes it; never sent, never compared.
        secret: Never shown, logged or serialized.
        same: Whether an asked and a present value mean the same; None: not compared.
    """

    name: str
    path: str
    type: str
    doc: str
    readonly: bool = False
    secret: bool = False
    same: Callable[[Any, Any], bool] | None = None

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # shown by help() for each attribute
        return self.doc

    @overload
    def __get__(self, holder: None, owner: object) -> Field[T]: ...
    @overload
    def __get__(self, holder: HasReading, owner: object) -> T | None: ...
    def __get__(self, holder: HasReading | None, owner: object) -> Field[T] | T | None:
        return self if holder is None else holder._reading.value(self)

    def __set__(self, holder: HasReading, value: object) -> None:
        raise AttributeError(f"{self.name} can't be set: it shows what the service holds")

    def raw(self, body: Mapping[str, Any]) -> Any:
        """The field's JSON as it stands in `body`, None where missing."""
        here: Any = body
        for key in self.path.split("."):
            if not isinstance(here, Mapping):
                return None
            here = here.get(key)
        return here


ID = Field[str]("id", "id", "str", "ARM id of the compute.", readonly=True)
NAME = Field[str]("name", "name", "str", "Name in the workspace.", readonly=True)
LOCATION = Field[str]("location", "location", "str", "Azure region of the record, the workspace's.")
TAGS = Field[dict[str, str]]("tags", "tags", "{str}", "Tags of the compute.", same=_compare.tags)
IDENTITY = Field[dict[str, Any]]("identity", "identity", "object", "The compute's identity as the service shows it.")
IDENTITY_TYPE = Field[str](
    "identity_type",
    "identity.type",
    "str",
    "SystemAssigned or UserAssigned; None without an identity.",
    same=_compare.identity_types,
)
IDENTITIES = Field[dict[str, Any]](
    "user_assigned_identities",
    "identity.userAssignedIdentities",
    "{object}",
    "User-assigned identities: a mapping of ARM id to principalId and clientId.",
    same=_compare.identities,
)
COMPUTE_TYPE = Field[str]("compute_type", "properties.computeType", "str", "Kubernetes, AmlCompute, AKS, ...")
STATE = Field[str]("provisioning_state", "properties.provisioningState", "str", "State of the record.", readonly=True)
ERRORS = Field[list[Any]](
    "provisioning_errors",
    "properties.provisioningErrors",
    "[object]",
    "Why provisioning failed, as the service wrote it; None when it did not.",
    readonly=True,
)
CREATED_ON = Field[datetime](
    "created_on", "properties.createdOn", "iso-8601", "When the compute was attached, with time zone.", readonly=True
)
MODIFIED_ON = Field[datetime](
    "modified_on", "properties.modifiedOn", "iso-8601", "When the record last changed, with time zone.", readonly=True
)
DESCRIPTION = Field[str]("description", "properties.description", "str", "Free text.", same=_compare.texts)
RESOURCE_ID = Field[str](
    "cluster_resource_id",
    "properties.resourceId",
    "str",
    "ARM id of the AKS or Arc cluster.",
    same=_compare.ids,
)
CLUSTER_LOCATION = Field[str]("cluster_location", "properties.computeLocation", "str", "Azure region of the compute.")
IS_ATTACHED = Field[bool](
    "is_attached", "properties.isAttachedCompute", "bool", "True for an attached cluster.", readonly=True
)
NAMESPACE = Field[str](
    "namespace",
    "properties.properties.namespace",
    "str",
    "Kubernetes namespace of the compute's jobs and endpoints.",
    same=_compare.namespaces,
)
DEFAULT_INSTANCE_TYPE = Field[str](
    "default_instance_type",
    "properties.properties.defaultInstanceType",
    "str",
    "Instance type of jobs that name none.",
    same=_compare.words,
)
INSTANCE_TYPES = Field[dict[str, Any]](
    "instance_types",
    "properties.properties.instanceTypes",
    "{object}",
    "Instance types: a mapping of name to nodeSelector and resources.",
    same=_compare.instance_types,
)
VC_NAME = Field[str]("vc_name", "properties.properties.vcName", "str", "Virtual cluster.", readonly=True)
EXTENSION_PRINCIPAL_ID = Field[str](
    "extension_principal_id",
    "properties.properties.extensionPrincipalId",
    "str",
    "Principal of the cluster extension's identity.",
    readonly=True,
)
RELEASE_TRAIN = Field[str](
    "extension_instance_release_train",
    "properties.properties.extensionInstanceReleaseTrain",
    "str",
    "Release train of the cluster extension.",
    readonly=True,
)
PUBLIC_IP = Field[str](
    "public_ip", "properties.properties.publicIp", "str", "Public address, rarely given.", readonly=True
)
RELAY = Field[str](
    "relay_connection_string",
    "properties.properties.relayConnectionString",
    "str",
    "Secret of the Azure Relay (Arc).",
    readonly=True,
    secret=True,
)
SERVICE_BUS = Field[str](
    "service_bus_connection_string",
    "properties.properties.serviceBusConnectionString",
    "str",
    "Secret of the service bus.",
    readonly=True,
    secret=True,
)

KUBERNETES_FIELDS: tuple[Field[Any], ...] = tuple(value for value in list(vars().values()) if isinstance(value, Field))


class Reading:
    """One body that the service sent, and its fields, each converted when first asked for."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self._values: dict[str, Any] = {}

    def text(self, field: Field[Any]) -> str | None:
        """A field's text straight from the body, without msrest."""
        raw = field.raw(self.body)
        return raw if isinstance(raw, str) else None

    def value(self, field: Field[T]) -> T | None:
        """The field's value, or None with one logged warning where its type is wrong."""
        if field.name not in self._values:
            self._values[field.name] = self._convert(field)
        value: T | None = copy.deepcopy(self._values[field.name])
        return value

    def _convert(self, field: Field[T]) -> T | None:
        raw = field.raw(self.body)
        if raw is None:
            return None
        value: Any = None
        if isinstance(raw, _JSON_KINDS[field.type[0]]):
            try:
                value = _deserializer().deserialize_data(raw, field.type)
            except Exception:  # whatever a converter of msrest raises: a field never breaks the object
                value = None
        if value is None:
            name = self.text(NAME)
            _log.warning("compute %s: %s is not of the expected type and reads as None", name, field.path)
        if isinstance(value, datetime) and value.tzinfo is None:
            value = value.replace(tzinfo=UTC)  # as the service means it; else two times may not be comparable
        converted: T | None = value
        return converted


@cache
def _deserializer() -> Any:
    from msrest.serialization import Deserializer

    made: Callable[[], Any] = Deserializer
    return made()


@cache
def _model() -> type:
    """The msrest model of a Kubernetes compute, made from the table."""
    from msrest.serialization import Model

    sent = [field for field in KUBERNETES_FIELDS if not field.readonly and field is not IDENTITY]

    make: Callable[..., None] = Model.__init__

    def init(self: Any, **values: Any) -> None:
        make(self, **values)
        for field in sent:
            setattr(self, field.name, values.get(field.name))

    attribute_map = {field.name: {"key": field.path, "type": field.type} for field in sent}
    return type("KubernetesComputeResource", (Model,), {"_attribute_map": attribute_map, "__init__": init})


def body_of(asked: Mapping[Field[Any], Any]) -> dict[str, Any]:
    """The JSON of a PUT that asks for just these values; ``properties.properties`` is always an object."""
    from msrest.serialization import Serializer

    model = _model()
    values = {field.name: value for field, value in asked.items()}
    make: Callable[..., Any] = Serializer
    body: dict[str, Any] = make({model.__name__: model}).body(model(**values), model.__name__)
    body.setdefault("properties", {}).setdefault("properties", {})
    return body


def differences(asked: Mapping[Field[Any], Any], body: Mapping[str, Any]) -> Iterator[tuple[Field[Any], Any, Any]]:
    """Each compared field whose present value means something else than the asked one: (field, asked, present)."""
    for field, value in asked.items():
        present = field.raw(body)
        if field.same is not None and not field.same(value, present):
            yield field, value, present


def masked(body: Any) -> Any:
    """A deep copy of a body without its secrets: those of the table, and every key that looks like one."""
    shown = mask_json(body)
    for field in KUBERNETES_FIELDS:
        if field.secret:
            _mask_path(shown, field.path.split("."))
    return shown


def _mask_path(here: Any, keys: list[str]) -> None:
    for key in keys[:-1]:
        here = here.get(key) if isinstance(here, dict) else None
    if isinstance(here, dict) and here.get(keys[-1]):
        here[keys[-1]] = MASK


def reference_rows() -> Iterator[tuple[str, str, str, str, str]]:
    """The table for people: attribute, wire path, type, notes, meaning."""
    for field in KUBERNETES_FIELDS:
        notes = [
            word
            for word, holds in (("read-only", field.readonly), ("secret", field.secret), ("compared", field.same))
            if holds
        ]
        yield field.name, field.path, field.type, ", ".join(notes), field.doc
