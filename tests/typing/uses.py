"""Uses that a type checker must accept, and what it must know about them. Checked, never run."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, assert_type

from azureml_k8s import (
    Cloud,
    ComputeTarget,
    ComputeTargetAttachConfiguration,
    ComputeTargetException,
    Difference,
    KubernetesCompute,
    KubernetesComputeAttachConfiguration,
    KubernetesComputeStatus,
    OperationTimeoutException,
    Workspace,
)
from azureml_k8s._operation import Progress
from azureml_k8s.authentication import ServicePrincipalAuthentication
from azureml_k8s.compute.kubernetescompute import KubernetesCompute as AtItsPath


def workspaces(credential: object) -> Workspace:
    """Every way to a workspace."""
    by_names = Workspace("s", "g", "w", credential, cloud="AzureCloud", api_version="2024-04-01")
    by_keyword = Workspace("s", "g", "w", credential=credential, cloud=Cloud.emulator("http://127.0.0.1:1"))
    principal = ServicePrincipalAuthentication("t", "i", "p")
    assert_type(Workspace.get("w", principal, "s", "g", read_timeout=60), Workspace)
    assert_type(Workspace.from_config(), Workspace)
    assert_type(Workspace.list("s"), dict[str, list[Workspace]])
    assert_type(by_names.location, str)
    assert_type(by_names.compute_targets, dict[str, ComputeTarget])
    with by_keyword as opened:
        assert_type(opened, Workspace)
    return by_names


def lifecycle(workspace: Workspace) -> None:
    """From the configuration to the detach."""
    configuration = KubernetesCompute.attach_configuration("id", "ns", "UserAssigned", ["id"], tags={"a": "b"})
    assert_type(configuration, KubernetesComputeAttachConfiguration)
    base: ComputeTargetAttachConfiguration = configuration
    target = ComputeTarget.attach(workspace, "k8s1", base, replace=True, replace_timeout=60)
    assert_type(target, KubernetesCompute)
    target.wait_for_completion(True)
    target.wait_for_completion(show_output=True, timeout=600, on_progress=print)
    target.wait_for_completion(on_progress=told)
    assert_type(target.get_status(), KubernetesComputeStatus)
    assert_type(KubernetesCompute.compare(workspace, "k8s1", configuration), list[Difference])
    target.detach()


def told(progress: Progress) -> None:
    """A listener."""
    assert_type(progress.elapsed_s, float)
    assert_type(progress.problem, str | None)


def attributes(target: KubernetesCompute, other: ComputeTarget) -> None:
    """What each attribute is."""
    assert_type(target.name, str)
    assert_type(target.type, Literal["Kubernetes"])
    assert_type(target.namespace, str | None)
    assert_type(target.identity_ids, list[str] | None)
    assert_type(target.instance_types, dict[str, Any])
    assert_type(target.created_on, datetime | None)
    assert_type(target.is_attached, bool | None)
    assert_type(target.tags, dict[str, str] | None)
    assert_type(other.type, str | None)
    assert_type(other.provisioning_state, str)
    assert_type(other.serialize(include_secrets=True), dict[str, Any])
    assert_type(other.get(), dict[str, Any])


def lookups(workspace: Workspace) -> None:
    """Reading, listing, deserializing; also at azureml-core's paths."""
    assert_type(ComputeTarget(workspace, "k8s1"), ComputeTarget)
    assert_type(AtItsPath(workspace, "k8s1"), KubernetesCompute)
    assert_type(ComputeTarget.list(workspace, compute_type="AmlCompute"), list[ComputeTarget])
    assert_type(KubernetesCompute.list(workspace), list[KubernetesCompute])
    assert_type(ComputeTarget.deserialize(workspace, {}), ComputeTarget)
    assert_type(KubernetesCompute.deserialize(workspace, {}), KubernetesCompute)


def status(given: KubernetesComputeStatus) -> str:
    """A status is a text."""
    assert_type(given.creation_time, datetime | None)
    return given.lower() + given


def errors(target: KubernetesCompute) -> float | None:
    """Facts are attributes."""
    try:
        target.wait_for_completion(timeout=5)
    except OperationTimeoutException as error:
        as_builtin: TimeoutError = error
        return error.elapsed_s if as_builtin else None
    except ComputeTargetException as error:
        assert_type(error.status_code, int | None)
        assert_type(error.codes, tuple[str, ...])
        assert_type(error.message, str)
    return None
