"""Attaching a cluster: what is read, what is sent, what is refused, and what a second run does."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from bodies import AKS, ARC, GONE, SUB, SUB2, UAI, WS, compute, put_body, sent

from azureml_k8s import (
    ComputeTarget,
    ComputeTargetException,
    ConflictException,
    Difference,
    ForbiddenException,
    KubernetesCompute,
    NotFoundException,
    OperationFailedException,
    ProjectSystemException,
    ServiceException,
    Workspace,
)
from azureml_k8s.emulator import Emulator, FakeClock, Reply

configuration = KubernetesCompute.attach_configuration
READ_AND_PUT = ["GET computes/k8s1", "GET workspace", "PUT computes/k8s1"]


def attach(workspace: Workspace, *, replace: bool = False, **asked: Any) -> KubernetesCompute:
    return ComputeTarget.attach(workspace, "k8s1", configuration(**{"resource_id": AKS, **asked}), replace=replace)


def test_an_attach_reads_first_and_returns_while_the_service_works(workspace: Workspace, emulator: Emulator) -> None:
    """One GET of the name, one of the workspace for its location, one PUT; the target is Creating."""
    target = attach(workspace)
    assert sent(emulator) == READ_AND_PUT
    assert type(target) is KubernetesCompute
    assert target.provisioning_state == "Creating"
    assert target.name == "k8s1"


def test_a_known_location_saves_the_read_of_the_workspace(workspace: Workspace, emulator: Emulator) -> None:
    """The location is read once, on first need."""
    assert workspace.location == "westeurope"
    attach(workspace)
    ComputeTarget.attach(workspace, "k8s2", configuration(ARC))
    assert sent(emulator).count("GET workspace") == 1


def test_the_class_of_the_clusters_attaches_too(workspace: Workspace, emulator: Emulator) -> None:
    """KubernetesCompute.attach is the same."""
    KubernetesCompute.attach(workspace, "k8s1", configuration(ARC)).wait_for_completion()
    assert ComputeTarget(workspace, "k8s1").cluster_resource_id == ARC


def test_the_least_put_holds_nothing_stray(workspace: Workspace, emulator: Emulator) -> None:
    """Location, type, cluster, and an empty settings object; nothing that was not asked for."""
    attach(workspace)
    assert put_body(emulator) == {
        "location": "westeurope",
        "properties": {"computeType": "Kubernetes", "resourceId": AKS, "properties": {}},
    }


def test_the_fullest_put_holds_just_what_was_asked(workspace: Workspace, emulator: Emulator) -> None:
    """Each setting stands where the service expects it, numbers and nulls of instance types as they were given."""
    gpu = {"nodeSelector": {"pool": "gpu"}, "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": None}}}
    attach(
        workspace,
        resource_id=ARC,
        namespace="ml",
        identity_type="userassigned",
        identity_ids=[UAI.removeprefix("/")],
        default_instance_type="gpu",
        instance_types={"gpu": gpu},
        tags={"team.name": "vision"},
        description="the lab's cluster",
    )
    assert put_body(emulator) == {
        "location": "westeurope",
        "tags": {"team.name": "vision"},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {UAI: {}}},
        "properties": {
            "computeType": "Kubernetes",
            "resourceId": ARC,
            "description": "the lab's cluster",
            "properties": {"namespace": "ml", "defaultInstanceType": "gpu", "instanceTypes": {"gpu": gpu}},
        },
    }


def test_a_system_identity_is_sent_by_its_type_alone(workspace: Workspace, emulator: Emulator) -> None:
    """No map of identities goes with SystemAssigned."""
    attach(workspace, identity_type="SYSTEMASSIGNED")
    assert put_body(emulator)["identity"] == {"type": "SystemAssigned"}


def test_the_put_carries_exactly_one_version_and_the_workspaces_path(workspace: Workspace, emulator: Emulator) -> None:
    """The request goes to the compute's own path with the cloud's api-version, and nothing else in the query."""
    attach(workspace)
    request = emulator.requests[-1]
    assert request.path == f"{WS}/computes/k8s1"
    assert request.query == {"api-version": "2024-04-01"}
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == "Bearer emulator-1"


@pytest.mark.parametrize(
    "spelling",
    [
        AKS,
        AKS.upper().replace("/SUBSCRIPTIONS", "/subscriptions"),
        AKS.lower(),
        AKS.replace("resourceGroups", "resourcegroups"),
        AKS.replace("/rg/", "/RG/"),
        AKS.replace("aks1", "AKS1") + "/",
    ],
)
def test_the_same_attach_again_sends_nothing(workspace: Workspace, emulator: Emulator, spelling: str) -> None:
    """azureml-examples#3030, terraform-provider-azurerm#15111: the same cluster in any spelling is no change."""
    emulator.world.put(compute())
    target = attach(workspace, resource_id=spelling, namespace="default", default_instance_type="DefaultInstanceType")
    assert sent(emulator) == ["GET computes/k8s1"]
    assert target.provisioning_state == "Succeeded"
    assert target.cluster_resource_id == AKS  # the service's spelling stays
    target.wait_for_completion()


def test_what_is_not_asked_is_not_compared(workspace: Workspace, emulator: Emulator) -> None:
    """terraform-provider-azurerm#17562: None asks for nothing; read-only and further fields are no difference."""
    body = compute(description="by hand", top={"tags": {"owner": "x"}})
    body["properties"]["properties"] |= {"namespace": "ml", "extensionPrincipalId": SUB, "vcName": "amldefaultvc"}
    emulator.world.put(body)
    assert attach(workspace).namespace == "ml"
    assert sent(emulator) == ["GET computes/k8s1"]


@pytest.mark.parametrize(
    ("asked", "properties", "top"),
    [
        ({"namespace": "default"}, {"properties": {}}, {}),
        ({"namespace": "default"}, {"properties": None}, {}),
        ({"namespace": "default"}, {"properties": GONE}, {}),
        ({"tags": {}}, {}, {"tags": None}),
        ({"description": ""}, {"description": None}, {}),
        ({"instance_types": {}}, {"properties": {"instanceTypes": None}}, {}),
        ({"identity_type": "systemassigned"}, {}, {"identity": {"type": "systemAssigned"}}),
    ],
)
def test_null_means_missing_when_settings_are_compared(
    workspace: Workspace, emulator: Emulator, asked: dict[str, Any], properties: dict[str, Any], top: dict[str, Any]
) -> None:
    """terraform-provider-azurerm#17562: spelling, null, missing and empty are no difference."""
    emulator.world.put(compute(top=top, **properties))
    attach(workspace, **asked)
    assert sent(emulator) == ["GET computes/k8s1"]


def test_one_identity_in_another_spelling_is_the_same(workspace: Workspace, emulator: Emulator) -> None:
    """Keys of userAssignedIdentities may come back in another letter case."""
    identity = {"type": "UserAssigned", "userAssignedIdentities": {UAI.lower(): {"principalId": SUB}}}
    emulator.world.put(compute(top={"identity": identity}))
    attach(workspace, identity_type="UserAssigned", identity_ids=UAI)
    assert sent(emulator) == ["GET computes/k8s1"]


@pytest.mark.parametrize(
    ("asked", "field", "old", "new"),
    [
        ({"namespace": "other"}, "namespace", "default", "other"),
        ({"resource_id": ARC}, "resource_id", AKS, ARC),
        ({"identity_type": "UserAssigned", "identity_ids": [UAI]}, "identity_type", "SystemAssigned", "UserAssigned"),
        ({"default_instance_type": "gpu"}, "default_instance_type", "defaultinstancetype", "gpu"),
        ({"instance_types": {"gpu": {}}}, "instance_types", {}, {"gpu": {}}),
        ({"tags": {"a": "1"}}, "tags", None, {"a": "1"}),
        ({"description": "d"}, "description", None, "d"),
    ],
)
def test_other_settings_are_a_conflict_and_nothing_is_sent(
    workspace: Workspace, emulator: Emulator, asked: dict[str, Any], field: str, old: object, new: object
) -> None:
    """azureml-examples#3030: the error tells field, old value, new value, and that a detach is needed."""
    emulator.world.put(compute())
    with pytest.raises(ConflictException) as caught:
        attach(workspace, **asked)
    assert sent(emulator) == ["GET computes/k8s1"]
    assert Difference(field, new, old) in (caught.value.differences or ())
    text = str(caught.value)
    assert field in text
    assert repr(old) in text
    assert repr(new) in text
    assert "detach" in text.lower()
    assert "replace=True" in text


def test_all_differences_are_told_at_once(workspace: Workspace, emulator: Emulator) -> None:
    """Whoever mends one setting should not have to come back for the next."""
    emulator.world.put(compute())
    with pytest.raises(ConflictException) as caught:
        attach(workspace, resource_id=ARC, namespace="other", description="d")
    assert [one.field for one in caught.value.differences or ()] == ["resource_id", "namespace", "description"]


@pytest.mark.parametrize("replace", [False, True])
def test_another_compute_type_under_the_name_is_never_touched(
    workspace: Workspace, emulator: Emulator, *, replace: bool
) -> None:
    """The error names the type; replace=True does not detach it either."""
    emulator.world.add_compute("k8s1", "AmlCompute")
    with pytest.raises(ConflictException, match="AmlCompute"):
        attach(workspace, replace=replace)
    assert sent(emulator) == ["GET computes/k8s1"]


def test_a_running_attach_is_joined(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-examples#3030: no second PUT, and the wait goes on with the compute itself."""
    attach(workspace)
    second = attach(workspace)
    assert [request for request in sent(emulator) if request.startswith("PUT")] == ["PUT computes/k8s1"]
    assert second.provisioning_state == "Creating"
    second.wait_for_completion()
    assert second.provisioning_state == "Succeeded"


def test_an_update_that_runs_is_joined(workspace: Workspace, emulator: Emulator) -> None:
    """Updating is a running state as well."""
    emulator.world.put(compute(provisioningState="Updating"))
    assert attach(workspace).provisioning_state == "Updating"
    assert sent(emulator) == ["GET computes/k8s1"]


def test_a_running_detach_is_a_conflict(workspace: Workspace, emulator: Emulator) -> None:
    """Deleting: the error says so and how to wait."""
    emulator.world.put(compute(provisioningState="Deleting"))
    with pytest.raises(ConflictException, match="being detached") as caught:
        attach(workspace)
    assert "replace=True" in (caught.value.remedy or "")
    assert sent(emulator) == ["GET computes/k8s1"]


@pytest.mark.parametrize("state", ["Failed", "Canceled"])
def test_a_failed_compute_is_told_with_its_errors(workspace: Workspace, emulator: Emulator, state: str) -> None:
    """azureml-examples#3030: a failed target is not taken for success; its errors and the way on are told."""
    errors = [{"error": {"code": "ExtensionNotFound", "message": "no extension there"}}]
    emulator.world.put(compute(provisioningState=state, provisioningErrors=errors))
    with pytest.raises(OperationFailedException, match="no extension there") as caught:
        attach(workspace)
    assert caught.value.last_state == state
    assert caught.value.provisioning_errors == errors
    assert caught.value.codes == ("ExtensionNotFound",)
    assert (caught.value.remedy or "").count("replace=True") == 1
    assert sent(emulator) == ["GET computes/k8s1"]


def test_replace_detaches_waits_and_attaches(workspace: Workspace, emulator: Emulator) -> None:
    """Other settings with replace=True: DELETE, its end, then PUT of what was asked."""
    attach(workspace).wait_for_completion()
    emulator.requests.clear()
    target = attach(workspace, resource_id=ARC, namespace="other", replace=True)
    verbs = sent(emulator)
    assert verbs[:2] == ["GET computes/k8s1", "DELETE computes/k8s1"]
    assert set(verbs[2:-1]) == {"GET operation", "GET computes/k8s1"}
    assert verbs[-1] == "PUT computes/k8s1"
    target.wait_for_completion()
    assert (target.cluster_resource_id, target.namespace) == (ARC, "other")


def test_replace_of_the_same_settings_sends_nothing(workspace: Workspace, emulator: Emulator) -> None:
    """What is there as asked is not torn down."""
    emulator.world.put(compute())
    attach(workspace, namespace="default", replace=True)
    assert sent(emulator) == ["GET computes/k8s1"]


@pytest.mark.parametrize("state", ["Failed", "Canceled"])
def test_replace_attaches_a_failed_compute_anew(workspace: Workspace, emulator: Emulator, state: str) -> None:
    """The same settings in a failed state are detached and attached."""
    emulator.world.put(compute(provisioningState=state))
    attach(workspace, replace=True).wait_for_completion()
    assert ComputeTarget(workspace, "k8s1").provisioning_state == "Succeeded"


def test_replace_waits_for_a_detach_that_runs(workspace: Workspace, emulator: Emulator) -> None:
    """Deleting: no second DELETE, the end is waited for, then the PUT."""
    attach(workspace).wait_for_completion()
    ComputeTarget(workspace, "k8s1").detach()
    emulator.requests.clear()
    attach(workspace, replace=True)
    assert "DELETE computes/k8s1" not in sent(emulator)
    assert sent(emulator)[-1] == "PUT computes/k8s1"


def test_replace_waits_for_an_operation_that_runs(workspace: Workspace, emulator: Emulator) -> None:
    """The DELETE is repeated while the service says that an attach of other settings is still going on (409)."""
    emulator.provisioning(seconds=20)
    attach(workspace)
    target = attach(workspace, namespace="other", replace=True)
    assert target.provisioning_state == "Creating"
    target.wait_for_completion()
    assert target.namespace == "other"


def test_replace_repeats_a_put_that_meets_the_detach(
    workspace: Workspace, emulator: Emulator, clock: FakeClock
) -> None:
    """The service may answer 409 for a while after it said that the detach is over."""
    emulator.world.put(compute())
    emulator.faults.add(method="PUT", status=409, times=3, nth=1)
    attach(workspace, namespace="other", replace=True).wait_for_completion()
    assert sent(emulator).count("PUT computes/k8s1") == 4
    assert ComputeTarget(workspace, "k8s1").provisioning_state == "Succeeded"


def test_a_detach_that_takes_too_long_ends_replace(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """replace_timeout bounds the detach; the error carries what was there."""
    emulator.world.put(compute())
    emulator.faults.stuck_operation()
    began_s = clock()
    with pytest.raises(ComputeTargetException, match="timed out after 90 s") as caught:
        ComputeTarget.attach(workspace, "k8s1", configuration(AKS, "other"), replace=True, replace_timeout=90)
    assert clock() - began_s == 90
    assert caught.value.old_configuration == configuration(
        AKS, "default", "SystemAssigned", default_instance_type="defaultinstancetype"
    )
    assert "PUT computes/k8s1" not in sent(emulator)


def test_a_refused_second_half_carries_the_old_configuration(workspace: Workspace, emulator: Emulator) -> None:
    """After the detach nothing is lost: what was attached can be attached again as it was."""
    body = compute(description="old", top={"tags": {"a": "1"}})
    body["properties"]["properties"] |= {"namespace": "ml"}
    emulator.world.put(body)
    emulator.faults.add(method="PUT", status=403)
    with pytest.raises(ForbiddenException) as caught:
        attach(workspace, namespace="other", replace=True)
    old = caught.value.old_configuration
    assert old is not None
    ComputeTarget.attach(workspace, "k8s1", old).wait_for_completion()
    again = ComputeTarget(workspace, "k8s1")
    assert isinstance(again, KubernetesCompute)
    assert (again.namespace, again.description, again.tags) == ("ml", "old", {"a": "1"})
    assert again.identity_type == "SystemAssigned"


def test_replace_detaches_nothing_where_the_attach_could_not_follow(workspace: Workspace, emulator: Emulator) -> None:
    """Whatever the PUT needs is read before the detach."""
    emulator.world.put(compute())
    emulator.faults.add("workspaces/ws?", status=403)
    with pytest.raises(ForbiddenException):
        attach(workspace, namespace="other", replace=True)
    assert sent(emulator) == ["GET computes/k8s1", "GET workspace"]


def test_a_new_compute_that_never_appears_carries_the_old_configuration(
    workspace: Workspace, emulator: Emulator
) -> None:
    """Whatever ends the wait, what was replaced is not lost."""
    emulator.world.put(compute())
    target = attach(workspace, namespace="other", replace=True)
    emulator.faults.vanishing_operation_url()
    emulator.faults.add("computes/k8s1", every=1, status=404)
    with pytest.raises(NotFoundException, match="never appeared") as caught:
        target.wait_for_completion()
    assert caught.value.old_configuration is not None
    assert caught.value.old_configuration.namespace == "default"


@pytest.mark.parametrize("status", [400, 403, 409])
def test_a_refusal_names_the_compute(workspace: Workspace, emulator: Emulator, status: int) -> None:
    """Reading, attaching and detaching alike say which compute they are about."""
    emulator.faults.add(method="PUT", status=status)
    with pytest.raises(ServiceException) as caught:
        attach(workspace)
    assert caught.value.target == "k8s1"
    emulator.world.put(compute())
    target = ComputeTarget(workspace, "k8s1")
    emulator.faults.add(method="DELETE", status=status)
    for step in (target.detach, target.refresh_state):
        with pytest.raises(ServiceException) as caught:
            step()
        assert caught.value.target == "k8s1"
        emulator.faults.add("computes/k8s1", method="GET", status=status)


def test_a_failed_second_half_carries_the_old_configuration(workspace: Workspace, emulator: Emulator) -> None:
    """The attach may also fail later, while it is waited for."""
    emulator.world.put(compute())
    target = attach(workspace, resource_id=emulator.world.add_aks("bare", extension=False), replace=True)
    with pytest.raises(OperationFailedException) as caught:
        target.wait_for_completion()
    assert caught.value.old_configuration is not None
    assert caught.value.old_configuration.resource_id == AKS


def test_the_failure_of_a_plain_attach_carries_no_old_configuration(workspace: Workspace, emulator: Emulator) -> None:
    """Nothing was replaced."""
    emulator.fail_next("BadRequest")
    with pytest.raises(OperationFailedException) as caught:
        attach(workspace).wait_for_completion()
    assert caught.value.old_configuration is None


def test_somebody_elses_put_is_told_after_the_wait(workspace: Workspace, emulator: Emulator) -> None:
    """What the service holds in the end is compared with what was asked."""
    target = attach(workspace, namespace="ml")
    body = emulator.world.find(f"{WS}/computes/k8s1")
    assert body is not None
    body["properties"]["properties"]["namespace"] = "theirs"
    with pytest.raises(ConflictException, match="not as asked: namespace") as caught:
        target.wait_for_completion()
    assert [(one.asked, one.present) for one in caught.value.differences or ()] == [("ml", "theirs")]


def test_instance_types_the_service_made_are_no_difference_after_the_wait(
    workspace: Workspace, emulator: Emulator
) -> None:
    """Instance types live in the cluster; the service may show its own."""
    target = attach(workspace, instance_types={"cpu": {}}, default_instance_type="cpu")
    body = emulator.world.find(f"{WS}/computes/k8s1")
    assert body is not None
    body["properties"]["properties"] |= {"instanceTypes": {"theirs": {}}, "defaultInstanceType": "theirs"}
    target.wait_for_completion()
    assert target.default_instance_type == "theirs"


def test_a_refused_name_shows_the_services_words_first(workspace: Workspace, emulator: Emulator) -> None:
    """MachineLearningNotebooks#581, pipelines-azureml#19: rules only the service knows are its own to tell."""
    emulator.fail_next("UserError", "name not allowed: digits after a dash", operation=False)
    with pytest.raises(ServiceException) as caught:
        ComputeTarget.attach(workspace, "cpu-cluster-1", configuration(AKS))
    assert str(caught.value).splitlines()[0] == "name not allowed: digits after a dash"
    assert caught.value.codes == ("UserError",)
    assert caught.value.status_code == 400


def test_a_role_check_that_fails_at_once_or_later_reads_alike(workspace: Workspace, emulator: Emulator) -> None:
    """AML-Kubernetes#279: the same code and message whether the PUT or the operation tells it."""
    asked = {"namespace": "ml", "identity_type": "UserAssigned", "identity_ids": [UAI]}
    text = "role check failed for the identity"
    emulator.fail_next("BadRequest", text, operation=False)
    with pytest.raises(ComputeTargetException) as refused:
        attach(workspace, **asked)
    emulator.fail_next("BadRequest", text)
    target = attach(workspace, **asked)
    with pytest.raises(ComputeTargetException) as failed:
        target.wait_for_completion()
    for error in (refused.value, failed.value):
        assert text in error.message
        assert error.codes == ("BadRequest",)
        assert error.remedy


def test_the_identity_comes_back_on_the_object(workspace: Workspace, emulator: Emulator) -> None:
    """AML-Kubernetes#279, #118: what was asked is sent, read back, and shown by serialize."""
    target = attach(workspace, namespace="ml", identity_type="USERASSIGNED", identity_ids=[UAI])
    target.wait_for_completion()
    assert target.identity_type == "UserAssigned"
    assert target.identity_ids == [UAI]
    assert target.identity is not None
    assert list(target.identity["userAssignedIdentities"]) == [UAI]
    assert target.serialize()["identity"]["type"] == "UserAssigned"
    assert target.namespace == "ml"


def test_success_is_not_claimed_before_the_wait(
    workspace: Workspace, emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """azure-cli-extensions#515, AML-Kubernetes#76: attach says Creating, the wait tells the inner reason."""
    emulator.faults.fail_next(
        "BadRequest", "the request failed", details=[("BadRequestFormat", "version 1.12.4 not supported")]
    )
    target = attach(workspace)
    assert target.provisioning_state == "Creating"
    assert target.status == "Creating"
    with pytest.raises(OperationFailedException) as caught:
        target.wait_for_completion()
    assert "version 1.12.4 not supported" in str(caught.value)
    assert "BadRequestFormat" in caught.value.codes
    assert capsys.readouterr() == ("", "")


def test_a_cluster_of_another_subscription_is_passed_on_unchanged(workspace: Workspace, emulator: Emulator) -> None:
    """terraform-provider-azurerm#13961: the PUT goes to the workspace's path; nothing is read elsewhere."""
    other = AKS.replace(SUB, SUB2).replace("/rg/", "/rg2/")
    attach(workspace, resource_id=other)
    assert put_body(emulator)["properties"]["resourceId"] == other
    assert all(request.path.startswith(WS) for request in emulator.requests)


def test_a_missing_right_on_the_cluster_keeps_both_scopes(workspace: Workspace, emulator: Emulator) -> None:
    """terraform-provider-azurerm#13961: the service's sentence names two scopes; both are shown."""
    text = f"The client has permission on '{WS}', however the linked scope '{AKS}' is not accessible."
    emulator.faults.fail_next("LinkedAuthorizationFailed", text, operation=False, status=403)
    with pytest.raises(ForbiddenException) as caught:
        attach(workspace)
    assert str(caught.value).splitlines()[0] == text
    assert caught.value.codes == ("LinkedAuthorizationFailed",)


def test_an_absent_workspace_is_not_an_absent_compute(workspace: Workspace, emulator: Emulator) -> None:
    """The read of the name finds no workspace: nothing is sent."""
    emulator.world.remove(WS)
    with pytest.raises(ProjectSystemException):
        attach(workspace)
    assert [request.method for request in emulator.requests] == ["GET"]


def test_a_forbidden_read_is_not_taken_for_absence(workspace: Workspace, emulator: Emulator) -> None:
    """403 on the first read: no PUT may follow."""
    emulator.faults.add("computes/k8s1", status=403)
    with pytest.raises(ForbiddenException):
        attach(workspace)
    assert sent(emulator) == ["GET computes/k8s1"]


def test_create_points_to_attach(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core's create makes clusters; ours says what to call."""
    with pytest.raises(ComputeTargetException, match="create is not supported") as caught:
        ComputeTarget.create(workspace, "k8s1", object())
    assert "ComputeTarget.attach" in (caught.value.remedy or "")
    assert emulator.requests == []


def test_an_attach_says_what_it_does_in_the_log_only(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """azure-sdk-for-python#19822: attach, list, wait and detach write to neither stream."""
    with caplog.at_level(logging.INFO, "azureml_k8s"):
        target = attach(workspace)
        target.wait_for_completion()
        ComputeTarget.list(workspace)
        target.detach()
        target.wait_for_completion()
    assert capsys.readouterr() == ("", "")
    assert "k8s1" in caplog.text


def test_a_new_compute_whose_times_differ_is_no_conflict(emulator: Emulator, workspace: Workspace) -> None:
    """Nobody can have attached between a look and the PUT right after it, whatever the service's clocks say."""

    def age(reply: Reply) -> Reply:
        body = reply.json
        body["properties"]["modifiedOn"] = "2099-01-01T00:00:00+00:00"
        return replace(reply, body=json.dumps(body).encode())

    emulator.faults.add(method="PUT", edit=age)
    ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(emulator.aks_id))


def test_detaching_what_somebody_detaches_already_joins(emulator: Emulator, workspace: Workspace) -> None:
    """The service refuses a second DELETE while the first one works; both callers wait for the same end."""
    target = ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(emulator.aks_id))
    target.wait_for_completion()
    other = KubernetesCompute(workspace, "k8s1")
    target.detach()
    other.detach()
    other.wait_for_completion()
    with pytest.raises(NotFoundException):
        other.refresh_state()
