"""What exists on the emulated side of Azure: every resource by its id, and calls that add more."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from azureml_k8s.emulator import _bodies, _ids
from azureml_k8s.emulator._compute_body import settled_body
from azureml_k8s.emulator._http import Json
from azureml_k8s.emulator._shape import check_shape
from azureml_k8s.emulator._versions import VERSIONS

__all__ = ["PROVIDERS", "ROLES", "World"]

PROVIDERS = {
    "Microsoft.MachineLearningServices": ("workspaces", "workspaces/computes", "locations/computeOperationsStatus"),
    "Microsoft.KubernetesConfiguration": ("extensions",),
    "Microsoft.ContainerService": ("managedClusters",),
    "Microsoft.Kubernetes": ("connectedClusters",),
    "Microsoft.Relay": ("namespaces",),
    "Microsoft.ManagedIdentity": ("userAssignedIdentities",),
    "Microsoft.Authorization": ("roleAssignments",),
}
# The built-in roles that the attach of a workspace with a user-assigned identity needs; the same in every tenant.
ROLES = {
    "Owner": "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "Contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "Reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "Kubernetes Extension Contributor": "85cb6faf-e071-4c9b-8136-154b5a04f717",
    "Azure Kubernetes Service Cluster Admin": "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8",
}
_DEFAULT_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


class World:
    """Every resource that exists, as the JSON body that a GET of it answers.

    Ids are compared without regard to letter case and answered as they were given. The ``add_`` calls return the id of
    what they added; each takes ``changes``, which is laid over the usual body member by member, so that
    ``world.add_aks("aks2", properties={"powerState": {"code": "Stopped"}})`` is a stopped cluster.

    Args:
        subscription_id: The subscription that is meant where a call names none.
        resource_group: The group that is meant where a call names none.
        location: The region that is meant where a call names none.
    """

    def __init__(
        self,
        subscription_id: str = _DEFAULT_SUBSCRIPTION,
        resource_group: str = "rg",
        *,
        location: str = "westeurope",
    ) -> None:
        self.subscription_id, self.resource_group, self.location = subscription_id, resource_group, location
        self.workspace_name = "ws"
        self._resources: dict[str, Json] = {}
        self._count = 0
        self._order: dict[str, int] = {}
        self.add_subscription(subscription_id)
        self.add_resource_group(resource_group)

    def find(self, resource_id: str) -> Json | None:
        """Return the body of a resource, None if it does not exist. The body is the world's own, not a copy."""
        return self._resources.get(_ids.key(resource_id))

    def put(self, body: Json) -> str:
        """Add a resource by its whole body, or replace it; return its id.

        Raises:
            TypeError: It lacks a member that is needed to serve it, or has one of another type.
            KeyError: It has no id.
        """
        check_shape(body)
        key = _ids.key(str(body["id"]))
        if key not in self._order:
            self._count += 1
            self._order[key] = self._count
        self._resources[key] = body
        return str(body["id"])

    def remove(self, resource_id: str) -> None:
        """Remove a resource and everything under it; an absent one is no error."""
        key = _ids.key(resource_id)
        for one in [one for one in self._resources if one == key or one.startswith(f"{key}/")]:
            del self._resources[one], self._order[one]

    def children(self, collection: str) -> Iterator[tuple[int, Json]]:
        """Yield the resources directly in a collection, each with its place in the order of creation."""
        prefix = f"{_ids.key(collection)}/"
        for key in self._in_order(prefix):
            if "/" not in key[len(prefix) :]:
                yield self._order[key], self._resources[key]

    def under(self, scope: str, resource_type: str) -> Iterator[Json]:
        """Yield the resources of a type anywhere under a scope, in the order of creation."""
        wanted = resource_type.lower()
        for key in self._in_order(f"{_ids.key(scope)}/"):
            body = self._resources[key]
            if str(body.get("type", "")).lower() == wanted:
                yield body

    def add_subscription(self, subscription_id: str) -> str:
        """Add a subscription with every resource provider registered."""
        for namespace in PROVIDERS:
            self.set_provider(namespace, "Registered", subscription_id=subscription_id)
        return self.put(_bodies.subscription_body(subscription_id))

    def set_provider(self, namespace: str, state: str, *, subscription_id: str | None = None) -> str:
        """Set how far a resource provider is registered: "Registered", "NotRegistered" or "Registering"."""
        resource_id = _ids.provider_id(subscription_id or self.subscription_id, namespace)
        known = VERSIONS.get(namespace, VERSIONS["Microsoft.Resources"])
        return self.put(_bodies.provider_body(resource_id, state, PROVIDERS.get(namespace, ()), known))

    def add_resource_group(
        self, name: str, *, subscription_id: str | None = None, location: str | None = None, **changes: object
    ) -> str:
        """Add a resource group, and its subscription if that is new."""
        subscription = subscription_id or self.subscription_id
        if self.find(f"/subscriptions/{subscription}") is None:
            self.add_subscription(subscription)
        body = _bodies.group_body(_ids.group_id(subscription, name), location or self.location)
        return self.put(_bodies.merged(body, changes))

    def add_workspace(self, name: str, **place_and_changes: object) -> str:
        """Add a workspace with a system-assigned identity. Takes the arguments of `add_aks`."""
        return self._add("Microsoft.MachineLearningServices/workspaces", name, place_and_changes)

    def add_aks(
        self,
        name: str,
        *,
        extension: bool = True,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        location: str | None = None,
        **changes: object,
    ) -> str:
        """Add an AKS cluster, by default with the AzureML extension, and its group and subscription if they are new."""
        place = {"subscription_id": subscription_id, "resource_group": resource_group, "location": location}
        resource_id = self._add("Microsoft.ContainerService/managedClusters", name, {**place, **changes})
        if extension:
            self.add_extension(resource_id)
        return resource_id

    def add_arc(self, name: str, *, extension: bool = True, **place_and_changes: object) -> str:
        """Add an Arc-connected cluster. Takes the arguments of `add_aks`."""
        resource_id = self._add("Microsoft.Kubernetes/connectedClusters", name, place_and_changes)
        if extension:
            self.add_extension(resource_id)
        return resource_id

    def add_extension(self, cluster_id: str, name: str = "azureml", **changes: object) -> str:
        """Install the AzureML extension on a cluster, or replace the one of that name."""
        cluster, found = _ids.cluster_id(cluster_id), self.find(cluster_id)
        if cluster is None or found is None:
            raise ValueError(f"an extension needs a cluster that exists, not {cluster_id!r}")
        body = _bodies.extension_body(str(found["id"]), cluster, name, str(found["location"]))
        return self.put(_bodies.merged(body, changes))

    def add_identity(self, name: str, **place_and_changes: object) -> str:
        """Add a user-assigned identity. Takes the arguments of `add_aks`."""
        return self._add("Microsoft.ManagedIdentity/userAssignedIdentities", name, place_and_changes)

    def add_role_assignment(self, scope: str, principal_id: str, role: str) -> str:
        """Give a principal a role on a scope; ``role`` is a name of `ROLES` or the GUID of a role definition."""
        return self.put(_bodies.role_assignment_body(scope, principal_id, ROLES.get(role, role)))

    def add_compute(
        self, name: str, compute_type: str = "AmlCompute", *, workspace: str | None = None, **changes: object
    ) -> str:
        """Add a compute that has been there before, in state Succeeded unless ``changes`` says otherwise."""
        workspace_id = workspace or self.workspace_id
        found = self.find(workspace_id)
        if found is None:
            raise ValueError(f"a compute needs a workspace that exists, not {workspace_id!r}")
        return self.put(_bodies.merged(settled_body(found, name, compute_type), changes))

    @property
    def workspace_id(self) -> str:
        """The id of the workspace that is meant where a call names none."""
        return _ids.workspace_id(self.subscription_id, self.resource_group, self.workspace_name)

    def dump(self) -> Json:
        """Return what must be kept over a restart, as JSON."""
        names = ("subscription_id", "resource_group", "workspace_name", "location")
        in_order = sorted(self._resources, key=self._order.__getitem__)
        return {
            **{name: getattr(self, name) for name in names},
            "resources": [[self._order[key], self._resources[key]] for key in in_order],
        }

    @classmethod
    def load(cls, dumped: Json) -> World:
        """Return the world that `dump` described."""
        for name in ("subscription_id", "resource_group", "workspace_name", "location"):
            if not isinstance(dumped[name], str):
                raise TypeError(f"{name} is no text")
        world = cls(dumped["subscription_id"], dumped["resource_group"], location=dumped["location"])
        world.workspace_name = dumped["workspace_name"]
        world._resources, world._order = {}, {}
        for place, body in dumped["resources"]:
            world._count = int(place) - 1
            world.put(deepcopy(body))
        return world

    def _in_order(self, prefix: str) -> list[str]:
        return sorted((key for key in self._resources if key.startswith(prefix)), key=self._order.__getitem__)

    def _add(self, resource_type: str, name: str, arguments: dict[str, object]) -> str:
        place = {one: arguments.pop(one, None) for one in ("subscription_id", "resource_group", "location")}
        subscription = str(place["subscription_id"] or self.subscription_id)
        group, location = str(place["resource_group"] or self.resource_group), str(place["location"] or self.location)
        if self.find(_ids.group_id(subscription, group)) is None:
            self.add_resource_group(group, subscription_id=subscription, location=location)
        body = _BUILD[resource_type](_ids.child_id(subscription, group, resource_type, name), location)
        return self.put(_bodies.merged(body, arguments))


_BUILD = {
    "Microsoft.MachineLearningServices/workspaces": _bodies.workspace_body,
    "Microsoft.ContainerService/managedClusters": _bodies.aks_body,
    "Microsoft.Kubernetes/connectedClusters": _bodies.arc_body,
    "Microsoft.ManagedIdentity/userAssignedIdentities": _bodies.user_identity_body,
}
