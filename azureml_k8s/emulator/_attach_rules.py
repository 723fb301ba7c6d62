"""What the service checks while it attaches a cluster, and the failure that it reports for each.

That the namespace exists is not among the checks: the service does not notice either.
"""

from __future__ import annotations

from azureml_k8s.emulator import _bodies, _ids
from azureml_k8s.emulator._http import Json
from azureml_k8s.emulator._operations import Failure
from azureml_k8s.emulator.world import ROLES, World

__all__ = ["verdict"]

_INTERNAL = Failure(
    "InternalServerError",
    "An internal server error occurred. Please try again. If the problem persists, contact support",
    status_code=500,
)


def verdict(world: World, compute: Json) -> Failure | None:
    """Return why the attach of a compute fails, None if it succeeds. Types other than Kubernetes succeed."""
    properties = compute["properties"]
    if properties["computeType"] != "Kubernetes":
        return None
    cluster_id = str(properties.get("resourceId"))
    cluster = _ids.cluster_id(cluster_id)
    found = world.find(cluster_id)
    if cluster is None or found is None:
        return Failure("ClusterNotFound", f"The cluster '{cluster_id}' was not found.", status_code=404)
    workspace_id = str(compute["id"]).rsplit("/computes/", 1)[0]
    if not cluster.is_arc and cluster.subscription.lower() != workspace_id.split("/")[2].lower():
        return _INTERNAL  # an AKS cluster of another subscription has to be connected through Arc
    return (
        _roles(world, workspace_id, found, is_arc=cluster.is_arc)
        or (_arc_health(found) if cluster.is_arc else _aks_health(found))
        or _extension(world, found, is_arc=cluster.is_arc)
        or _identity(world, compute)
    )


def _roles(world: World, workspace_id: str, cluster: Json, *, is_arc: bool) -> Failure | None:
    identity = (world.find(workspace_id) or {}).get("identity") or {}
    if "SystemAssigned" in str(identity.get("type")):
        return None  # the service gives these roles to a system-assigned identity by itself
    held = {
        str(one["properties"]["roleDefinitionId"]).rsplit("/", 1)[-1].lower()
        for one in _assignments(world, str(cluster["id"]), identity)
    }
    if ROLES["Owner"] in held:
        return None
    if not held & {ROLES["Reader"], ROLES["Contributor"]}:
        return Failure("BadRequest", "AKS role check failed for user assigned identity.")
    if not held & {ROLES["Kubernetes Extension Contributor"], ROLES["Contributor"]}:
        return _not_installed(cluster)
    return None if is_arc or ROLES["Azure Kubernetes Service Cluster Admin"] in held else _INTERNAL


def _assignments(world: World, scope: str, identity: Json) -> list[Json]:
    principals = {_bodies.principal_of(one) for one in identity.get("userAssignedIdentities") or {}}
    scopes = {_ids.key("/".join(scope.split("/")[:depth])) for depth in (3, 5, 9)}
    found = world.under(f"/subscriptions/{scope.split('/')[2]}", "Microsoft.Authorization/roleAssignments")
    return [
        one
        for one in found
        if one["properties"]["principalId"] in principals and _ids.key(one["properties"]["scope"]) in scopes
    ]


def _aks_health(cluster: Json) -> Failure | None:
    properties = cluster["properties"]
    if (properties.get("powerState") or {}).get("code") != "Running" or properties["provisioningState"] == "Failed":
        return Failure("ClusterNotReachable", f"The cluster '{cluster['name']}' cannot be reached.", status_code=503)
    if (properties.get("servicePrincipalProfile") or {}).get("clientId") != "msi":
        return Failure("BadRequest", "Clusters with a service principal are not supported; use a managed identity.")
    if properties.get("disableLocalAccounts"):
        text = "Failed to get static credential. Getting static credential is not allowed because this cluster is set "
        return Failure("BadRequest", text + "to disable local accounts.")
    return None


def _arc_health(cluster: Json) -> Failure | None:
    status = cluster["properties"].get("connectivityStatus")
    if status == "Connected":
        return None
    text = f"The cluster '{cluster['name']}' cannot be reached: its connectivity status is {status}."
    return Failure("ClusterNotReachable", text, status_code=503)


def _extension(world: World, cluster: Json, *, is_arc: bool) -> Failure | None:
    collection = f"{cluster['id']}/providers/Microsoft.KubernetesConfiguration/extensions"
    found = [body["properties"] for _, body in world.children(collection)]
    ours = [one for one in found if str(one.get("extensionType")).lower() == _bodies.EXTENSION_TYPE]
    if not any(one.get("provisioningState") == "Succeeded" for one in ours):
        return _not_installed(cluster)
    settings = ours[0].get("configurationSettings") or {}
    if is_arc and str(settings.get("relayserver.enabled")).lower() != "true":
        return Failure("BadRequest", "Relay resource id or connection string are not provided.")
    return None


def _not_installed(cluster: Json) -> Failure:
    text = f"The AzureML extension is not installed on the cluster '{cluster['name']}' (extension not installed)."
    return Failure("ExtensionNotInstalled", text)


def _identity(world: World, compute: Json) -> Failure | None:
    for one in (compute.get("identity") or {}).get("userAssignedIdentities") or {}:
        if world.find(one) is None:
            text = f"Identity operation for resource '{compute['id']}' failed: the resource '{one}' was not found."
            return Failure("FailedIdentityOperation", text)
    return None
