"""The bodies of what a world holds beside computes: from subscriptions to the extensions of clusters.

Their members are those of recorded answers or of the published models; ids and people are placeholders.
"""

from __future__ import annotations

import uuid

from azureml_k8s.emulator._http import Json
from azureml_k8s.emulator._ids import ClusterId

__all__ = [
    "EXTENSION_TYPE",
    "TENANT",
    "aks_body",
    "arc_body",
    "extension_body",
    "group_body",
    "identity_block",
    "merged",
    "principal_of",
    "provider_body",
    "role_assignment_body",
    "subscription_body",
    "user_identity_body",
    "workspace_body",
]

TENANT = "00000000-0000-0000-0000-000000000000"
EXTENSION_TYPE = "microsoft.azureml.kubernetes"  # as the service spells it, whatever was installed
_TIME = "2024-07-24T08:34:22.006046Z"
_STRANGER = {"createdBy": "user@example.com", "createdByType": "User", "createdAt": _TIME}


def principal_of(resource_id: str) -> str:
    """Return the principal id of a resource's identity: always the same for the same id."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, resource_id.lower()))


def merged(base: Json, changes: Json) -> Json:
    """Return ``base`` with ``changes`` laid over it, objects member by member."""
    result = dict(base)
    for name, value in changes.items():
        old = result.get(name)
        result[name] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def identity_block(resource_id: str, *, kind: str = "SystemAssigned", user_ids: tuple[str, ...] = ()) -> Json:
    """Return the ``identity`` member of a resource."""
    block: Json = {"type": kind}
    if "SystemAssigned" in kind:
        block |= {"principalId": principal_of(resource_id), "tenantId": TENANT}
    if user_ids:
        block["userAssignedIdentities"] = {
            one: {"principalId": principal_of(one), "clientId": principal_of(f"{one}/client")} for one in user_ids
        }
    return block


def subscription_body(subscription: str) -> Json:
    """Return a subscription."""
    return {
        "id": f"/subscriptions/{subscription}",
        "subscriptionId": subscription,
        "tenantId": TENANT,
        "displayName": "Emulated subscription",
        "state": "Enabled",
        "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01"},
        "authorizationSource": "RoleBased",
    }


def group_body(resource_id: str, location: str) -> Json:
    """Return a resource group."""
    return {
        "id": resource_id,
        "name": resource_id.rsplit("/", 1)[-1],
        "type": "Microsoft.Resources/resourceGroups",
        "location": location,
        "tags": {},
        "properties": {"provisioningState": "Succeeded"},
    }


def provider_body(resource_id: str, state: str, types: tuple[str, ...], versions: tuple[str, ...]) -> Json:
    """Return the registration of a resource provider."""
    return {
        "id": resource_id,
        "namespace": resource_id.rsplit("/", 1)[-1],
        "registrationPolicy": "RegistrationRequired",
        "resourceTypes": [
            {"resourceType": one, "locations": [], "apiVersions": list(reversed(versions)), "capabilities": "None"}
            for one in types
        ],
        "registrationState": state,
    }


def workspace_body(resource_id: str, location: str) -> Json:
    """Return a workspace with a system-assigned identity; the discovery URL is filled in when it is read."""
    name, group = resource_id.rsplit("/", 1)[-1], resource_id.split("/providers/")[0]
    suffix = uuid.uuid5(uuid.NAMESPACE_URL, resource_id.lower())
    others = {
        "storageAccount": f"{group}/providers/Microsoft.Storage/storageAccounts/storage",
        "keyVault": f"{group}/providers/Microsoft.Keyvault/vaults/vault",
        "applicationInsights": f"{group}/providers/Microsoft.insights/components/insights",
        "containerRegistry": f"{group}/providers/Microsoft.ContainerRegistry/registries/registry",
    }
    properties: Json = {"friendlyName": name, "description": "", **others}
    properties |= {"hbiWorkspace": False, "tenantId": TENANT, "imageBuildCompute": None}
    properties |= {"provisioningState": "Succeeded", "workspaceId": str(suffix), "privateLinkCount": 0}
    properties |= {"publicNetworkAccess": "Enabled", "v1LegacyMode": False, "storageHnsEnabled": False}
    properties |= {"primaryUserAssignedIdentity": None, "managedNetwork": {"isolationMode": "Disabled"}}
    properties |= {"mlFlowTrackingUri": f"azureml://{location}.api.azureml.ms/mlflow/v1.0{resource_id}"}
    return {
        "id": resource_id,
        "name": name,
        "type": "Microsoft.MachineLearningServices/workspaces",
        "location": location,
        "tags": {},
        "etag": None,
        "properties": properties,
        "identity": identity_block(resource_id),
        "kind": "Default",
        "sku": {"name": "Basic", "tier": "Basic"},
        "systemData": {**_STRANGER, "lastModifiedAt": _TIME, "lastModifiedBy": "user@example.com"},
    }


def aks_body(resource_id: str, location: str) -> Json:
    """Return a running AKS cluster with a managed identity and local accounts."""
    name, group = resource_id.rsplit("/", 1)[-1], resource_id.split("/")[4]
    pool = {"name": "nodepool1", "count": 3, "vmSize": "Standard_DS3_v2", "provisioningState": "Succeeded"}
    pool |= {"powerState": {"code": "Running"}, "mode": "System", "osType": "Linux"}
    properties: Json = {"provisioningState": "Succeeded", "powerState": {"code": "Running"}}
    properties |= {"kubernetesVersion": "1.34", "currentKubernetesVersion": "1.34.1", "dnsPrefix": name}
    properties |= {"fqdn": f"{name}-00000000.hcp.{location}.azmk8s.io"}
    properties |= {"nodeResourceGroup": f"MC_{group}_{name}_{location}", "enableRBAC": True}
    properties |= {"disableLocalAccounts": False, "servicePrincipalProfile": {"clientId": "msi"}}
    properties |= {"aadProfile": {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": None}}
    properties |= {"apiServerAccessProfile": {"authorizedIPRanges": None, "enablePrivateCluster": False}}
    properties |= {"oidcIssuerProfile": {"enabled": False}, "agentPoolProfiles": [pool]}
    return {
        "id": resource_id,
        "name": name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        "location": location,
        "sku": {"name": "Base", "tier": "Free"},
        "identity": identity_block(resource_id),
        "properties": properties,
    }


def arc_body(resource_id: str, location: str) -> Json:
    """Return a connected Arc cluster."""
    properties: Json = {"agentPublicKeyCertificate": "", "provisioningState": "Succeeded"}
    properties |= {"connectivityStatus": "Connected", "lastConnectivityTime": "2024-07-24T08:42:01.088Z"}
    properties |= {"kubernetesVersion": "1.34.1", "totalNodeCount": 3, "totalCoreCount": 12, "agentVersion": "1.30.2"}
    properties |= {"distribution": "k3s", "infrastructure": "generic", "offering": "", "privateLinkState": "Disabled"}
    return {
        "id": resource_id,
        "name": resource_id.rsplit("/", 1)[-1],
        "type": "Microsoft.Kubernetes/connectedClusters",
        "location": location,
        "tags": {},
        "identity": identity_block(resource_id),
        "properties": properties,
    }


def extension_body(cluster_id: str, cluster: ClusterId, name: str, location: str) -> Json:
    """Return the AzureML extension of a cluster, installed for training and inference."""
    settings: Json = {"allowInsecureConnections": "True", "clusterId": cluster_id, "clusterPurpose": "DevTest"}
    settings |= {"cluster_name": cluster_id, "cluster_name_friendly": cluster.name, "location": location}
    settings |= {"enableInference": "True", "enableTraining": "True", "inferenceRouterHA": "false"}
    settings |= {"inferenceRouterServiceType": "LoadBalancer", "jobSchedulerLocation": location}
    settings |= {"relayserver.enabled": str(cluster.is_arc).lower(), "servicebus.enabled": str(cluster.is_arc).lower()}
    properties: Json = {"extensionType": EXTENSION_TYPE, "autoUpgradeMinorVersion": True, "releaseTrain": "stable"}
    properties |= {"version": None, "currentVersion": "1.1.61", "configurationSettings": settings}
    properties |= {"scope": {"cluster": {"releaseNamespace": "azureml"}, "namespace": None}}
    properties |= {"configurationProtectedSettings": {}, "provisioningState": "Succeeded", "statuses": []}
    properties |= {"errorInfo": None, "customLocationSettings": None, "packageUri": None, "isSystemExtension": False}
    resource_id = f"{cluster_id}/providers/Microsoft.KubernetesConfiguration/extensions/{name}"
    if not cluster.is_arc:
        properties["aksAssignedIdentity"] = identity_block(resource_id)
    return {
        "id": resource_id,
        "name": name,
        "type": "Microsoft.KubernetesConfiguration/extensions",
        "identity": identity_block(resource_id) if cluster.is_arc else None,
        "plan": None,
        "systemData": {**dict.fromkeys(_STRANGER), "createdAt": _TIME, "lastModifiedAt": _TIME},
        "properties": properties,
    }


def user_identity_body(resource_id: str, location: str) -> Json:
    """Return a user-assigned identity."""
    client = principal_of(f"{resource_id}/client")
    return {
        "id": resource_id,
        "name": resource_id.rsplit("/", 1)[-1],
        "type": "Microsoft.ManagedIdentity/userAssignedIdentities",
        "location": location,
        "tags": {},
        "properties": {"tenantId": TENANT, "principalId": principal_of(resource_id), "clientId": client},
    }


def role_assignment_body(scope: str, principal_id: str, role_id: str) -> Json:
    """Return the assignment of a role (the GUID of its definition) to a principal on a scope."""
    name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{scope}|{principal_id}|{role_id}".lower()))
    subscription = "/".join(scope.split("/")[:3])
    return {
        "id": f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}",
        "name": name,
        "type": "Microsoft.Authorization/roleAssignments",
        "properties": {
            "roleDefinitionId": f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{role_id}",
            "principalId": principal_id,
            "principalType": "ServicePrincipal",
            "scope": scope,
            "condition": None,
            "conditionVersion": None,
            "createdOn": _TIME,
            "updatedOn": _TIME,
        },
    }
