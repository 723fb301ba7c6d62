"""Any compute of a workspace: reading one, listing all, what a target shows and what it refuses."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

import pytest
from bodies import AKS, GONE, WS, compute, sent

from azureml_k8s import (
    ComputeTarget,
    ComputeTargetException,
    ForbiddenException,
    KubernetesCompute,
    NotFoundException,
    ProjectSystemException,
    UnreachableException,
    Workspace,
)
from azureml_k8s.emulator import Emulator


def test_reading_sends_one_get_and_gives_the_class_of_the_type(workspace: Workspace, emulator: Emulator) -> None:
    """Exactly KubernetesCompute for Kubernetes, a plain ComputeTarget for every other type."""
    emulator.world.put(compute())
    emulator.world.add_compute("aml1", "AmlCompute")
    emulator.world.put(compute("odd1", computeType="QuantumThing"))
    assert type(ComputeTarget(workspace, "k8s1")) is KubernetesCompute
    assert type(ComputeTarget(workspace, "aml1")) is ComputeTarget
    assert type(ComputeTarget(workspace, "odd1")) is ComputeTarget
    assert sent(emulator) == ["GET computes/k8s1", "GET computes/aml1", "GET computes/odd1"]


@pytest.mark.parametrize("is_attached", [True, False, None, GONE, "yes"])
def test_attached_or_not_it_is_never_none(workspace: Workspace, emulator: Emulator, is_attached: object) -> None:
    """azureml-core gave None for a compute that is not attached."""
    emulator.world.put(compute(isAttachedCompute=is_attached))
    for make in (ComputeTarget, KubernetesCompute):
        assert type(make(workspace, "k8s1")) is KubernetesCompute


@pytest.mark.parametrize("name", ["aml1", "odd1"])
def test_the_class_of_the_clusters_refuses_other_types(workspace: Workspace, emulator: Emulator, name: str) -> None:
    """The error names the type that was found."""
    emulator.world.add_compute("aml1", "AmlCompute")
    emulator.world.put(compute("odd1", computeType="AmlCompute"))
    with pytest.raises(ComputeTargetException, match="AmlCompute"):
        KubernetesCompute(workspace, name)


@pytest.mark.parametrize("compute_type", [None, GONE, 7, ["Kubernetes"], ""])
def test_a_compute_without_a_type_is_a_plain_target(
    workspace: Workspace, emulator: Emulator, compute_type: object
) -> None:
    """vscode-tools-for-ai#140: it keeps its body; the class of the clusters refuses it."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", every=1, body=compute(computeType=compute_type))
    target = ComputeTarget(workspace, "k8s1")
    assert type(target) is ComputeTarget
    assert target.type == (compute_type if isinstance(compute_type, str) else None)
    with pytest.raises(ComputeTargetException, match="is of type"):
        KubernetesCompute(workspace, "k8s1")


def test_a_plain_target_shows_what_all_computes_have(workspace: Workspace, emulator: Emulator) -> None:
    """The documented attributes, without a further request."""
    emulator.world.put(compute(computeType="AKS", top={"tags": {"a": "1"}}))
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    assert target.name == "k8s1"
    assert target.id == f"{WS}/computes/k8s1"
    assert target.type == "AKS"
    assert target.provisioning_state == "Succeeded"
    assert target.cluster_resource_id == AKS
    assert target.location == "westeurope"
    assert target.tags == {"a": "1"}
    assert target.created_on == target.modified_on
    assert target.provisioning_errors is None
    assert target.workspace is workspace
    assert target.status == "Succeeded"
    assert target.serialize()["properties"]["computeType"] == "AKS"
    assert emulator.requests == []


def test_get_gives_the_raw_body_and_changes_nothing(workspace: Workspace, emulator: Emulator) -> None:
    """As azureml-core's: one GET, secrets included."""
    emulator.world.put(compute(provisioningState="Creating"))
    target = ComputeTarget(workspace, "k8s1")
    body = compute(properties={"relayConnectionString": "Endpoint=sb://x;SharedAccessKey=hush", "odd": [None]})
    emulator.world.put(body)
    emulator.requests.clear()
    assert target.get() == body
    assert sent(emulator) == ["GET computes/k8s1"]
    assert target.provisioning_state == "Creating"


def test_refresh_state_reads_again(workspace: Workspace, emulator: Emulator) -> None:
    """One GET; the attributes are new."""
    emulator.world.put(compute(provisioningState="Creating"))
    target = ComputeTarget(workspace, "k8s1")
    emulator.world.put(compute(top={"tags": {"a": "1"}}))
    emulator.requests.clear()
    target.refresh_state()
    assert sent(emulator) == ["GET computes/k8s1"]
    assert (target.provisioning_state, target.tags) == ("Succeeded", {"a": "1"})


@pytest.mark.parametrize("verb", ["detach", "delete"])
def test_other_types_are_neither_detached_nor_deleted(workspace: Workspace, emulator: Emulator, verb: str) -> None:
    """The error names the verb and the type; nothing is sent."""
    emulator.world.add_compute("aml1", "AmlCompute")
    target = ComputeTarget(workspace, "aml1")
    emulator.requests.clear()
    with pytest.raises(ComputeTargetException, match=f"{verb} is not supported.*AmlCompute"):
        getattr(target, verb)()
    assert emulator.requests == []


def test_repr_sends_nothing(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core's reads the compute when it has an identity."""
    body = compute(top={"tags": {"accessToken": "hush"}})
    body["properties"]["properties"]["relayConnectionString"] = "hush"
    emulator.world.put(body)
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    text = repr(target)
    assert "k8s1" in text
    assert "hush" not in text
    assert repr(workspace) == f"Workspace({emulator.subscription_id!r}, 'rg', 'ws', cloud='emulator')"
    assert emulator.requests == []


def test_attributes_cannot_be_set(workspace: Workspace, emulator: Emulator) -> None:
    """They show what the service holds; setting one changes nothing there."""
    emulator.world.put(compute())
    target = ComputeTarget(workspace, "k8s1")
    for name in ("name", "tags", "provisioning_state", "namespace", "cluster_resource_id"):
        with pytest.raises(AttributeError):
            setattr(target, name, "x")


def test_what_an_attribute_gives_is_a_copy(workspace: Workspace, emulator: Emulator) -> None:
    """Changing it changes neither the target nor what it serializes."""
    emulator.world.put(compute(top={"tags": {"a": "1"}}))
    target = ComputeTarget(workspace, "k8s1")
    tags = target.tags
    assert tags is not None
    tags["a"] = "changed"
    target.serialize()["tags"]["a"] = "changed"
    assert target.tags == {"a": "1"}


def test_an_absent_compute(workspace: Workspace, emulator: Emulator) -> None:
    """Not found names the compute; scripts catch ComputeTargetException."""
    with pytest.raises(NotFoundException) as caught:
        ComputeTarget(workspace, "nope")
    assert caught.value.target == "nope"
    assert "nope" in caught.value.message
    assert caught.value.status_code == 404
    assert isinstance(caught.value, ComputeTargetException)


def test_absent_forbidden_and_unreachable_differ(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core raised one exception for all, so that forbidden was taken for absent."""
    emulator.faults.add("computes", status=403)
    with pytest.raises(ForbiddenException):
        ComputeTarget(workspace, "k8s1")
    emulator.faults.add("computes", html=True)
    with pytest.raises(UnreachableException):
        ComputeTarget(workspace, "k8s1")
    emulator.world.remove(WS)
    with pytest.raises(ProjectSystemException):
        ComputeTarget(workspace, "k8s1")


@pytest.mark.parametrize("name", ["my compute", "été", "a+b", "a&b=c", "a;b", "x" * 260, "算力-1", "(a)", "a~b'c"])
def test_an_unusual_name_is_read(workspace: Workspace, emulator: Emulator, name: str) -> None:
    """MachineLearningNotebooks#581: the name is one part of the path, whatever is in it; '&' aside, which ARM bars."""
    emulator.world.put(compute(name))
    if "&" in name:
        with pytest.raises(ValueError, match="'&'"):
            ComputeTarget(workspace, name)
        return
    assert ComputeTarget(workspace, name).name == name
    assert urlsplit(emulator.requests[0].target).path.isascii()
    assert emulator.requests[0].query == {"api-version": "2024-04-01"}


@pytest.mark.parametrize("other", ["other", "ws/k8s1", "", None, 7, "../x"])
def test_another_compute_than_the_asked_one_is_never_detached(
    workspace: Workspace, emulator: Emulator, other: object
) -> None:
    """Whatever name an answer bears, the target keeps to the one that was asked for."""
    emulator.world.put(compute())
    emulator.world.put(compute("other"))
    emulator.faults.add("computes/k8s1", nth=1, body=compute(top={"name": other}))
    target = KubernetesCompute(workspace, "k8s1")
    assert target.name == "k8s1"
    target.detach()
    target.wait_for_completion()
    assert [one.name for one in ComputeTarget.list(workspace)] == ["other"]


def test_the_services_spelling_of_the_name_is_kept(workspace: Workspace, emulator: Emulator) -> None:
    """Azure does not look at letter case."""
    emulator.world.put(compute())
    assert ComputeTarget(workspace, "K8S1").name == "k8s1"


@pytest.mark.parametrize("body", ["[]", "null", '"text"', "7", "{}", '{"properties": null}', '{"properties": []}', ""])
def test_a_read_that_gives_no_compute_raises(workspace: Workspace, emulator: Emulator, body: str) -> None:
    """A 200 without an object of properties is not the service's."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", every=1, body=body)
    with pytest.raises(UnreachableException, match="k8s1"):
        ComputeTarget(workspace, "k8s1")


# Lists.


def test_one_odd_item_does_not_break_a_list(
    workspace: Workspace, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """vscode-tools-for-ai#140, #367: odd items become plain targets with name, type and body; one warning each."""
    items = [compute(), compute("x", computeType="QuantumThing"), {"name": "broken", "id": f"{WS}/computes/broken"}]
    emulator.faults.add("computes?", body={"value": items})
    with caplog.at_level(logging.WARNING, "azureml_k8s"):
        found = ComputeTarget.list(workspace)
    assert [type(one) for one in found] == [KubernetesCompute, ComputeTarget, ComputeTarget]
    assert [(one.name, one.type) for one in found] == [
        ("k8s1", "Kubernetes"),
        ("x", "QuantumThing"),
        ("broken", None),
    ]
    assert found[2].serialize()["id"] == f"{WS}/computes/broken"
    assert len(caplog.records) == 2
    assert sent(emulator) == ["GET computes"]


def test_a_typed_list_has_the_clusters_only(workspace: Workspace, emulator: Emulator) -> None:
    """azure-cli-extensions#2940: a filter, in any letter case, without a request per item."""
    emulator.world.put(compute("k8s1", computeType="kubernetes"))
    emulator.world.add_compute("aml1", "AmlCompute")
    emulator.world.add_compute("aks1", "AKS")
    assert [one.name for one in KubernetesCompute.list(workspace)] == ["k8s1"]
    assert KubernetesCompute.list(workspace, "AmlCompute") == []
    assert [one.name for one in ComputeTarget.list(workspace, compute_type="KUBERNETES")] == ["k8s1"]
    assert [one.name for one in ComputeTarget.list(workspace, "amlcompute")] == ["aml1"]
    assert [one.name for one in ComputeTarget.list(workspace)] == ["k8s1", "aml1", "aks1"]
    assert sent(emulator) == ["GET computes"] * 5


def test_every_item_of_a_list_shows_the_same(workspace: Workspace, emulator: Emulator) -> None:
    """azure-cli-extensions#2940: name, type, state, location, cluster and errors of each, whatever its type."""
    emulator.world.put(compute())
    emulator.world.add_compute("aml1", "AmlCompute")
    shown = [
        (one.name, one.type, one.provisioning_state, one.location, one.cluster_resource_id, one.provisioning_errors)
        for one in ComputeTarget.list(workspace)
    ]
    assert shown == [
        ("k8s1", "Kubernetes", "Succeeded", "westeurope", AKS, None),
        ("aml1", "AmlCompute", "Succeeded", "westeurope", None, None),
    ]
    assert sent(emulator) == ["GET computes"]


def test_an_empty_workspace_gives_an_empty_list(workspace: Workspace) -> None:
    """vscode-tools-for-ai#209: no compute is no error."""
    assert ComputeTarget.list(workspace) == []
    assert workspace.compute_targets == {}


@pytest.mark.parametrize("link", [None, "", GONE])
def test_a_list_ends_where_no_link_leads_on(workspace: Workspace, emulator: Emulator, link: object) -> None:
    """azureml-core crashed on a null link."""
    page: dict[str, Any] = {"value": [compute()], "nextLink": link}
    if link is GONE:
        del page["nextLink"]
    emulator.faults.add("computes?", body=page)
    assert len(ComputeTarget.list(workspace)) == 1


def test_all_pages_are_read(workspace: Workspace, emulator: Emulator) -> None:
    """The link is followed as it was given, an empty page on the way included."""
    emulator.pace.page_size = 2
    for number in range(5):
        emulator.world.add_compute(f"aml{number}", "AmlCompute")
    assert len(ComputeTarget.list(workspace)) == 5
    assert len(emulator.requests) == 3
    link = "http://localhost:1/subscriptions/next?$skip=abc%2B"
    emulator.faults.add("computes?", nth=1, body={"value": [], "nextLink": link})
    emulator.faults.add("subscriptions/next", status=200, body={"value": [compute()]})
    assert [one.name for one in ComputeTarget.list(workspace)] == ["k8s1"]
    assert emulator.requests[-1].target == "/subscriptions/next?$skip=abc%2B"


@pytest.mark.parametrize("body", [{}, [], {"value": {}}, {"value": "x"}, "null"])
def test_an_answer_that_is_no_list_raises(workspace: Workspace, emulator: Emulator, body: Any) -> None:
    """An empty list must be one that the service sent."""
    emulator.faults.add("computes?", body=body)
    with pytest.raises(UnreachableException):
        ComputeTarget.list(workspace)


@pytest.mark.parametrize("item", [None, 7, "x", [], {}, {"name": 7}, {"name": None, "properties": "x"}])
def test_an_item_of_any_shape_becomes_a_target(workspace: Workspace, emulator: Emulator, item: object) -> None:
    """vscode-tools-for-ai#209: never KeyError or TypeError from an answer."""
    emulator.faults.add("computes?", body={"value": [item, compute()]})
    odd, cluster = ComputeTarget.list(workspace)
    assert type(odd) is ComputeTarget
    assert (odd.type, odd.provisioning_state, odd.tags) == (None, "Unknown", None)
    assert odd.serialize()
    assert repr(odd)
    assert cluster.name == "k8s1"


def test_a_name_missing_from_an_item_is_taken_from_its_id(workspace: Workspace, emulator: Emulator) -> None:
    """The item stays usable."""
    emulator.faults.add("computes?", body={"value": [compute(top={"name": GONE})]})
    (found,) = ComputeTarget.list(workspace)
    assert found.name == "k8s1"


def test_a_filter_of_another_type_is_refused(workspace: Workspace, emulator: Emulator) -> None:
    """Before any request, naming the argument."""
    with pytest.raises(TypeError, match="compute_type"):
        ComputeTarget.list(workspace, KubernetesCompute)  # type: ignore[arg-type]
    assert emulator.requests == []


def test_compute_targets_maps_names_to_targets(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core's dictionary, with the exact class."""
    emulator.world.put(compute())
    emulator.world.add_compute("aml1", "AmlCompute")
    assert list(workspace.compute_targets) == ["k8s1", "aml1"]
    assert type(workspace.compute_targets["k8s1"]) is KubernetesCompute
    assert "nope" not in workspace.compute_targets


@pytest.mark.parametrize("not_a_workspace", [None, "ws", 7, Workspace, object()])
def test_only_a_workspace_is_a_workspace(not_a_workspace: Any) -> None:
    """A TypeError that lists what is taken."""
    for call in (
        lambda: ComputeTarget(not_a_workspace, "k8s1"),
        lambda: ComputeTarget.list(not_a_workspace),
        lambda: ComputeTarget.attach(not_a_workspace, "k8s1", KubernetesCompute.attach_configuration(AKS)),
        lambda: ComputeTarget.deserialize(not_a_workspace, compute()),
    ):
        with pytest.raises(TypeError, match="workspace must be"):
            call()
