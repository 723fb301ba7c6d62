"""The members that a resource must have to be served: seeds, state files and callers may give anything."""

from __future__ import annotations

from azureml_k8s.emulator._http import Json

__all__ = ["check_shape"]

# Members that handlers read without asking, by the collection that a resource is in.
_TEXTS = {
    "computes": ("name", "location", "properties.computeType", "properties.provisioningState"),
    "connectedclusters": ("name", "location", "properties.provisioningState"),
    "extensions": ("properties.extensionType",),
    "managedclusters": ("name", "location", "properties.provisioningState"),
    "providers": ("registrationState",),
    "roleassignments": ("properties.roleDefinitionId", "properties.principalId", "properties.scope"),
    "workspaces": ("name", "location"),
}
# Objects, if they are there at all.
_OBJECTS = {
    "computes": ("tags", "properties.properties", "identity", "identity.userAssignedIdentities"),
    "extensions": ("properties.configurationSettings",),
    "managedclusters": ("properties.powerState", "properties.servicePrincipalProfile"),
    "workspaces": ("properties", "identity", "identity.userAssignedIdentities"),
}


def check_shape(body: Json) -> None:
    """Raise TypeError, which names the resource and the member, unless the body can be served; KeyError without id."""
    resource_id = body["id"]
    if not isinstance(resource_id, str):
        raise TypeError(f"the id {resource_id!r} is no text")
    for kind in {resource_id.lower().split("/")[-2:][0], str(body.get("type", "")).lower().rsplit("/", 1)[-1]}:
        for path in _TEXTS.get(kind, ()):
            if not isinstance(_member(body, path), str):
                raise TypeError(f"{resource_id}: the member {path} must be a text")
        for path in _OBJECTS.get(kind, ()):
            if not isinstance(_member(body, path), dict | None):
                raise TypeError(f"{resource_id}: the member {path} must be an object")


def _member(body: Json, path: str) -> object:
    found: object = body
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
