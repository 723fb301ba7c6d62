"""serialize, deserialize, and what neither may lose, add or give away."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from bodies import GONE, SUB2, WS, compute, sent
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import Cloud, ComputeTarget, KubernetesCompute, UserErrorException, Workspace
from azureml_k8s.emulator import Emulator

OFFLINE = Workspace("00000000-0000-0000-0000-000000000000", "rg", "ws", cloud=Cloud.emulator("http://localhost:1"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6) | st.sampled_from(["Password", "apiKey"]), inner, max_size=3)
    ),
    max_leaves=10,
)
ODD = st.dictionaries(
    st.sampled_from(["tags", "location", "identity", "systemData", "sku", "relayConnectionString", "x"]), JSON
)
ODD_PROPERTIES = st.dictionaries(
    st.sampled_from(
        ["provisioningState", "provisioningErrors", "createdOn", "properties", "description", "status", "token", "x"]
    ),
    JSON,
)


def read(workspace: Workspace, emulator: Emulator, body: dict[str, Any]) -> ComputeTarget:
    emulator.world.put(body)
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    return target


def test_the_services_body_is_kept_and_azureml_cores_keys_are_added(workspace: Workspace, emulator: Emulator) -> None:
    """Nested unknown fields, nulls and seven-digit times survive; nothing is asked of the service."""
    body = compute(
        createdOn="2024-07-24T08:34:22.0060469+00:00",
        provisioningWarnings={},
        newThing={"deep": [None, {"a": 1.5}]},
        top={"tags": None, "systemData": None, "identity": GONE, "extra": True},
    )
    body["properties"]["properties"]["instanceTypes"] = {"gpu": {"resources": {"limits": {"nvidia.com/gpu": None}}}}
    shown = read(workspace, emulator, body).serialize()
    added = {"description": None, "status": None}
    assert shown == {**body, "identity": None, "properties": {**body["properties"], **added}}
    assert emulator.requests == []


def test_required_keys_are_null_where_the_service_sends_nothing(workspace: Workspace, emulator: Emulator) -> None:
    """azureml-core's keys, at every level."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", body={"properties": {"computeType": "Kubernetes", "properties": {}}})
    shown = ComputeTarget(workspace, "k8s1").serialize()
    assert shown.keys() >= {"id", "name", "tags", "location", "identity", "properties"}
    assert set(shown["properties"]) == {
        "computeType",
        "computeLocation",
        "description",
        "resourceId",
        "provisioningErrors",
        "provisioningState",
        "properties",
        "status",
    }
    assert shown["properties"]["properties"] == {
        "namespace": None,
        "defaultInstanceType": None,
        "instanceTypes": None,
    }


def test_it_is_json_ready_without_the_operation_url(workspace: Workspace, emulator: Emulator) -> None:
    """The URL's query is a signature, and has no place in what people store."""
    target = ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(emulator.aks_id))
    text = json.dumps(target.serialize())
    assert "computeOperationsStatus" not in text
    assert json.loads(text) == target.serialize()


SECRETS = {
    "relayConnectionString": "hush-1",
    "serviceBusConnectionString": "hush-2",
    "ADMINPASSWORD": "hush-3",
    "client_secret": "hush-4",
    "sas-token": ["hush-5", {"a": "hush-6"}],
    "primaryKey": {"value": "hush-7"},
    "deep": [{"er": {"apiKey": "hush-8"}}, [["hush?", {"MyToken": 12345}]]],
}


def test_secrets_are_masked_at_any_depth(workspace: Workspace, emulator: Emulator) -> None:
    """Every key that ends in connectionString, password, secret, token or key, in any case."""
    body = compute(properties=copy.deepcopy(SECRETS), password="hush-9", top={"tags": {"Token": "hush-10"}})
    target = read(workspace, emulator, body)
    for text in (json.dumps(target.serialize()), repr(target), str(target), repr(target.status)):
        assert "hush-" not in text
        assert "12345" not in text
    shown = target.serialize()["properties"]["properties"]
    assert shown["relayConnectionString"] == "***"
    assert shown["deep"] == [{"er": {"apiKey": "***"}}, [["hush?", {"MyToken": "***"}]]]


def test_null_secrets_stay_null(workspace: Workspace, emulator: Emulator) -> None:
    """There is nothing to mask, and null tells that there is none."""
    target = read(workspace, emulator, compute(properties={"relayConnectionString": None, "primaryKey": ""}))
    inner = target.serialize()["properties"]["properties"]
    assert (inner["relayConnectionString"], inner["primaryKey"]) == (None, "")


def test_secrets_are_given_when_asked_for(workspace: Workspace, emulator: Emulator) -> None:
    """serialize(include_secrets=True) and get()."""
    body = compute(properties=copy.deepcopy(SECRETS))
    target = read(workspace, emulator, body)
    assert target.serialize(include_secrets=True)["properties"]["properties"].items() >= SECRETS.items()
    assert emulator.requests == []
    assert target.get() == body


def test_errors_do_not_show_secrets_of_the_body(workspace: Workspace, emulator: Emulator) -> None:
    """A failed compute's text is the error's, and the operation URL is not in it."""
    errors = [{"error": {"code": "C", "message": "relayConnectionString=Endpoint=sb://x/;SharedAccessKey=hush-1"}}]
    emulator.world.put(compute(provisioningState="Failed", provisioningErrors=errors, properties={"token": "hush-2"}))
    target = ComputeTarget(workspace, "k8s1")
    with pytest.raises(Exception, match="C") as caught:
        target.wait_for_completion()
    assert "hush" not in str(caught.value) + repr(caught.value)


def test_a_round_trip_gives_the_class_and_an_equal_body(workspace: Workspace, emulator: Emulator) -> None:
    """Both classes read it, and nothing is sent."""
    shown = read(workspace, emulator, compute()).serialize()
    for made in (KubernetesCompute.deserialize(workspace, shown), ComputeTarget.deserialize(workspace, shown)):
        assert type(made) is KubernetesCompute
        assert made.serialize() == shown
        assert (made.name, made.namespace) == ("k8s1", "default")
    assert emulator.requests == []


def test_a_deserialized_target_works(workspace: Workspace, emulator: Emulator) -> None:
    """It can be refreshed, waited for and detached."""
    shown = read(workspace, emulator, compute(provisioningState="Creating")).serialize()
    emulator.world.put(compute())
    target = KubernetesCompute.deserialize(workspace, json.loads(json.dumps(shown)))
    target.wait_for_completion()
    assert target.get_status() == "Succeeded"
    target.detach()
    assert "DELETE computes/k8s1" in sent(emulator)


def test_the_given_object_is_copied(workspace: Workspace) -> None:
    """What the caller does to it later changes nothing."""
    given_body = compute()
    made = KubernetesCompute.deserialize(workspace, given_body)
    given_body["properties"]["properties"]["namespace"] = "changed"
    assert made.serialize()["properties"]["properties"]["namespace"] == "default"


@given(ODD, ODD_PROPERTIES)
def test_any_body_survives_the_round_trip(top: dict[str, Any], properties: dict[str, Any]) -> None:
    """deserialize(ws, t.serialize()).serialize() is equal, secrets masked or not."""
    body = compute(top=top, **properties)
    before = copy.deepcopy(body)
    first = ComputeTarget.deserialize(OFFLINE, body)
    assert body == before
    shown = first.serialize()
    assert KubernetesCompute.deserialize(OFFLINE, shown).serialize() == shown
    plain = first.serialize(include_secrets=True)
    assert ComputeTarget.deserialize(OFFLINE, plain).serialize(include_secrets=True) == plain
    assert plain.items() >= {key: value for key, value in body.items() if key != "properties"}.items()
    assert json.loads(json.dumps(shown)) == shown


@given(ODD, ODD_PROPERTIES)
def test_any_body_can_be_looked_at(top: dict[str, Any], properties: dict[str, Any]) -> None:
    """No attribute raises because of what the service sent."""
    target = ComputeTarget.deserialize(OFFLINE, compute(top=top, **properties))
    for name in dir(target):
        if not name.startswith("_"):
            getattr(target, name)
    assert isinstance(target.provisioning_state, str)
    assert isinstance(target.status.serialize(), dict)
    assert repr(target)


@pytest.mark.parametrize(
    "other",
    [
        WS.replace("workspaces/ws", "workspaces/other"),
        WS.replace("/rg/", "/other/"),
        WS.replace("00000000-0000-0000-0000-000000000000", SUB2),
    ],
)
def test_another_workspaces_compute_is_refused(workspace: Workspace, other: str) -> None:
    """The error names both workspaces."""
    with pytest.raises(UserErrorException, match="workspace") as caught:
        KubernetesCompute.deserialize(workspace, compute(top={"id": f"{other}/computes/k8s1"}))
    assert other in caught.value.message
    assert workspace.id in caught.value.message


@pytest.mark.parametrize("spelling", [WS.upper(), WS.lower(), WS.replace("resourceGroups", "resourcegroups")])
def test_the_workspace_is_compared_as_azure_does(workspace: Workspace, spelling: str) -> None:
    """Letter case does not count."""
    assert KubernetesCompute.deserialize(workspace, compute(top={"id": f"{spelling}/computes/k8s1"})).name == "k8s1"


def test_another_type_is_refused(workspace: Workspace) -> None:
    """By the class of the clusters, naming the type; the base takes it."""
    body = compute(computeType="AmlCompute")
    with pytest.raises(UserErrorException, match="AmlCompute"):
        KubernetesCompute.deserialize(workspace, body)
    assert type(ComputeTarget.deserialize(workspace, body)) is ComputeTarget


@pytest.mark.parametrize(
    "top",
    [
        {"id": None},
        {"id": GONE},
        {"id": 7},
        {"id": WS},
        {"id": f"{WS}/computes/.."},
        {"id": f"{WS}/computes/%2e%2e"},
        {"id": f"{WS}/computes/a/b"},
        {"id": f"{WS}/computes/a?b"},
        {"name": "other"},
        {"name": ".."},
        {"name": "a?b"},
        {"properties": None},
        {"properties": GONE},
        {"properties": []},
    ],
)
def test_what_is_no_compute_is_refused(workspace: Workspace, emulator: Emulator, top: dict[str, Any]) -> None:
    """The error names object_dict and what is wrong with it."""
    with pytest.raises(UserErrorException, match="object_dict"):
        ComputeTarget.deserialize(workspace, compute(top=top))
    assert emulator.requests == []


@pytest.mark.parametrize("junk", [None, "text", 7, [compute()]])
def test_only_a_mapping_is_read(workspace: Workspace, junk: Any) -> None:
    """A TypeError that says where such an object comes from."""
    with pytest.raises(TypeError, match="serialize"):
        KubernetesCompute.deserialize(workspace, junk)


def test_azureml_cores_minimum_is_enough(workspace: Workspace) -> None:
    """What its serialize wrote is read: no type, a null identity, no name in some versions."""
    body = {
        "id": f"{WS}/computes/k8s1",
        "tags": None,
        "location": "westeurope",
        "properties": {
            "computeType": "Kubernetes",
            "description": "",
            "resourceId": None,
            "provisioningErrors": None,
            "provisioningState": "Succeeded",
            "properties": {"namespace": None},
        },
    }
    assert KubernetesCompute.deserialize(workspace, body).name == "k8s1"
