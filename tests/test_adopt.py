"""Workspaces of azureml-core and clients of azure-ai-ml are taken wherever a workspace is."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from bodies import AKS, SUB, WS

from azureml_k8s import Cloud, ComputeTarget, KubernetesCompute, UserErrorException, Workspace
from azureml_k8s._adopt import adopt
from azureml_k8s._credentials import AccessToken


class Credential:
    """What both packages were signed in with."""

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        return AccessToken("t-1", 2**33)


class CoreWorkspace:
    """An azureml.core.Workspace, as far as it is looked at."""

    subscription_id, resource_group, name, location = SUB, "rg", "ws", "westeurope"

    def __init__(self, auth: object = None) -> None:
        self._auth = auth


class MLClient:
    """An azure.ai.ml.MLClient, as far as it is looked at."""

    subscription_id, resource_group_name = SUB, "rg"

    def __init__(self, credential: object = None, workspace_name: str | None = "ws") -> None:
        self._credential, self.workspace_name = credential, workspace_name


@pytest.mark.parametrize("kind", [CoreWorkspace, MLClient])
def test_names_and_credential_are_taken_over(no_network: None, kind: Any) -> None:
    """Names from public attributes, the credential from where the package keeps it."""
    credential = Credential()
    ours = adopt(kind(credential))
    assert ours.id == WS
    assert ours._credential is credential
    assert ours.cloud == Cloud.named("AzureCloud")


@pytest.mark.parametrize("kind", [CoreWorkspace, MLClient])
def test_without_a_credential_it_is_the_default_sign_in(no_network: None, kind: Any) -> None:
    """As for a workspace of ours."""
    assert adopt(kind())._credential is None


def test_ours_stays_itself(workspace: Workspace) -> None:
    """Nothing is wrapped."""
    assert adopt(workspace) is workspace


def test_the_same_workspace_is_adopted_once(no_network: None) -> None:
    """Its connections and token are shared; another one's are not."""
    theirs = CoreWorkspace(Credential())
    assert adopt(theirs) is adopt(theirs)
    assert adopt(CoreWorkspace(Credential())) is not adopt(theirs)


def test_an_adopted_workspace_does_not_keep_theirs_alive(no_network: None) -> None:
    """Long-lived services make many clients."""
    theirs = CoreWorkspace(Credential())
    adopt(theirs)
    alive = weakref.ref(theirs)
    del theirs
    gc.collect()
    assert alive() is None


class Unhashable(CoreWorkspace):
    """Compares by value."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "theirs",
    [Unhashable(), SimpleNamespace(subscription_id=SUB, resource_group="rg", name="ws")],
    ids=["unhashable", "namespace"],
)
def test_whatever_has_the_names_is_taken(no_network: None, theirs: object) -> None:
    """Also what can be no key of a dictionary."""
    assert adopt(theirs).id == WS


def test_the_cloud_is_what_both_packages_look_at(no_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """AZUREML_CURRENT_CLOUD."""
    monkeypatch.setenv("AZUREML_CURRENT_CLOUD", "AzureChinaCloud")
    assert adopt(MLClient(Credential())).cloud.name == "AzureChinaCloud"
    monkeypatch.setenv("AZUREML_CURRENT_CLOUD", "Mars")
    with pytest.raises(UserErrorException, match="AzureUSGovernment"):
        adopt(MLClient(Credential()))


def test_a_client_without_a_workspace_is_refused(no_network: None) -> None:
    """azure-ai-ml allows one; the error says what is missing."""
    with pytest.raises(UserErrorException, match="workspace_name"):
        adopt(MLClient(Credential(), workspace_name=None))


@pytest.mark.parametrize("kind", [CoreWorkspace, MLClient])
def test_it_is_taken_by_every_call(no_network: None, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    """Each passes its own check of the name, which shows that the workspace was accepted."""
    theirs = kind(Credential())
    configuration = KubernetesCompute.attach_configuration(AKS)
    for call in (
        lambda: ComputeTarget(theirs, ""),
        lambda: KubernetesCompute(theirs, ""),
        lambda: ComputeTarget.attach(theirs, "", configuration),
        lambda: KubernetesCompute.attach(theirs, "", configuration),
        lambda: KubernetesCompute.compare(theirs, "", configuration),
    ):
        with pytest.raises(UserErrorException, match="name"):
            call()
    body = {"id": f"{WS}/computes/k8s1", "properties": {"computeType": "Kubernetes"}}
    assert KubernetesCompute.deserialize(theirs, body).workspace.id == WS


def test_neither_package_is_imported() -> None:
    """Nor anything of Azure's."""
    code = (
        "import sys; from azureml_k8s._adopt import adopt; from types import SimpleNamespace as S;"
        f"adopt(S(subscription_id={SUB!r}, resource_group='rg', name='ws', _auth=None));"
        "assert not {'azureml', 'azure'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
