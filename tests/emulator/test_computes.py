"""The verbs of computes: statuses, headers, bodies and the states between them."""

from __future__ import annotations

import re

import pytest

from azureml_k8s.emulator import Emulator

from .calls import BASE, SUBSCRIPTION, WORKSPACE, Caller, attach_body, error_of

SEVEN_DIGITS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00")
ENVELOPE = ["id", "name", "type", "location", "tags", "properties"]
PROPERTIES = [
    "createdOn",
    "modifiedOn",
    "disableLocalAuth",
    "description",
    "resourceId",
    "computeType",
    "provisioningState",
    "provisioningErrors",
    "provisioningWarnings",
    "isAttachedCompute",
    "properties",
]


def test_put_answers_201_with_the_members_of_the_recorded_body(caller: Caller) -> None:
    """A PUT is answered as recorded: 201, Creating, tags and warnings null, no identity, no computeLocation."""
    reply = caller.put()
    body = reply.json
    assert reply.status == 201
    assert list(body) == ENVELOPE
    assert list(body["properties"]) == PROPERTIES
    assert body["id"] == f"{WORKSPACE}/computes/k8s1"
    assert body["tags"] is None
    assert body["properties"]["provisioningState"] == "Creating"
    assert body["properties"]["provisioningErrors"] is body["properties"]["provisioningWarnings"] is None
    assert SEVEN_DIGITS.fullmatch(body["properties"]["createdOn"])
    assert body["properties"]["createdOn"] == body["properties"]["modifiedOn"]


def test_the_operation_url_has_the_form_seen_since_2024(caller: Caller) -> None:
    """The operation URL stands in Azure-AsyncOperation alone: about 3 KB, service=new, then t, c, s and h."""
    reply = caller.put()
    url = reply.headers["Azure-AsyncOperation"]
    place = f"{BASE}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.MachineLearningServices/locations/westeurope"
    assert re.fullmatch(
        re.escape(f"{place}/computeOperationsStatus/")
        + r"[0-9a-f-]{36}\?api-version=2024-04-01&service=new&t=\d{18}&c=[\w-]+&s=[\w-]+&h=[\w-]+",
        url,
    )
    assert 2_800 < len(url) < 4_096
    assert not {"location", "retry-after"} & {name.lower() for name in reply.headers}


def test_operation_bodies_hold_nothing_but_the_recorded_members(caller: Caller) -> None:
    """A running operation says InProgress and no more, a finished one adds percentComplete."""
    reply = caller.put()
    assert caller.poll(reply).body == b'{\n  "status": "InProgress"\n}'
    assert caller.poll(reply).body == b'{\n  "status": "Succeeded",\n  "percentComplete": 100.0\n}'
    assert caller.poll(reply).json["status"] == "Succeeded"


def test_get_after_the_end_has_the_recorded_members(caller: Caller) -> None:
    """A settled compute has empty tags and warnings, null errors and description, and its computeLocation."""
    body = caller.attach()
    assert list(body) == ENVELOPE
    assert list(body["properties"]) == [*PROPERTIES, "computeLocation"]
    assert (body["tags"], body["properties"]["provisioningWarnings"]) == ({}, {})
    assert body["properties"]["provisioningState"] == "Succeeded"
    assert body["properties"]["provisioningErrors"] is body["properties"]["description"] is None
    assert body["properties"]["isAttachedCompute"] is True
    assert body["properties"]["computeLocation"] == "westeurope"
    assert body["properties"]["createdOn"] <= body["properties"]["modifiedOn"]


def test_the_kubernetes_block_has_eight_members_and_defaults(caller: Caller) -> None:
    """What the client leaves out is filled in: namespace default, one instance type, no secrets."""
    block = caller.attach()["properties"]["properties"]
    assert block["namespace"] == "default"
    assert block["extensionInstanceReleaseTrain"] == "stable"
    assert block["instanceTypes"][block["defaultInstanceType"]]["resources"]["limits"]["nvidia.com/gpu"] is None
    assert block["relayConnectionString"] is block["serviceBusConnectionString"] is None
    assert len(block) == 8


def test_what_was_asked_is_kept_to_the_letter(caller: Caller) -> None:
    """Instance types with nulls and integers, tags, description and the casing of ids come back unchanged."""
    resources = {"requests": {"cpu": "1", "nvidia.com/gpu": 0}, "limits": {"cpu": "1", "nvidia.com/gpu": None}}
    types = {"Big": {"nodeSelector": {"pool": "gpu"}, "resources": resources}}
    body = attach_body(caller.emulator.aks_id.upper(), namespace="ns1", instanceTypes=types, defaultInstanceType="big")
    body |= {"tags": {"a": "b"}}
    body["properties"] |= {"description": "d", "unknown": 1, "namespace": None, "identityIds": None}
    caller.wait(caller.compute("PUT", "K8s-One", json_body=body))
    got = caller.compute("GET", "k8S-oNE").json
    assert (got["name"], got["tags"], got["properties"]["description"]) == ("K8s-One", {"a": "b"}, "d")
    assert got["properties"]["resourceId"] == caller.emulator.aks_id.upper()
    assert got["properties"]["properties"]["instanceTypes"] == types
    assert "unknown" not in got["properties"]


@pytest.mark.parametrize("action", ["Detach", "detach", "DETACH", "Delete", "delete"])
def test_delete_answers_202_without_body_and_then_the_compute_is_gone(caller: Caller, action: str) -> None:
    """Both actions, in any letter case, end in 404; before that the compute is Deleting."""
    caller.attach()
    reply = caller.detach(action=action)
    assert (reply.status, reply.body) == (202, b"")
    assert "content-type" not in {name.lower() for name in reply.headers}
    assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Deleting"
    assert caller.wait(reply)["status"] == "Succeeded"
    assert error_of(caller.compute("GET", "k8s1")) == (404, "ComputeNotFound")
    assert caller.emulator.world.find(caller.emulator.aks_id) is not None


def test_delete_of_an_absent_compute_is_204(caller: Caller) -> None:
    """Nothing to do is no error."""
    reply = caller.detach("nobody")
    assert (reply.status, reply.body) == (204, b"")


@pytest.mark.parametrize("action", ["", "Remove"])
def test_delete_needs_a_known_action(caller: Caller, action: str) -> None:
    """The action is required and one of two."""
    caller.attach()
    assert error_of(caller.detach(action=action)) == (400, "UserError")


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("running", ["attach", "detach"])
def test_a_write_while_an_operation_runs_is_409(caller: Caller, method: str, running: str) -> None:
    """One operation at a time on one name, in whatever letter case it is written."""
    reply = caller.put()
    if running == "detach":
        caller.wait(reply)
        caller.detach()
    again = caller.put("K8S1") if method == "PUT" else caller.detach("K8S1")
    assert error_of(again) == (409, "Conflict")


def test_put_on_an_existing_compute_keeps_creation_cluster_and_namespace(caller: Caller) -> None:
    """A second PUT is 201 and Creating again, a new operation; cluster and namespace do not change."""
    first = caller.put(namespace="one")
    caller.wait(first)
    before = caller.compute("GET", "k8s1").json
    second = caller.put("K8S1", cluster=caller.emulator.arc_id, namespace="two", instanceTypes={"t": {}})
    assert second.status == 201
    assert second.headers["Azure-AsyncOperation"] != first.headers["Azure-AsyncOperation"]
    assert second.json["tags"] == {}
    assert second.json["properties"]["provisioningState"] == "Creating"
    caller.wait(second)
    after = caller.compute("GET", "k8s1").json
    assert after["name"] == "k8s1"
    assert after["properties"]["createdOn"] == before["properties"]["createdOn"]
    assert after["properties"]["resourceId"] == caller.emulator.aks_id
    assert after["properties"]["properties"]["namespace"] == "one"
    assert list(after["properties"]["properties"]["instanceTypes"]) == ["t"]


def test_put_of_another_type_under_a_taken_name_is_refused(caller: Caller) -> None:
    """A compute does not change its type."""
    caller.emulator.world.add_compute("cpu", "AmlCompute")
    assert error_of(caller.put("cpu")) == (400, "UserError")


@pytest.mark.parametrize("name", ["k", "1k", "k-", "a" * 33, "a_b", "a.b", "%2e%2e", "k8s1\n"])
def test_names_that_no_compute_may_have(caller: Caller, name: str) -> None:
    """Names are 2 to 32 letters, digits and hyphens, a letter first, no hyphen last."""
    reply = caller.compute("PUT", name.replace("\n", "%0A"), json_body=attach_body(caller.emulator.aks_id))
    assert error_of(reply) == (400, "UserError")
    assert "Compute name is invalid" in reply.json["error"]["message"]


@pytest.mark.parametrize("name", ["k8", "a" * 32, "arck-westeu-dev-001"])
def test_names_at_the_limits(caller: Caller, name: str) -> None:
    """The shortest and the longest name work."""
    assert caller.attach(name)["name"] == name


def test_identities_come_back_with_what_the_service_adds(caller: Caller) -> None:
    """A system identity gets principal and tenant; a user identity gets principal and client, under the id given."""
    body = attach_body(caller.emulator.aks_id)
    caller.wait(caller.compute("PUT", "sys", json_body={**body, "identity": {"type": "SystemAssigned"}}))
    assert set(caller.compute("GET", "sys").json["identity"]) == {"type", "principalId", "tenantId"}
    ids = {caller.emulator.identity_id.upper(): {}}
    user = {"type": "UserAssigned", "userAssignedIdentities": ids}
    caller.wait(caller.compute("PUT", "user", json_body={**body, "identity": user}))
    identity = caller.compute("GET", "user").json["identity"]
    assert list(identity["userAssignedIdentities"]) == list(ids)
    assert set(identity["userAssignedIdentities"][next(iter(ids))]) == {"principalId", "clientId"}


def bodies() -> list[tuple[str, object]]:
    """PUT bodies that the provider refuses, each with what is wrong with it."""
    aks = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks1"
    good = attach_body(aks)
    uai = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id1"

    def outer(**members: object) -> dict[str, object]:
        return {**good, **members}

    def middle(**members: object) -> dict[str, object]:
        return {**good, "properties": {**good["properties"], **members}}

    return [
        ("no properties", {}),
        ("properties of a wrong type", outer(properties=[])),
        ("no computeType", outer(properties={})),
        ("computeType of a wrong type", middle(computeType=5)),
        ("unknown computeType", middle(computeType="Toaster")),
        ("no resourceId", middle(resourceId=None)),
        ("a storage account", middle(resourceId="/subscriptions/s/providers/Microsoft.Storage/storageAccounts/a")),
        ("a trailing part", middle(resourceId=f"{aks}/more")),
        ("location of a wrong type", outer(location=5)),
        ("tags of a wrong type", outer(tags=["a"])),
        ("a tag that is no text", outer(tags={"a": 1})),
        ("a tag that is too long", outer(tags={"a": "b" * 257})),
        ("namespace of a wrong type", middle(properties={"namespace": {}})),
        ("inner properties of a wrong type", middle(properties="ns")),
        ("instance types of a wrong type", middle(properties={"instanceTypes": []})),
        ("an instance type of a wrong type", middle(properties={"instanceTypes": {"a": 1}})),
        ("an unknown default", middle(properties={"instanceTypes": {"a": {}}, "defaultInstanceType": "b"})),
        ("identity without type", outer(identity={"x": 1})),
        ("unknown identity", outer(identity={"type": "Borrowed"})),
        (
            "both identities",
            outer(identity={"type": "SystemAssigned,UserAssigned", "userAssignedIdentities": {uai: {}}}),
        ),
        ("user identity without ids", outer(identity={"type": "UserAssigned"})),
        ("ids without user identity", outer(identity={"type": "SystemAssigned", "userAssignedIdentities": {uai: {}}})),
        ("an id of something else", outer(identity={"type": "UserAssigned", "userAssignedIdentities": {aks: {}}})),
        ("disableLocalAuth of a wrong type", middle(disableLocalAuth="yes")),
    ]


@pytest.mark.parametrize(("what", "body"), bodies(), ids=[what for what, _ in bodies()])
def test_a_wrong_body_is_refused_in_the_provider_s_shape(caller: Caller, what: str, body: object) -> None:
    """The provider's refusal has its members, unset ones null, and leaves nothing behind."""
    reply = caller.compute("PUT", "k8s1", json_body=body)
    assert error_of(reply) == (400, "UserError"), what
    error = reply.json["error"]
    assert error["additionalInfo"] is error["innerError"] is None
    assert error["details"] == []
    assert list(reply.json) == ["error", "correlation", "environment", "location", "time", "componentName"]
    assert reply.headers["x-ms-response-type"] == "error"
    assert caller.compute("GET", "k8s1").status == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"nul", b"NaN", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 65 + b"1" + b"}" * 65, b"9" * 5_000],
)
def test_a_body_that_is_no_json_object_is_refused_by_arm(caller: Caller, body: bytes) -> None:
    """What cannot be parsed does not reach the provider."""
    url = f"{BASE}{WORKSPACE}/computes/k8s1?api-version=2024-04-01"
    assert error_of(caller.emulator.handle("PUT", url, {"Authorization": "Bearer t"}, body)) == (
        400,
        "InvalidRequestContent",
    )


def test_sending_the_state_back_is_refused_unless_it_is_equal(caller: Caller) -> None:
    """provisioningState is read-only: equal is ignored, different is 400."""
    caller.attach()
    body = attach_body(caller.emulator.aks_id)
    body["properties"]["provisioningState"] = "Failed"
    assert error_of(caller.compute("PUT", "k8s1", json_body=body)) == (400, "UserError")
    body["properties"]["provisioningState"] = "Succeeded"
    assert caller.compute("PUT", "k8s1", json_body=body).status == 201


def test_patch_changes_the_scale_of_an_aml_compute(caller: Caller) -> None:
    """A PATCH is 202 with a body in state Updating, and an operation."""
    caller.emulator.world.add_compute("cpu", "AmlCompute")
    scale = {"properties": {"properties": {"scaleSettings": {"maxNodeCount": 8}}}}
    reply = caller.compute("PATCH", "cpu", json_body=scale)
    assert (reply.status, reply.json["properties"]["provisioningState"]) == (202, "Updating")
    assert caller.wait(reply)["status"] == "Succeeded"
    assert caller.compute("GET", "cpu").json["properties"]["properties"]["scaleSettings"] == {"maxNodeCount": 8}


def test_patch_of_a_kubernetes_compute_or_without_scale_is_refused(caller: Caller) -> None:
    """Only scale settings, and only of AmlCompute."""
    caller.attach()
    caller.emulator.world.add_compute("cpu", "AmlCompute")
    scale = {"properties": {"properties": {"scaleSettings": {}}}}
    assert error_of(caller.compute("PATCH", "k8s1", json_body=scale)) == (400, "UserError")
    for body in ({}, {"properties": 1}, {"properties": {"properties": []}}):
        assert error_of(caller.compute("PATCH", "cpu", json_body=body)) == (400, "UserError")


def test_keys_and_nodes_are_refused_for_kubernetes(caller: Caller) -> None:
    """A Kubernetes compute has neither keys nor nodes; the message is the recorded one."""
    caller.attach()
    reply = caller.compute("POST", "k8s1/listKeys")
    assert error_of(reply) == (400, "UserError")
    expected = "Kubernetes computes do not have any secrets associated with them. This operation is not supported."
    assert reply.json["error"]["message"] == expected
    assert error_of(caller.compute("POST", "k8s1/listNodes")) == (400, "UserError")


def test_keys_and_nodes_of_other_types(caller: Caller) -> None:
    """AmlCompute lists its (no) nodes; keys of a type that has some are not emulated."""
    caller.emulator.world.add_compute("cpu", "AmlCompute")
    caller.emulator.world.add_compute("vm", "VirtualMachine")
    assert caller.compute("POST", "cpu/listNodes").json == {"nodes": []}
    assert error_of(caller.compute("POST", "vm/listKeys")) == (501, "NotEmulated")


def test_a_list_without_more_pages_has_no_next_link(caller: Caller) -> None:
    """The key is left out, not null: azureml-core looks only for the key."""
    caller.attach()
    caller.emulator.world.add_compute("cpu", "AmlCompute")
    reply = caller.send("GET", f"{WORKSPACE}/computes")
    assert list(reply.json) == ["value"]
    assert [one["properties"]["computeType"] for one in reply.json["value"]] == ["Kubernetes", "AmlCompute"]


def test_pages_follow_each_other_even_if_something_goes_between(caller: Caller) -> None:
    """The token says after which compute to go on, so a removal between two pages loses nothing."""
    caller.emulator.pace.page_size = 2
    for number in range(5):
        caller.emulator.world.add_compute(f"cpu{number}", "AmlCompute")
    first = caller.send("GET", f"{WORKSPACE}/computes").json
    caller.emulator.world.remove(first["value"][0]["id"])
    second = caller.send("GET", first["nextLink"]).json
    third = caller.send("GET", second["nextLink"]).json
    names = [one["name"] for page in (first, second, third) for one in page["value"]]
    assert names == ["cpu0", "cpu1", "cpu2", "cpu3", "cpu4"]
    assert first["nextLink"].startswith(f"{BASE}/subscriptions/")
    assert "nextLink" not in third


@pytest.mark.parametrize("token", ["x", "-1", "1e9", "٣", "9" * 40])
def test_an_invented_page_token_is_refused(caller: Caller, token: str) -> None:
    """A token that was never issued is 400."""
    assert caller.send("GET", f"{WORKSPACE}/computes", **{"$skip": token}).status == 400


def test_state_moves_per_read_of_the_operation_the_compute_or_the_list(caller: Caller) -> None:
    """Whoever looks, looks once: polls counts reads of any kind."""
    caller.emulator.polls = 4
    reply = caller.put()
    caller.poll(reply)
    assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Creating"
    assert caller.send("GET", f"{WORKSPACE}/computes").json["value"][0]["properties"]["provisioningState"] == "Creating"
    assert caller.poll(reply).json["status"] == "Succeeded"


def test_no_polls_ends_an_operation_at_once(caller: Caller) -> None:
    """With polls=0 the first look shows the end, though the 201 still says Creating."""
    caller.emulator.provisioning(polls=0)
    assert caller.put().json["properties"]["provisioningState"] == "Creating"
    assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Succeeded"


def test_state_moves_with_the_clock_where_seconds_are_given() -> None:
    """With provisioning_seconds, reads count for nothing."""
    from azureml_k8s.emulator import FakeClock

    clock = FakeClock()
    caller = Caller(Emulator(clock=clock, provisioning_seconds=2))
    reply = caller.put()
    for _ in range(5):
        assert caller.poll(reply).json["status"] == "InProgress"
    clock.sleep(1.9)
    assert caller.poll(reply).json["status"] == "InProgress"
    clock.sleep(0.1)
    assert caller.poll(reply).json["status"] == "Succeeded"


def test_retry_after_is_sent_where_it_was_ordered(caller: Caller) -> None:
    """Accepted writes and running operations carry it, finished ones do not."""
    caller.emulator.retry_after_s = 3
    reply = caller.put()
    assert reply.headers["Retry-After"] == "3"
    assert caller.poll(reply).headers["Retry-After"] == "3"
    assert "Retry-After" not in caller.poll(reply).headers


def test_an_operation_url_counts_only_as_it_was_issued(caller: Caller) -> None:
    """Another signature, region, subscription or id is refused; an equal query in other escapes is not."""
    url = caller.put().headers["Azure-AsyncOperation"]
    assert error_of(caller.send("GET", url[:-4])) == (400, "InvalidOperationUrl")
    assert error_of(caller.send("GET", url.replace("westeurope", "eastus"))) == (404, "NotFound")
    assert error_of(caller.send("GET", url.replace("computeOperationsStatus/", "computeOperationsStatus/x"))) == (
        404,
        "NotFound",
    )
    assert caller.send("GET", url.replace("service=new", "service=%6Eew")).status == 200
