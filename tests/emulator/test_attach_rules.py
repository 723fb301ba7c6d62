"""What the service notices while it attaches, and with which code the operation fails."""

from __future__ import annotations

from typing import Any

import pytest

from azureml_k8s.emulator import Emulator, World

from .calls import SUBSCRIPTION, WORKSPACE, Caller, attach_body

OTHER = "11111111-1111-1111-1111-111111111111"


def outcome(caller: Caller, cluster: str, name: str = "k8s1") -> str:
    """Attach and return the error code of the operation, or its status; compute and operation must agree."""
    body = caller.wait(caller.put(name, cluster=cluster))
    properties = caller.compute("GET", name).json["properties"]
    assert properties["provisioningState"] == body["status"]
    if body["status"] == "Succeeded":
        assert properties["provisioningErrors"] is None
        return "Succeeded"
    assert set(body) == {"status", "error"}
    assert set(body["error"]) == {"code", "statusCode", "message", "details"}
    assert properties["provisioningErrors"] == [{"error": body["error"]}]
    return str(body["error"]["code"])


@pytest.mark.parametrize("kind", ["aks", "arc"])
def test_a_healthy_cluster_is_attached(caller: Caller, emulator: Emulator, kind: str) -> None:
    """Both kinds of cluster work, in any spelling of their id, more than once."""
    cluster = emulator.aks_id if kind == "aks" else emulator.arc_id
    assert outcome(caller, cluster, "one") == "Succeeded"
    assert outcome(caller, cluster.lower(), "two") == "Succeeded"


def test_a_namespace_that_does_not_exist_is_not_noticed(caller: Caller) -> None:
    """The service does not look into the cluster."""
    assert caller.attach(namespace="nowhere")["properties"]["provisioningState"] == "Succeeded"


def cases() -> list[tuple[str, str]]:
    """What is wrong with a cluster, and the code that tells."""
    return [
        ("absent", "ClusterNotFound"),
        ("no extension", "ExtensionNotInstalled"),
        ("another extension", "ExtensionNotInstalled"),
        ("extension still creating", "ExtensionNotInstalled"),
        ("extension failed", "ExtensionNotInstalled"),
        ("stopped", "ClusterNotReachable"),
        ("service principal", "BadRequest"),
        ("no local accounts", "BadRequest"),
        ("other subscription", "InternalServerError"),
        ("arc offline", "ClusterNotReachable"),
        ("arc without relay", "BadRequest"),
        ("arc of another subscription", "Succeeded"),
    ]


def make_cluster(world: World, what: str) -> str:
    """Add a cluster with that flaw."""
    extension: dict[str, dict[str, Any]] = {
        "another extension": {"extensionType": "microsoft.flux"},
        "extension still creating": {"provisioningState": "Creating"},
        "extension failed": {"provisioningState": "Failed"},
    }
    aks: dict[str, dict[str, Any]] = {
        "stopped": {"powerState": {"code": "Stopped"}},
        "service principal": {"servicePrincipalProfile": {"clientId": OTHER}},
        "no local accounts": {"disableLocalAccounts": True},
    }
    if what in extension:
        cluster = world.add_aks("bad", extension=False)
        world.add_extension(cluster, "azureml-ext", properties=extension[what])
        return cluster
    if what == "arc without relay":
        cluster = world.add_arc("bad", extension=False)
        world.add_extension(cluster, properties={"configurationSettings": {"relayserver.enabled": "False"}})
        return cluster
    if what == "arc offline":
        return world.add_arc("bad", properties={"connectivityStatus": "Offline"})
    if what == "arc of another subscription":
        return world.add_arc("bad", subscription_id=OTHER, resource_group="far")
    if what == "other subscription":
        return world.add_aks("bad", subscription_id=OTHER, resource_group="far")
    if what == "absent":
        return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.Kubernetes/connectedClusters/no"
    return world.add_aks("bad", extension=what != "no extension", properties=aks.get(what, {}))


@pytest.mark.parametrize(("what", "code"), cases(), ids=[what for what, _ in cases()])
def test_each_flaw_of_a_cluster_has_its_code(caller: Caller, emulator: Emulator, what: str, code: str) -> None:
    """The operation fails with the documented code, and the compute says the same."""
    assert outcome(caller, make_cluster(emulator.world, what)) == code


def test_an_identity_that_does_not_exist_fails_the_operation(caller: Caller, emulator: Emulator) -> None:
    """The compute's own identity is looked up."""
    missing = f"{emulator.identity_id}-missing"
    body = {
        **attach_body(emulator.aks_id),
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {missing: {}}},
    }
    ended = caller.wait(caller.compute("PUT", "k8s1", json_body=body))
    assert (ended["status"], ended["error"]["code"]) == ("Failed", "FailedIdentityOperation")


READER, EXTENSION, ADMIN = (
    "Reader",
    "Kubernetes Extension Contributor",
    "Azure Kubernetes Service Cluster Admin",
)


@pytest.mark.parametrize(
    ("roles", "code"),
    [
        ([], "BadRequest"),
        ([READER], "ExtensionNotInstalled"),
        ([READER, EXTENSION], "InternalServerError"),
        ([READER, EXTENSION, ADMIN], "Succeeded"),
        (["Owner"], "Succeeded"),
        (["Contributor", ADMIN], "Succeeded"),
    ],
)
def test_a_workspace_with_a_user_identity_needs_roles_on_the_cluster(
    caller: Caller, emulator: Emulator, roles: list[str], code: str
) -> None:
    """Each missing role shows as the documents say: role check, extension not installed, internal server error."""
    principal = use_user_identity(emulator)
    for role in roles:
        emulator.world.add_role_assignment(emulator.aks_id, principal, role)
    assert outcome(caller, emulator.aks_id) == code


def test_roles_are_inherited_from_the_group_and_not_from_other_clusters(caller: Caller, emulator: Emulator) -> None:
    """A role on the cluster's group counts, one on a neighbour does not."""
    principal = use_user_identity(emulator)
    neighbour = emulator.world.add_aks("aks2")
    emulator.world.add_role_assignment(neighbour, principal, "Owner")
    assert outcome(caller, emulator.aks_id) == "BadRequest"
    emulator.world.add_role_assignment(emulator.aks_id.split("/providers/")[0], principal, "Owner")
    assert outcome(caller, emulator.aks_id) == "Succeeded"


def use_user_identity(emulator: Emulator) -> str:
    """Give the workspace a user-assigned identity; return its principal."""
    identity = emulator.world.find(emulator.identity_id)
    workspace = emulator.world.find(WORKSPACE)
    assert identity is not None
    assert workspace is not None
    ids = {identity["id"]: {"principalId": identity["properties"]["principalId"]}}
    workspace["identity"] = {"type": "UserAssigned", "userAssignedIdentities": ids}
    return str(identity["properties"]["principalId"])


def test_a_failed_compute_can_be_put_again_with_its_cluster_only(caller: Caller, emulator: Emulator) -> None:
    """The same cluster is tried anew, another one is refused until the compute is detached."""
    cluster = emulator.world.add_aks("late", extension=False)
    assert outcome(caller, cluster) == "ExtensionNotInstalled"
    assert caller.put(cluster=emulator.aks_id).status == 400
    emulator.world.add_extension(cluster)
    assert outcome(caller, cluster) == "Succeeded"


def test_other_types_are_not_checked(caller: Caller) -> None:
    """An AmlCompute has no cluster; it is owned, not attached."""
    body = {"location": "westeurope", "properties": {"computeType": "amlcompute", "properties": {"vmSize": "D3"}}}
    assert caller.wait(caller.compute("PUT", "cpu", json_body=body))["status"] == "Succeeded"
    properties = caller.compute("GET", "cpu").json["properties"]
    assert (properties["computeType"], properties["isAttachedCompute"]) == ("AmlCompute", False)
