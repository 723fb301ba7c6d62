"""azure-ai-ml, unmodified, against the emulator over HTTPS."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute

from .conftest import Peer

VERSION = "2023-08-01-preview"  # of its compute operations


@pytest.fixture
def peer(make_peer: Callable[[str], Peer]) -> Peer:
    """azure-ai-ml."""
    return make_peer("v2")


def test_its_lifecycle(peer: Peer) -> None:
    """begin_attach, get, list, a command, begin_delete(Detach): what it found, and what it sent."""
    peer.emulator.polls = 2
    peer.emulator.world.add_compute("cpu", "AmlCompute", properties={"properties": {"vmSize": "D3"}})
    assert peer.run("lifecycle") == {
        "location": "westeurope",
        "state": "Succeeded",
        "namespace": "ns1",
        "cluster": peer.emulator.aks_id,
        "listed": [["cpu", "amlcompute"], ["k8s1", "kubernetes"]],
        "command_compute": "k8s1",
        "left": ["cpu"],
        "scopes": [f"{peer.server.url}/.default"],
    }
    assert peer.bodies() == [
        {
            "location": "westeurope",
            "properties": {
                "resourceId": peer.emulator.aks_id,
                "computeLocation": "westeurope",
                "properties": {"namespace": "ns1"},
                "computeType": "Kubernetes",
            },
        }
    ]
    sent = [one for one in peer.sent() if one[2] == VERSION]
    assert sent[:5] == [
        ("GET", "", VERSION),
        ("PUT", "/computes/k8s1", VERSION),
        ("GET", "computeOperationsStatus", VERSION),
        ("GET", "computeOperationsStatus", VERSION),
        ("GET", "/computes/k8s1", VERSION),
    ]
    deleted = [one for one in peer.emulator.requests if one.method == "DELETE"]
    assert [one.parameter("underlyingResourceAction") for one in deleted] == ["Detach"]
    assert ("GET", "metadata", "2019-05-01") in peer.sent()


def test_an_identity_and_all_it_can_say(peer: Peer) -> None:
    """Identity, tags, description and instance types arrive and come back."""
    identity = peer.emulator.identity_id
    assert peer.run("identity") == {
        "type": "user_assigned",
        "ids": [identity],
        "tags": {"a": "b"},
        "description": "d",
    }
    assert peer.bodies() == [
        {
            "location": "westeurope",
            "properties": {
                "resourceId": peer.emulator.arc_id,
                "computeLocation": "westeurope",
                "description": "d",
                "properties": {
                    "instanceTypes": {"cpu": {"resources": {"limits": {"cpu": "1"}}}},
                    "namespace": "ns1",
                },
                "computeType": "Kubernetes",
            },
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}},
            "tags": {"a": "b"},
        }
    ]


def test_its_errors(peer: Peer) -> None:
    """An absent compute, a failed attach and a refusal are its own exceptions, and it can read the messages."""
    found = peer.run("failure")
    assert found["absent"] == 404
    assert "ExtensionNotInstalled" in found["failed"]
    assert found["refused"][0] == 400
    assert found["state"] == "Failed"
    assert found["errors"] == "ExtensionNotInstalled"


def test_it_takes_over_what_we_attached(peer: Peer) -> None:
    """Our target's name is good for its commands, and it can detach the target."""
    workspace = peer.workspace()
    configuration = KubernetesCompute.attach_configuration(peer.emulator.arc_id, "team")
    target = ComputeTarget.attach(workspace, "ours", configuration)
    target.wait_for_completion(timeout=60)
    assert peer.run("shared") == {"namespace": "team", "command_compute": target.name}
    assert "ours" not in workspace.compute_targets
    workspace.close()
