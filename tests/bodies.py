"""Bodies and ids that tests have in common, and what an emulator was asked, in few words."""

from __future__ import annotations

import copy
from typing import Any

from azureml_k8s.emulator import Emulator

SUB = "00000000-0000-0000-0000-000000000000"
SUB2 = "11111111-1111-1111-1111-111111111111"
GROUP = f"/subscriptions/{SUB}/resourceGroups/rg"
WS = f"{GROUP}/providers/Microsoft.MachineLearningServices/workspaces/ws"
AKS = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/aks1"
ARC = f"{GROUP}/providers/Microsoft.Kubernetes/connectedClusters/arc1"
UAI = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id1"
UAI2 = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id2"
#: A value for `compute` that takes the key away.
GONE = object()

_BASE: dict[str, Any] = {
    "id": f"{WS}/computes/k8s1",
    "name": "k8s1",
    "type": "Microsoft.MachineLearningServices/workspaces/computes",
    "location": "westeurope",
    "identity": {"type": "SystemAssigned", "principalId": SUB, "tenantId": SUB},
    "properties": {
        "computeType": "Kubernetes",
        "computeLocation": "westeurope",
        "provisioningState": "Succeeded",
        "provisioningErrors": None,
        "isAttachedCompute": True,
        "resourceId": AKS,
        "createdOn": "2024-01-01T00:00:00Z",
        "modifiedOn": "2024-01-01T00:00:00Z",
        "properties": {
            "namespace": "default",
            "defaultInstanceType": "defaultinstancetype",
            "instanceTypes": {},
        },
    },
}


def compute(name: str = "k8s1", *, top: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """An attached cluster as the service shows it, with members of ``properties`` (and of the top) replaced."""
    body = copy.deepcopy(_BASE)
    body["id"], body["name"] = f"{WS}/computes/{name}", name
    for here, changes in ((body, top or {}), (body["properties"], properties)):
        for key, value in changes.items():
            here[key] = value
            if value is GONE:
                del here[key]
    return body


def sent(emulator: Emulator) -> list[str]:
    """What the emulator was asked: ``GET computes/k8s1``, ``GET workspace``, ``GET operation``."""
    return [f"{request.method} {_target(request.segments)}" for request in emulator.requests]


def _target(segments: tuple[str, ...]) -> str:
    if "computeOperationsStatus" in segments:
        return "operation"
    below = segments[segments.index("workspaces") + 2 :] if "workspaces" in segments else segments
    return "/".join(below) or "workspace"


def put_body(emulator: Emulator) -> Any:
    """The body of the only PUT that was sent."""
    (request,) = [request for request in emulator.requests if request.method == "PUT"]
    return request.json
