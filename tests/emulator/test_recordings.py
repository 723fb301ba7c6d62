"""The emulator beside recordings of the live service: the same requests get answers of the same make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from azureml_k8s.emulator import Emulator, Reply

from .calls import Caller, attach_body

FOLDER = Path(__file__).parent / "recorded"
GROUP, NAME = "testrg123", "workspaces123"
EXCHANGES = ["put-create-201", "put-existing-201", "patch-202", "delete-202", "listkeys-400"]
# One header changed its name in 2025, one counts what the emulator does not have, one came in 2025.
RENAMED = {"x-aml-cluster": "azureml-served-by-cluster"}
HTTP_OWN = {"content-length"}


def recorded(name: str) -> Any:
    """One of the files."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def caller() -> Caller:
    """The world that the recordings were made in: one workspace, and an AmlCompute where one existed before."""
    seed = {"resource_group": GROUP, "workspace_name": NAME, "location": "eastus", "aks": ["aks123"]}
    return Caller(Emulator(seed=seed))


def replay(caller: Caller, exchange: dict[str, Any]) -> Reply:
    """Send the recorded request."""
    request = exchange["request"]
    if request["method"] != "PUT":
        name = urlsplit(request["url"]).path.partition("/computes/")[2].split("/")[0]
        caller.emulator.world.add_compute(name, "AmlCompute")
    body = b"" if request["body"] is None else json.dumps(request["body"]).encode()
    return caller.emulator.handle(request["method"], request["url"], {"Authorization": "Bearer t"}, body)


def shape(value: Any) -> Any:
    """A body without its values: names, kinds and nulls."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return None if value is None else type(value).__name__


@pytest.mark.parametrize("name", EXCHANGES)
def test_status_and_headers_are_the_recorded_ones(caller: Caller, name: str) -> None:
    """The same status; no recorded header is missing, none but the newer ones is added."""
    exchange = recorded(name)
    reply = replay(caller, exchange)
    expected = {RENAMED.get(one.lower(), one.lower()) for one in exchange["response"]["headers"]} - HTTP_OWN
    found = {one.lower() for one in reply.headers}
    newer = {"x-ms-operation-identifier"} | {one for one in found if "-global-" in one}
    assert reply.status == exchange["response"]["status"]
    assert expected <= found
    assert found - expected <= newer


@pytest.mark.parametrize("name", ["put-create-201", "put-existing-201", "patch-202"])
def test_resource_bodies_have_the_recorded_members(caller: Caller, name: str) -> None:
    """Names, kinds and nulls of the envelope and of the properties, in order; inner ones are the type's own."""
    exchange = recorded(name)
    if name == "put-existing-201":
        caller.emulator.world.add_compute("aml03", "AmlCompute")
    ours, theirs = replay(caller, exchange).json, exchange["response"]["body"]
    for body in (ours, theirs):
        body["properties"]["properties"] = {}
        body["properties"].pop("provisioningWarnings", None)  # came between 2022 and 2024
        body["properties"]["resourceId"] = None  # shows an internal id while updating
    assert shape(ours) == shape(theirs)
    assert list(ours) == list(theirs)
    assert ours["id"] == theirs["id"]
    assert ours["properties"]["provisioningState"] == theirs["properties"]["provisioningState"]


def test_operation_urls_have_the_recorded_parts(caller: Caller) -> None:
    """Host, path and the names of the query, in order."""
    exchange = recorded("put-create-201")
    theirs = urlsplit(exchange["response"]["headers"]["Azure-AsyncOperation"])
    ours = urlsplit(replay(caller, exchange).headers["Azure-AsyncOperation"])
    assert (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)
    assert ours.path.rsplit("/", 1)[0] == theirs.path.rsplit("/", 1)[0]
    assert [name for name, _ in parse_qsl(ours.query)] == [name for name, _ in parse_qsl(theirs.query)]


def test_a_refusal_by_the_provider_has_the_recorded_members(caller: Caller) -> None:
    """Code, message, nulls and siblings of ``error``, in order."""
    exchange = recorded("listkeys-400")
    ours, theirs = replay(caller, exchange).json, exchange["response"]["body"]
    assert shape(ours) == shape(theirs)
    assert list(ours["error"]) == list(theirs["error"])
    assert {**ours["error"]} == {**theirs["error"]}
    assert ours["componentName"] == theirs["componentName"]


def test_operation_bodies_are_the_recorded_ones(caller: Caller) -> None:
    """To the letter."""
    reply = replay(caller, recorded("put-create-201"))
    assert caller.poll(reply).json == recorded("operation-inprogress")
    assert caller.poll(reply).json == recorded("operation-succeeded")


def test_a_settled_kubernetes_compute_has_the_live_shape(caller: Caller) -> None:
    """With a system identity: the envelope of 2024 and the eight members of the specification."""
    theirs = recorded("kubernetes-get-shape")
    path = f"{theirs['id'].rsplit('/computes/', 1)[0]}/computes/k8s-compute"
    asked = {**attach_body(caller.emulator.aks_id), "identity": {"type": "SystemAssigned"}}
    caller.wait(caller.send("PUT", path, json_body=asked))
    ours = caller.send("GET", path).json
    assert ours["id"] == theirs["id"]
    for body in (ours, theirs):
        assert len(body["properties"]["properties"].pop("instanceTypes")) == 1
    assert shape(ours) == shape(theirs)


def test_a_workspace_has_the_recorded_members(caller: Caller) -> None:
    """Those that clients read; the emulator has no notebooks and no telemetry."""
    theirs = recorded("workspace-get")
    ours = caller.send("GET", theirs["id"]).json
    left_out = {"notebookInfo", "linkedModelInventoryArmId", "sdkTelemetryAppInsightsKey", "sasGetterUri"}
    assert set(theirs) <= set(ours)
    assert set(theirs["properties"]) - left_out <= set(ours["properties"])
    assert ours["properties"]["provisioningState"] == "Succeeded"


def test_the_public_texts_of_arm_are_used(caller: Caller) -> None:
    """Absent workspace, group and parent, and a missing registration, to the letter."""
    texts = {one["body"]["error"]["code"]: one for one in recorded("errors-arm-gateway")}
    world = caller.emulator.world
    computes = f"{world.workspace_id}/computes"
    world.remove(world.workspace_id)
    answers = [caller.send("GET", computes), caller.send("PUT", f"{computes}/k8s1", json_body={})]
    world.remove(world.workspace_id.split("/providers/")[0])
    answers.append(caller.send("GET", computes))
    world.add_workspace(NAME)
    world.set_provider("Microsoft.MachineLearningServices", "NotRegistered")
    answers.append(caller.send("GET", computes))
    codes = ["ResourceNotFound", "ParentResourceNotFound", "ResourceGroupNotFound", "MissingSubscriptionRegistration"]
    for code, answer in zip(codes, answers, strict=True):
        assert (answer.status, answer.json) == (texts[code]["status"], texts[code]["body"])
