"""An attached cluster: what it shows, how it is detached."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from bodies import AKS, ARC, GONE, SUB, UAI, UAI2, compute, sent

from azureml_k8s import (
    ComputeTarget,
    ComputeTargetException,
    ForbiddenException,
    KubernetesCompute,
    Workspace,
)
from azureml_k8s.emulator import Emulator


def read(workspace: Workspace, emulator: Emulator, body: dict[str, Any]) -> KubernetesCompute:
    emulator.world.put(body)
    return _read(workspace, emulator)


def read_odd(workspace: Workspace, emulator: Emulator, body: dict[str, Any]) -> KubernetesCompute:
    """A body that the emulator's world would refuse."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", method="GET", every=1, body=body)
    return _read(workspace, emulator)


def _read(workspace: Workspace, emulator: Emulator) -> KubernetesCompute:
    target = ComputeTarget(workspace, "k8s1")
    assert isinstance(target, KubernetesCompute)
    emulator.requests.clear()
    return target


def test_azureml_cores_attributes(workspace: Workspace, emulator: Emulator) -> None:
    """Each is there, and none sends a request."""
    types = {"gpu": {"nodeSelector": None, "resources": {"limits": {"nvidia.com/gpu": 1}}}}
    inner = {"namespace": "ml", "defaultInstanceType": "gpu", "instanceTypes": types, "publicIp": "20.0.0.1"}
    target = read(workspace, emulator, compute(description="d", properties=inner, top={"tags": {"a": "1"}}))
    assert target.type == "Kubernetes"
    assert target.description == "d"
    assert target.cluster_resource_id == AKS
    assert target.cluster_location == "westeurope"
    assert target.is_attached is True
    assert target.namespace == "ml"
    assert target.default_instance_type == "gpu"
    assert target.instance_types == types
    assert target.public_ip == "20.0.0.1"
    assert target.vm_size == "NA"
    assert target.identity_type == "SystemAssigned"
    assert target.identity_ids is None
    assert target.identity == {"type": "SystemAssigned", "principalId": SUB, "tenantId": SUB}
    assert target.tags == {"a": "1"}
    assert emulator.requests == []


def test_identity_ids_are_a_list_as_in_the_configuration(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core gave a dictionary after a read; the raw mapping is in identity."""
    identity = {"type": "UserAssigned", "userAssignedIdentities": {UAI: {"clientId": SUB}, UAI2: {}}}
    target = read(workspace, emulator, compute(top={"identity": identity}))
    assert target.identity_ids == [UAI, UAI2]
    assert target.identity == identity


@pytest.mark.parametrize("identity", [None, GONE, {}, {"type": None}, "junk", {"userAssignedIdentities": [UAI]}])
def test_an_absent_or_strange_identity_reads_as_none(
    workspace: Workspace, emulator: Emulator, identity: object
) -> None:
    """azureml-core raised TypeError for null."""
    target = read_odd(workspace, emulator, compute(top={"identity": identity}))
    assert target.identity_type is None
    assert target.identity_ids is None


@pytest.mark.parametrize(
    "inner", [{}, None, {"namespace": "default", "somethingNew": 1}, GONE, {"instanceTypes": None}, [], "text"]
)
def test_a_missing_setting_reads_as_none(workspace: Workspace, emulator: Emulator, inner: object) -> None:
    """AML-Kubernetes#29, #11: never KeyError; unknown keys survive serialize and deserialize."""
    target = read_odd(workspace, emulator, compute(properties=inner))
    expected = inner.get("namespace") if isinstance(inner, dict) else None
    assert target.namespace == expected
    assert target.default_instance_type is None
    assert target.instance_types == {}
    assert target.public_ip is None
    shown = target.serialize()
    assert KubernetesCompute.deserialize(workspace, shown).serialize() == shown
    if isinstance(inner, dict):
        assert shown["properties"]["properties"].items() >= inner.items()


def test_nothing_but_an_object_of_properties_is_needed(workspace: Workspace, emulator: Emulator) -> None:
    """AML-Kubernetes#29: the whole kind of the fault, not one key."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", body={"properties": {"computeType": "Kubernetes"}})
    target = ComputeTarget(workspace, "k8s1")
    assert isinstance(target, KubernetesCompute)
    assert (target.name, target.id, target.location, target.provisioning_state) == ("k8s1", None, None, "Unknown")
    names = [name for name in dir(KubernetesCompute) if not name.startswith("_")]
    shown = {name: getattr(target, name) for name in names if not callable(getattr(KubernetesCompute, name))}
    assert {"namespace", "tags", "created_on", "identity", "is_attached", "description"} <= shown.keys()
    assert all(shown[name] is None for name in ("namespace", "tags", "created_on", "identity", "is_attached"))


@pytest.mark.parametrize("spelling", ["Kubernetes", "kubernetes", "KUBERNETES"])
def test_the_type_is_known_in_any_letter_case(workspace: Workspace, emulator: Emulator, spelling: str) -> None:
    """AML-Kubernetes#188: shown as Kubernetes, with namespace, cluster and identity."""
    body = compute(computeType=spelling, resourceId=ARC, properties={"namespace": "azureml-default"})
    target = read(workspace, emulator, body)
    assert target.type == "Kubernetes"
    assert target.namespace == "azureml-default"
    assert target.cluster_resource_id == ARC
    assert target.identity_type == "SystemAssigned"
    assert target.serialize()["properties"]["properties"]["namespace"] == "azureml-default"
    assert KubernetesCompute.list(workspace)[0].name == "k8s1"


def test_a_wrongly_typed_field_reads_as_none_with_one_warning(
    workspace: Workspace, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """The other fields are not touched by it, and serialize keeps what the service sent."""
    target = read(workspace, emulator, compute(description=["a"], isAttachedCompute="yes", createdOn=5))
    with caplog.at_level(logging.WARNING, "azureml_k8s"):
        for _ in range(3):
            assert target.description is None
            assert target.is_attached is None
            assert target.created_on is None
            assert target.namespace == "default"
    assert sorted(record.getMessage().split(": ")[1].split()[0] for record in caplog.records) == [
        "properties.createdOn",
        "properties.description",
        "properties.isAttachedCompute",
    ]
    assert target.serialize()["properties"]["description"] == ["a"]


def test_detach_sends_one_delete_with_the_action(workspace: Workspace, emulator: Emulator) -> None:
    """terraform-provider-azurerm#16640: Detach, never Delete; it returns at once, in state Deleting."""
    target = read(workspace, emulator, compute())
    target.detach()
    (request,) = emulator.requests
    assert request.method == "DELETE"
    assert request.query == {"api-version": "2024-04-01", "underlyingResourceAction": "Detach"}
    assert request.body == b""
    assert target.provisioning_state == "Deleting"
    assert target.serialize()["properties"]["provisioningState"] == "Deleting"


def test_detach_says_what_it_leaves_behind(
    workspace: Workspace, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """AML-Kubernetes#75: running jobs and objects in the cluster are not cleaned up."""
    target = read(workspace, emulator, compute())
    with caplog.at_level(logging.INFO, "azureml_k8s"):
        target.detach()
    assert "running jobs" in caplog.text
    assert "not cleaned up" in caplog.text


@pytest.mark.parametrize("status", [404, 204])
def test_a_compute_already_gone_is_detached(
    workspace: Workspace, emulator: Emulator, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """AML-Kubernetes#75: no error, and the wait returns."""
    target = read(workspace, emulator, compute())
    other = ComputeTarget(workspace, "k8s1")
    other.detach()
    other.wait_for_completion()
    if status == 404:
        emulator.faults.add(method="DELETE", status=404)
    with caplog.at_level(logging.INFO, "azureml_k8s"):
        target.detach()
    target.wait_for_completion()
    assert "already detached" in caplog.text


def test_a_refused_detach_leaves_the_target_as_it_was(workspace: Workspace, emulator: Emulator) -> None:
    """The state shown is the service's."""
    target = read(workspace, emulator, compute())
    emulator.faults.add(method="DELETE", status=403)
    with pytest.raises(ForbiddenException):
        target.detach()
    assert target.provisioning_state == "Succeeded"


def test_detach_twice_is_no_error(workspace: Workspace, emulator: Emulator) -> None:
    """A CI job may run it again after the first has ended."""
    emulator.polls = 1
    target = read(workspace, emulator, compute())
    target.detach()
    target.wait_for_completion()
    target.detach()
    target.wait_for_completion()


def test_delete_points_to_detach(workspace: Workspace, emulator: Emulator) -> None:
    """A customer's cluster is never deleted from here; azureml-core's sentence begins alike."""
    target = read(workspace, emulator, compute())
    with pytest.raises(ComputeTargetException, match=r"^Delete is not supported for KubernetesCompute") as caught:
        target.delete()
    assert "detach()" in (caught.value.remedy or "")
    assert emulator.requests == []


def test_after_a_detach_the_old_wish_is_forgotten(workspace: Workspace, emulator: Emulator) -> None:
    """The wait for the removal does not compare settings."""
    target = KubernetesCompute.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(AKS, "ml"))
    target.wait_for_completion()
    target.detach()
    target.wait_for_completion()
    assert sent(emulator)[-1] == "GET computes/k8s1"


def test_fields_are_documented() -> None:
    """help() shows each attribute's meaning."""
    assert KubernetesCompute.namespace.__doc__ == "Kubernetes namespace of the compute's jobs and endpoints."
    assert "AKS or Arc" in (ComputeTarget.cluster_resource_id.__doc__ or "")
