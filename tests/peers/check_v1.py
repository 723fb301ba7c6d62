"""azureml-core, unmodified, against the emulator over HTTPS."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute

from .conftest import Peer


@pytest.fixture
def peer(make_peer: Callable[[str], Peer]) -> Peer:
    """azureml-core."""
    return make_peer("v1")


def test_its_lifecycle(peer: Peer) -> None:
    """Attach, wait, list, get_status, a run configuration, detach: what it found, and what it sent."""
    peer.emulator.polls = 2
    assert peer.run("lifecycle") == {
        "location": "westeurope",
        "first_state": "Creating",
        "status": "Succeeded",
        "namespace": "ns1",
        "cluster": peer.emulator.aks_id,
        "listed": [["k8s1", "Kubernetes"]],
        "by_name": ["k8s1"],
        "class": "KubernetesCompute",
        "run_target": "k8s1",
        "left": [],
    }
    assert peer.bodies() == [
        {
            "location": "westeurope",
            "properties": {
                "computeType": "Kubernetes",
                "description": "",
                "resourceId": peer.emulator.aks_id,
                "properties": {"namespace": "ns1"},
                "namespace": "ns1",
                "identityType": None,
                "identityIds": None,
            },
        }
    ]
    sent = peer.sent()
    assert ("PUT", "/computes/k8s1", "2020-02-02") in sent
    assert ("GET", "rp:/computes/k8s1", "2020-02-02") in sent
    assert ("GET", "rp:/computes", "2020-02-02") in sent
    assert [end for _, end, version in sent if version == "2020-02-02"].count("computeOperationsStatus") >= 2
    deleted = [one for one in peer.emulator.requests if one.method == "DELETE"]
    assert [one.parameter("underlyingResourceAction") for one in deleted] == ["detach"]


def test_an_identity_and_no_namespace(peer: Peer) -> None:
    """It sends a null namespace; the identity comes back under the id that it gave."""
    identity = peer.emulator.identity_id
    assert peer.run("identity") == {"type": "UserAssigned", "ids": [identity], "serialized": "k8s2"}
    body = peer.bodies()[0]
    assert body["identity"] == {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}}
    assert body["properties"]["properties"] == {"namespace": None}
    compute = peer.emulator.world.find(f"{peer.emulator.world.workspace_id}/computes/k8s2")
    assert compute is not None
    assert compute["properties"]["properties"]["namespace"] == "default"


def test_its_errors(peer: Peer) -> None:
    """An absent compute is its ComputeTargetNotFound; a failed attach shows the service's message."""
    found = peer.run("failure")
    assert found["absent"].startswith("ComputeTargetNotFound")
    assert "extension not installed" in found["failed"]
    assert found["state"] == "Failed"
    assert found["errors"][0]["error"]["code"] == "ExtensionNotInstalled"


def test_it_takes_over_what_we_attached(peer: Peer) -> None:
    """Our target's name is good for its run configuration, and it can detach the target."""
    workspace = peer.workspace()
    configuration = KubernetesCompute.attach_configuration(peer.emulator.arc_id, "team")
    target = ComputeTarget.attach(workspace, "ours", configuration)
    target.wait_for_completion(timeout=60)
    assert peer.run("shared") == {"namespace": "team", "run_target": target.name}
    assert "ours" not in workspace.compute_targets
    workspace.close()
