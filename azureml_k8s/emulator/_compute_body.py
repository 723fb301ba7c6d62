"""The body of a compute: what a request may ask, and what the service makes of it."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from azureml_k8s.emulator import _bodies, _ids
from azureml_k8s.emulator._http import Json

__all__ = ["COMPUTE_TYPES", "BodyError", "accepted_body", "check_body", "check_name", "settled_body"]

COMPUTE_TYPES = (
    "AKS",
    "AmlCompute",
    "ComputeInstance",
    "DataFactory",
    "DataLakeAnalytics",
    "Databricks",
    "HDInsight",
    "Kubernetes",
    "SynapseSpark",
    "VirtualMachine",
)
_OWNED = ("AmlCompute", "ComputeInstance")  # created by Azure ML itself; every other type is attached
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,30}[A-Za-z0-9]")
_IDENTITY = re.compile(
    r"/?subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+",
    re.IGNORECASE,
)
_RESOURCES = {"cpu": "0.6", "memory": "1536Mi", "nvidia.com/gpu": None}
_DEFAULT_TYPE = "defaultinstancetype"
_TIME = "2024-07-24T08:34:22.0060469+00:00"


class BodyError(Exception):
    """A request body that the provider refuses; the text is the service's message."""


def check_name(name: str) -> None:
    """Raise unless the name is one that a compute may have."""
    if not _NAME.fullmatch(name):
        raise BodyError(
            f"Compute name is invalid. '{name[:80]}' must be 2 to 32 characters long, start with a letter, end with a "
            "letter or digit, and hold only letters, digits and hyphens."
        )


def check_body(body: Json) -> None:
    """Raise unless the members of a PUT body have the types and values that the provider understands."""
    properties = _member(body, "properties", dict, required=True)
    kind = _member(properties, "computeType", str, required=True)
    if _canonical_type(kind) is None:
        raise BodyError(f"Unknown compute type '{kind[:80]}'. Known types: {', '.join(COMPUTE_TYPES)}.")
    for name, wanted in (("location", str), ("tags", dict), ("identity", dict)):
        _member(body, name, wanted)
    for name, wanted in (("description", str), ("resourceId", str), ("computeLocation", str), ("properties", dict)):
        _member(properties, name, wanted)
    _member(properties, "disableLocalAuth", bool)
    _check_tags(body.get("tags") or {})
    _check_identity(body.get("identity") or {})
    if _canonical_type(kind) == "Kubernetes":
        _check_kubernetes(properties)


def _check_kubernetes(properties: Json) -> None:
    if _ids.cluster_id(properties.get("resourceId")) is None:
        raise BodyError("resourceId must be the ARM id of an AKS cluster or of an Arc-connected cluster.")
    inner = properties.get("properties") or {}
    for name in ("namespace", "defaultInstanceType", "vcName", "extensionPrincipalId"):
        _member(inner, name, str)
    types = _member(inner, "instanceTypes", dict) or {}
    for name, one in types.items():
        if not isinstance(one, dict):
            raise BodyError(f"The instance type '{name[:80]}' must be an object.")
        _member(one, "nodeSelector", dict)
        _member(one, "resources", dict)
    default = inner.get("defaultInstanceType")
    if types and default and default.lower() not in {name.lower() for name in types}:
        raise BodyError(f"defaultInstanceType '{default[:80]}' is not one of the instance types.")


def _check_tags(tags: Json) -> None:
    for name, value in tags.items():
        if not isinstance(value, str) or len(name) > 512 or len(value) > 256:
            raise BodyError("Tags are texts: names of at most 512 characters, values of at most 256.")


def _check_identity(identity: Json) -> None:
    kinds = identity_kinds(identity)
    if not kinds <= {"None", "SystemAssigned", "UserAssigned"}:
        raise BodyError("identity.type must be None, SystemAssigned or UserAssigned.")
    if {"SystemAssigned", "UserAssigned"} <= kinds:
        raise BodyError("A Kubernetes compute has a system-assigned or a user-assigned identity, not both.")
    ids = _member(identity, "userAssignedIdentities", dict) or {}
    if ("UserAssigned" in kinds) != bool(ids):
        raise BodyError("identity.userAssignedIdentities goes with the type UserAssigned, and holds at least one id.")
    if any(not _IDENTITY.fullmatch(one) for one in ids):
        raise BodyError("identity.userAssignedIdentities holds ARM ids of user-assigned identities.")


def identity_kinds(identity: Json) -> set[str]:
    """Return the kinds that an ``identity`` names, in canonical spelling where they are known."""
    kind = identity.get("type")
    if identity and not isinstance(kind, str):
        raise BodyError("identity.type is required.")
    known = {one.lower(): one for one in ("None", "SystemAssigned", "UserAssigned")}
    return {known.get(one.strip().lower(), one) for one in str(kind or "").split(",") if one.strip()}


def accepted_body(asked: Json, *, resource_id: str, workspace: Json, stamp: str, old: Json | None) -> Json:
    """Return the resource that an accepted PUT makes, as its 201 shows it.

    Of a Kubernetes compute that exists, cluster and namespace stay as they are: only a detach and a new attach change
    them.
    """
    properties, kept = asked["properties"], (old or {}).get("properties", {})
    kind = _canonical_type(properties["computeType"]) or ""
    new: Json = {"createdOn": kept.get("createdOn", stamp), "modifiedOn": stamp}
    new |= {"disableLocalAuth": bool(properties.get("disableLocalAuth")), "description": properties.get("description")}
    new |= {"resourceId": properties.get("resourceId"), "computeType": kind, "provisioningState": "Creating"}
    new |= {"provisioningErrors": None, "provisioningWarnings": None, "isAttachedCompute": kind not in _OWNED}
    new["properties"] = deepcopy(properties.get("properties"))
    if kind == "Kubernetes":
        new["properties"] = _kubernetes_block(properties.get("properties") or {})
    if old is not None and kind == "Kubernetes":
        new["resourceId"] = kept.get("resourceId")
        new["properties"]["namespace"] = (kept.get("properties") or {}).get("namespace", "default")
    location = properties.get("computeLocation") or kept.get("computeLocation")
    if location:
        new["computeLocation"] = location
    body = _envelope(resource_id, asked.get("location") or workspace["location"])
    body["tags"] = deepcopy(asked.get("tags")) or ({} if old else None)
    _put_identity(body, asked.get("identity") or {})
    return {**body, "properties": new}


def settled_body(workspace: Json, name: str, compute_type: str) -> Json:
    """Return a compute that has long been there, in state Succeeded."""
    kind = _canonical_type(compute_type) or compute_type
    properties: Json = {"createdOn": _TIME, "modifiedOn": _TIME, "disableLocalAuth": False, "description": None}
    properties |= {"resourceId": None, "computeType": kind, "computeLocation": workspace["location"]}
    properties |= {"provisioningState": "Succeeded", "provisioningErrors": None, "provisioningWarnings": {}}
    inner = _kubernetes_block({}) if kind == "Kubernetes" else {}
    properties |= {"isAttachedCompute": kind not in _OWNED, "properties": inner}
    body = _envelope(f"{workspace['id']}/computes/{name}", workspace["location"])
    return {**body, "tags": {}, "properties": properties}


def _envelope(resource_id: str, location: str) -> Json:
    return {
        "id": resource_id,
        "name": resource_id.rsplit("/", 1)[-1],
        "type": "Microsoft.MachineLearningServices/workspaces/computes",
        "location": location,
        "tags": None,
    }


def _put_identity(body: Json, identity: Json) -> None:
    kinds = identity_kinds(identity) - {"None"}
    if kinds:
        ids = tuple("/" + one.lstrip("/") for one in identity.get("userAssignedIdentities") or {})
        body["identity"] = _bodies.identity_block(str(body["id"]), kind=kinds.pop(), user_ids=ids)


def _kubernetes_block(asked: Json) -> Json:
    types = deepcopy(asked.get("instanceTypes"))
    default = asked.get("defaultInstanceType")
    if not types:
        default = default or _DEFAULT_TYPE
        resources = {"requests": dict(_RESOURCES), "limits": dict(_RESOURCES)}
        types = {default: {"nodeSelector": None, "resources": resources}}
    return {
        "relayConnectionString": None,
        "serviceBusConnectionString": None,
        "extensionPrincipalId": asked.get("extensionPrincipalId"),
        "extensionInstanceReleaseTrain": asked.get("extensionInstanceReleaseTrain") or "stable",
        "vcName": asked.get("vcName"),
        "namespace": asked.get("namespace") or "default",
        "defaultInstanceType": default or next(iter(types)),
        "instanceTypes": types,
    }


def _canonical_type(kind: str) -> str | None:
    return next((one for one in COMPUTE_TYPES if one.lower() == kind.lower()), None)


def _member(body: Json, name: str, wanted: type, *, required: bool = False) -> Any:
    value = body.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, wanted):
        raise BodyError(
            f"The member '{name}' is required and must be {_KINDS[wanted]}."
            if required
            else f"The member '{name}' must be {_KINDS[wanted]}."
        )
    return value


_KINDS = {dict: "an object", str: "a text", bool: "true or false"}
