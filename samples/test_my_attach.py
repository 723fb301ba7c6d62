"""How to test a script that attaches a cluster: with the fixtures that azureml-k8s brings. Run it with pytest."""

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute, NotFoundException, OperationFailedException, Workspace


def ensure(name: str, cluster_id: str) -> str:
    """The script under test: nothing in it knows of the emulator."""
    target = ComputeTarget.attach(Workspace.from_config(), name, KubernetesCompute.attach_configuration(cluster_id))
    target.wait_for_completion(timeout=600)
    return target.provisioning_state


def test_it_attaches(azureml_emulator):
    assert ensure("k8s1", azureml_emulator.aks_id) == "Succeeded"
    assert [target.name for target in KubernetesCompute.list(azureml_emulator.workspace())] == ["k8s1"]


def test_it_does_not_attach_twice(azureml_emulator):
    ensure("k8s1", azureml_emulator.aks_id)
    ensure("k8s1", azureml_emulator.aks_id)
    assert [request.method for request in azureml_emulator.requests].count("PUT") == 1


def test_it_tells_why_the_service_failed(azureml_emulator):
    azureml_emulator.fail_next(code="ExtensionNotFound", message="the extension is not installed", operation=True)
    with pytest.raises(OperationFailedException, match="not installed"):
        ensure("k8s1", azureml_emulator.aks_id)


def test_nothing_is_there_at_first(azureml_emulator):
    with pytest.raises(NotFoundException):
        ComputeTarget(azureml_emulator.workspace(), "k8s1")
