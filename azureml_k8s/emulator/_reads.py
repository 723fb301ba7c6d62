"""Reads of everything that is not a compute: what clients look at before, around and after an attach."""

from __future__ import annotations

import re
from collections.abc import Iterable

from azureml_k8s.emulator import _bodies, _ids
from azureml_k8s.emulator._answers import arm_refusal, not_emulated
from azureml_k8s.emulator._call import Call
from azureml_k8s.emulator._http import Json, Reply, json_reply

__all__ = [
    "discovery",
    "extension",
    "extensions",
    "group",
    "groups",
    "metadata",
    "provider",
    "register",
    "resource",
    "resources_of_group",
    "resources_of_subscription",
    "role_assignments",
    "subscription",
    "subscriptions",
    "workspace",
    "workspaces_of_group",
    "workspaces_of_subscription",
]

_PRINCIPAL = re.compile(r"\s*principalId\s+eq\s+'?(?P<id>[^'\s]+)'?\s*", re.IGNORECASE)


def metadata(call: Call) -> Reply:
    """GET the endpoints of the cloud, by which azure-ai-ml and the Azure CLI are led to an emulator."""
    base = call.request.base
    login = {"loginEndpoint": f"{base}/login", "audiences": [f"{base}/"], "tenant": "common", "identityProvider": "AAD"}
    cloud = {
        "name": "Emulator",
        "portal": f"{base}/portal",
        "resourceManager": f"{base}/",
        "authentication": login,
        "suffixes": {"storage": "core.windows.net", "keyVaultDns": "vault.azure.net"},
        "galleryEndpoint": f"{base}/gallery",
        "graph": f"{base}/graph",
    }
    return json_reply(200, [cloud])


def discovery(call: Call) -> Reply:
    """GET the addresses of a region's services, where azureml-core looks for the reads of computes."""
    base = call.request.base
    names = ("api", "catalog", "experimentation", "history", "hyperdrive", "labeling", "modelmanagement", "pipelines")
    return json_reply(200, {**dict.fromkeys(names, base), "studio": f"{base}/studio"})


def subscription(call: Call) -> Reply:
    """GET a subscription."""
    return json_reply(200, call.world.find(f"/subscriptions/{call.params['subscription']}"))


def subscriptions(call: Call) -> Reply:
    """GET every subscription."""
    return _list([body for _, body in call.world.children("/subscriptions")])


def provider(call: Call) -> Reply:
    """GET how far a resource provider is registered; a registration that goes on moves with the reads."""
    body = _provider(call)
    if body["registrationState"] == "Registering":
        left = call.pace.registering.get(body["id"], 0) - 1
        call.pace.registering[body["id"]] = left
        body["registrationState"] = "Registering" if left > 0 else "Registered"
    return json_reply(200, body)


def register(call: Call) -> Reply:
    """POST the registration of a resource provider."""
    body = _provider(call)
    if body["registrationState"] != "Registered":
        body["registrationState"] = "Registering"
        call.pace.registering[body["id"]] = call.pace.polls
    return json_reply(200, body)


def group(call: Call) -> Reply:
    """GET or HEAD a resource group."""
    if call.request.method == "HEAD":
        return Reply(204)
    return json_reply(200, call.world.find(_ids.group_id(call.params["subscription"], call.params["group"])))


def groups(call: Call) -> Reply:
    """GET the resource groups of a subscription."""
    collection = f"/subscriptions/{call.params['subscription']}/resourceGroups"
    return _list([body for _, body in call.world.children(collection)])


def workspace(call: Call) -> Reply:
    """GET a workspace."""
    return json_reply(200, _with_discovery(call, call.workspace))


def workspaces_of_group(call: Call) -> Reply:
    """GET the workspaces of a resource group."""
    scope = _ids.group_id(call.params["subscription"], call.params["group"])
    return _workspaces(call, scope)


def workspaces_of_subscription(call: Call) -> Reply:
    """GET the workspaces of a subscription."""
    return _workspaces(call, f"/subscriptions/{call.params['subscription']}")


def resource(call: Call) -> Reply:
    """GET a cluster or an identity by its name."""
    resource_type = f"{call.params['namespace']}/{call.params['type']}"
    place = _ids.child_id(call.params["subscription"], call.params["group"], resource_type, call.params["name"])
    found = call.world.find(place)
    if found is None:
        raise call.not_found(f"{resource_type}/{call.params['name']}")
    return json_reply(200, found)


def resources_of_group(call: Call) -> Reply:
    """GET the clusters or identities of a resource group."""
    return _of_type(call, _ids.group_id(call.params["subscription"], call.params["group"]))


def resources_of_subscription(call: Call) -> Reply:
    """GET the clusters or identities of a subscription."""
    return _of_type(call, f"/subscriptions/{call.params['subscription']}")


def extensions(call: Call) -> Reply:
    """GET the extensions of a cluster."""
    return _list([body for _, body in call.world.children(_extensions_of(call))])


def extension(call: Call) -> Reply:
    """GET an extension by its name."""
    found = call.world.find(f"{_extensions_of(call)}/{call.params['extension']}")
    if found is None:
        raise call.not_found(f"Microsoft.KubernetesConfiguration/extensions/{call.params['extension']}")
    return json_reply(200, found)


def role_assignments(call: Call) -> Reply:
    """GET the role assignments on a scope and on what lies above it, filtered by principal."""
    scope = "/" + "/".join(call.request.segments[:-3])
    wanted = _PRINCIPAL.fullmatch(call.request.parameter("$filter") or "")
    if call.request.parameter("$filter") and wanted is None:
        raise not_emulated(call.request)
    found = call.world.under(f"/subscriptions/{call.params['subscription']}", "Microsoft.Authorization/roleAssignments")
    reached = [one for one in found if f"{_ids.key(scope)}/".startswith(f"{_ids.key(one['properties']['scope'])}/")]
    if wanted is not None:
        reached = [one for one in reached if one["properties"]["principalId"].lower() == wanted["id"].lower()]
    return _list(reached)


def _provider(call: Call) -> Json:
    namespace = call.params["namespace"]
    found = call.world.find(_ids.provider_id(call.params["subscription"], namespace))
    if found is None:
        text = f"The resource namespace '{namespace[:80]}' is invalid."
        raise arm_refusal(404, "InvalidResourceNamespace", text)
    return found


def _workspaces(call: Call, scope: str) -> Reply:
    found = call.world.under(scope, f"{_ids.ML}/workspaces")
    return _list([_with_discovery(call, one) for one in found])


def _with_discovery(call: Call, body: Json) -> Json:
    return _bodies.merged(body, {"properties": {"discoveryUrl": f"{call.request.base}/discovery"}})


def _of_type(call: Call, scope: str) -> Reply:
    return _list(call.world.under(scope, f"{call.params['namespace']}/{call.params['type']}"))


def _extensions_of(call: Call) -> str:
    resource_type = f"{call.params['namespace']}/{call.params['type']}"
    cluster = _ids.child_id(call.params["subscription"], call.params["group"], resource_type, call.params["name"])
    if call.world.find(cluster) is None:
        raise call.not_found(f"{resource_type}/{call.params['name']}")
    return f"{cluster}/providers/Microsoft.KubernetesConfiguration/extensions"


def _list(bodies: Iterable[Json]) -> Reply:
    return json_reply(200, {"value": list(bodies)})
