"""ARM ids and names: compared without regard to letter case, kept as they were given."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ClusterId", "child_id", "cluster_id", "group_id", "key", "provider_id", "same_region", "workspace_id"]

ML = "Microsoft.MachineLearningServices"
_CLUSTER = re.compile(
    r"/subscriptions/(?P<subscription>[^/]+)/resourceGroups/(?P<group>[^/]+)/providers/"
    r"(?P<kind>Microsoft\.ContainerService/managedClusters|Microsoft\.Kubernetes/connectedClusters)/(?P<name>[^/]+)",
    re.IGNORECASE,
)


def key(resource_id: str) -> str:
    """Return the form under which ids are compared: lower case, no doubled or trailing slash."""
    return "/" + "/".join(part for part in resource_id.lower().split("/") if part)


def group_id(subscription: str, group: str) -> str:
    """Return the id of a resource group."""
    return f"/subscriptions/{subscription}/resourceGroups/{group}"


def provider_id(subscription: str, namespace: str) -> str:
    """Return the id of a resource provider's registration."""
    return f"/subscriptions/{subscription}/providers/{namespace}"


def child_id(subscription: str, group: str, resource_type: str, name: str) -> str:
    """Return the id of a resource in a group."""
    return f"{group_id(subscription, group)}/providers/{resource_type}/{name}"


def workspace_id(subscription: str, group: str, name: str) -> str:
    """Return the id of a workspace."""
    return child_id(subscription, group, f"{ML}/workspaces", name)


@dataclass(frozen=True)
class ClusterId:
    """The parts of a cluster's id; ``is_arc`` tells the two kinds apart."""

    subscription: str
    group: str
    name: str
    is_arc: bool


def cluster_id(text: object) -> ClusterId | None:
    """Return the parts of an AKS or Arc cluster's id, None for any other value."""
    found = _CLUSTER.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    is_arc = found["kind"].lower().startswith("microsoft.kubernetes/")
    return ClusterId(found["subscription"], found["group"], found["name"], is_arc)


def same_region(one: str, other: str) -> bool:
    """Tell whether two spellings name one region: "West US" is "westus"."""
    return one.replace(" ", "").lower() == other.replace(" ", "").lower()
