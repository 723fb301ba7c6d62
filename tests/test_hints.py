"""Hints: the right row for an error's codes and text."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import hints
from azureml_k8s.hints import Hint, all_hints, find

SCOPES = {"attach", "compute", "endpoint", "extension", "healthcheck", "job"}

# Every code and fragment that Microsoft's troubleshooting pages and the public threads name.
_NAMES = (
    "AuthorizationFailed LinkedAuthorizationFailed MissingSubscriptionRegistration RequestDisallowedByPolicy "
    "ScopeLocked Conflict ComputeTargetNotFound ResourceNotFound ComputeNotFound AADSTS700024 AADSTS7000215 "
    "AADSTS7000222 InvalidAuthenticationTokenTenant InternalServerError NoRegisteredProviderFound "
    "InvalidApiVersionParameter ExtensionNotFound GenericComputeError ComputeNotAccessible InvalidComputeInformation "
    "InvalidComputeNoKubernetesConfiguration GenericClusterError ClusterNotReachable ClusterNotFound "
    "ClusterServiceNotFound ClusterUnauthorized KubernetesUnaccessible RefreshExtensionIdentityNotSet E45004 "
    "ACRSecretError TokenRefreshFailed GetAADTokenFailed ACRAuthenticationChallengeFailed ACRTokenExchangeFailed "
    "ImagePullLoopBackOff ImageBuildFailure DeploymentCrashLoopBackOff KubernetesCrashLoopBackOff "
    "UserScriptInitFailed UserScriptImportError UserScriptFunctionNotFound NamespaceNotFound EndpointNotFound "
    "EndpointAlreadyExists ScoringFeUnhealthy ValidateScoringFailed InvalidDeploymentSpec PodUnschedulable OutOfQuota "
    "PodOutOfMemory InsufficientResources InferencingClientCallFailed InferencingClientCreateDeploymentFailed "
    "ResourceNotReady OperationCanceled SecretsInjectionError WorkspaceManagedNetworkNotReady NotSupported "
    "ExtensionOperationFailed InvalidAuthenticationToken E40000 E40001 E40002 E40003 E40004 E40005 E40006 E40007 "
    "E45001 E45002 E45003 E45005 E45006 E49999 "
)
CODES = _NAMES.split()

TEXTS = {
    "Compute name is invalid. It can include letters": "attach",
    "AKS role check failed for user assigned identity": "attach",
    "Failed to get static credential of the cluster": "attach",
    "please do not disable local accounts": "attach",
    "AzureML extension not installed on the cluster": "attach",
    "An internal server error occurred": "attach",
    "Relay resource id or connection string are not provided": "attach",
    "Workspace not found.": "attach",
    "Unknown compute target k8s1": "attach",
    "unsupported compute type": "attach",
    "Delete is not supported for KubernetesCompute object": "attach",
    "No registered resource provider found for location 'x' and API version 'y'": "attach",
    "Failed to get compute information": "compute",
    "kubeconfig is invalid": "compute",
    "identity sidecar failed. 137": "job",
    "Training feature is not enabled": "job",
    "this cluster does not support job type RegularJob": "job",
    "AzureML Kubernetes job failed. 9: invalid instance type": "job",
    "400 from the Azure ML token service": "job",
    "Failed to acquire CSI storage account credentials": "job",
    "Give either an account key or SAS token": "job",
    "Unable to upload project files to working directory: authorization failed": "job",
    "no volume plugin matched": "job",
    "the best-fit compute can only provide 1 CPU": "job",
    "Failed to find any PEM data in certificate input": "job",
    "cannot re-use a name that is still in use": "extension",
    "unable to create new content in namespace azureml because it is being terminated": "extension",
    "Chart path not found": "extension",
    "exists and cannot be imported: invalid ownership metadata": "extension",
    "Timed out or status not populated": "extension",
    "Failed pre-install: pod healthcheck failed": "extension",
    "Unable to get the status from the local CRD": "extension",
}


@pytest.mark.parametrize("code", CODES)
def test_every_known_code_has_a_hint(code: str) -> None:
    """A code that the service documents is found, in any letter case, and the hint is about that code."""
    found = find([code], scope="healthcheck" if code.startswith("E4") else None)
    if code == "KubernetesUnaccessible":
        assert find([code], "InvalidCertificate") != found
    assert found is not None
    assert found.code == code
    assert find([code.upper()], scope=found.scope) == find([code.lower()], scope=found.scope)


@pytest.mark.parametrize(("text", "scope"), TEXTS.items())
def test_every_known_fragment_has_a_hint(text: str, scope: str) -> None:
    """A sentence without any code is recognised, in any letter case and broken over lines."""
    found = find([], text)
    assert found is not None
    assert found.scope == scope
    assert find([], text.upper().replace(" ", "\n ")) == found


@pytest.mark.parametrize("hint", all_hints(), ids=lambda hint: f"{hint.scope}-{hint.code}-{hint.fragment}")
def test_every_row_is_complete_and_can_be_reached(hint: Hint) -> None:
    """A row has words to show, a lower-case fragment, and is what its own code and fragment give."""
    assert hint.scope in SCOPES
    assert hint.code or hint.fragment
    assert hint.fragment is None or hint.fragment == hint.fragment.lower().strip() != ""
    assert hint.cause.endswith(".")
    assert hint.remedy.endswith(".") or hint.remedy[-1] in "l)e"
    assert len(hint.remedy) > 15
    found = find([hint.code] if hint.code else [], hint.fragment or "", scope=hint.scope)
    assert found is not None
    assert (found.cause, found.remedy) == (hint.cause, hint.remedy)


def test_e45004_means_two_things() -> None:
    """The number that a health report and a job share is told apart by the text, or by what was asked for."""
    job = find(["E45004"], "E45004: Training feature is not enabled")
    report = find(["E45004"], "AZUREML_FE_ROLE_CONFLICT")
    assert job is not None
    assert report is not None
    assert (job.scope, report.scope) == ("job", "healthcheck")
    assert "enableTraining" in job.remedy
    assert "enableUpgrade" in report.remedy
    assert find(["E45004"], scope="job") != find(["E45004"], scope="healthcheck")
    assert "training" in report.cause  # without any text both meanings are told


def test_the_deepest_code_decides() -> None:
    """An inner code says more than the outer ones."""
    found = find(["MissingSubscriptionRegistration", "ClusterNotReachable"])
    assert found is not None
    assert found.code == "ClusterNotReachable"


@pytest.mark.parametrize("codes", [["InternalServerError"], ["ClusterNotReachable", "InternalServerError"]])
def test_internal_server_error_shadows_nothing(codes: list[str]) -> None:
    """A code that says nothing gives way to another code or to a telling fragment, whatever the scope."""
    found = find(codes, "An internal server error occurred: kubeconfig is invalid", scope="attach")
    assert found is not None
    assert found.scope == "compute"


def test_internal_server_error_alone_names_what_to_check() -> None:
    """AML-Kubernetes#155: a bare internal error leads to roles, subscription, extension and support."""
    found = find(["InternalServerError"], "An internal server error occurred. Please try again.")
    assert found is not None
    for word in ("roles", "subscriptions", "extension", "x-ms-request-id"):
        assert word in found.remedy


def test_a_code_within_the_text_counts() -> None:
    """azure-identity's errors have the Entra code only in their sentence; a longer number is another code."""
    found = find([], "ClientAssertionCredential failed: AADSTS700024: the assertion is not within its time")
    assert found is not None
    assert found.code == "AADSTS700024"
    assert find([], "AADSTS7000241: something else") is None


@pytest.mark.parametrize(
    ("resource", "wanted", "unwanted"),
    [
        ("workspaces/ws", "az ml workspace show", "attach the cluster"),
        ("workspaces/ws/computes/k8s1", "attach", "tenant"),
    ],
)
def test_an_absent_workspace_is_not_taken_for_an_absent_compute(resource: str, wanted: str, unwanted: str) -> None:
    """Resource Manager has one code for both, and names the resource: the remedy is about that one."""
    text = f"The Resource 'Microsoft.MachineLearningServices/{resource}' under resource group 'rg' was not found."
    found = find(["ResourceNotFound"], text, scope="attach")
    assert found is not None
    assert wanted in found.remedy
    assert unwanted not in found.remedy


@pytest.mark.parametrize("hint", [hint for hint in all_hints() if hint.scope in ("attach", "compute")])
def test_attach_again_is_said_with_how(hint: Hint) -> None:
    """A failed attach leaves a failed compute under the name: attaching again needs a detach, or replace=True."""
    if "then attach again" in hint.remedy.lower():
        assert "replace=True" in hint.remedy


def test_an_exit_code_has_to_end() -> None:
    """The exit code 9 is not the beginning of 95."""
    assert find([], "job failed. 95") is None


def test_common_words_count_only_in_their_scope() -> None:
    """Permission denied means SELinux in a job, and nothing in particular elsewhere."""
    assert find([], "permission denied", scope="attach") is None
    assert find([], "permission denied") is None
    found = find([], "/mnt/data: Permission denied", scope="job")
    assert found is not None
    assert "SELinux" in found.cause


def test_scope_prefers_and_does_not_exclude() -> None:
    """One code of two scopes follows the scope; a code of another scope is still found."""
    for scope in ("attach", "compute"):
        found = find(["ComputeNotFound"], scope=scope)
        assert found is not None
        assert found.scope == scope
    other = find(["ClusterUnauthorized"], scope="attach")
    assert other is not None
    assert other.scope == "compute"


def test_role_check_names_the_roles() -> None:
    """AML-Kubernetes#279: the refused identity gets the names of its roles and the command that grants them."""
    found = find(["BadRequest"], "AKS role check failed for user assigned identity", scope="attach")
    assert found is not None
    for word in ("Kubernetes Extension Contributor", "Azure Kubernetes Service Cluster Admin", "az role assignment"):
        assert word in found.remedy


def test_an_unsupported_version_names_the_argument() -> None:
    """The remedy says where to give another api-version."""
    found = find(["NoRegisteredProviderFound"], "The supported api-versions are '2024-04-01'.")
    assert found is not None
    assert "api_version=" in found.remedy
    assert "Workspace" in found.remedy
    assert "Cloud" in found.remedy


def test_unverified_rows_say_so() -> None:
    """What no document confirms is marked."""
    unverified = {hint.code for hint in all_hints() if not hint.verified}
    assert {
        "LinkedAuthorizationFailed",
        "RequestDisallowedByPolicy",
        "ScopeLocked",
        "Conflict",
        "AADSTS7000215",
        "AADSTS7000222",
        "InvalidAuthenticationTokenTenant",
        "InsufficientResources",
        "E45006",
    } <= unverified


def test_unknown_errors_have_no_hint() -> None:
    """Nothing is invented for what is not known."""
    assert find([]) is None
    assert find(["SomethingNew"], "the moon is full") is None


def test_hints_are_frozen_and_exported() -> None:
    """A hint cannot be changed, and the module names what is public."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        all_hints()[0].cause = "x"  # type: ignore[misc]
    assert sorted(hints.__all__) == ["Hint", "all_hints", "find"]


@given(st.lists(st.text() | st.sampled_from(CODES)), st.text() | st.sampled_from(sorted(TEXTS)), st.text() | st.none())
def test_find_takes_anything(codes: list[str], text: str, scope: str | None) -> None:
    """Whatever the codes, text and scope, a row of the table or None comes back, whatever the codes' letter case."""
    found = find(codes, text, scope=scope)
    assert found is None or found in all_hints()
    if any(code in CODES for code in codes):
        assert found is not None
