"""The workspace: what it knows, when it asks, and as whom."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from bodies import SUB, SUB2, WS, sent

from azureml_k8s import (
    Cloud,
    ComputeTarget,
    ComputeTargetException,
    KubernetesCompute,
    NotFoundException,
    ProjectSystemException,
    UnreachableException,
    UserErrorException,
    Workspace,
    WorkspaceException,
)
from azureml_k8s._credentials import AccessToken
from azureml_k8s.authentication import ArmTokenAuthentication, TokenAuthentication
from azureml_k8s.emulator import Emulator, EmulatorAdapter, FakeClock

CLOUD = Cloud.emulator("http://localhost:1")


def settings(emulator: Emulator, clock: FakeClock, **more: Any) -> dict[str, Any]:
    """Keyword arguments that lead a workspace to the emulator."""
    adapter = EmulatorAdapter(emulator, sleep=clock.sleep)
    return {"cloud": CLOUD, "clock": clock, "sleep": clock.sleep, "transport": adapter, **more}


def test_making_one_sends_nothing(workspace: Workspace, emulator: Emulator) -> None:
    """Nor do its names, its repr and closing it."""
    assert (workspace.subscription_id, workspace.resource_group, workspace.name) == (SUB, "rg", "ws")
    assert workspace.id == WS
    assert workspace.cloud == CLOUD
    assert "ws" in repr(workspace)
    workspace.close()
    assert emulator.requests == []


def test_names_by_position_and_by_keyword() -> None:
    """azureml-core's order and names."""
    first = Workspace(SUB, "rg", "ws")
    second = Workspace(workspace_name="ws", resource_group="rg", subscription_id=SUB)
    assert first.id == second.id == WS
    with pytest.raises(TypeError):
        Workspace(SUB, "rg", "ws", None, "credential")  # type: ignore[misc]


def test_details_are_read_once_on_first_need(workspace: Workspace, emulator: Emulator) -> None:
    """Location, tags, sku and discovery_url share one GET."""
    assert workspace.location == "westeurope"
    assert workspace.tags == {}
    assert workspace.sku == "Basic"
    assert (workspace.discovery_url or "").endswith("/discovery")
    assert workspace.location == "westeurope"
    assert sent(emulator) == ["GET workspace"]


def test_get_details_reads_anew_and_gives_the_services_body(workspace: Workspace, emulator: Emulator) -> None:
    """Changing what it gives changes nothing here."""
    assert workspace.location == "westeurope"
    details = workspace.get_details()
    assert details["id"] == WS
    details["tags"] = {"mine": "x"}
    assert workspace.tags == {}
    assert sent(emulator) == ["GET workspace", "GET workspace"]


def test_a_given_location_is_believed(emulator: Emulator, clock: FakeClock) -> None:
    """And saves the GET."""
    with Workspace(SUB, "rg", "ws", **settings(emulator, clock, location="westus")) as workspace:
        assert workspace.location == "westus"
        ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(emulator.aks_id))
    assert sent(emulator) == ["GET computes/k8s1", "PUT computes/k8s1"]
    assert emulator.requests[-1].json["location"] == "westus"


@pytest.mark.parametrize(
    "body", [{}, {"location": None}, {"location": 7}, {"location": ""}, {"tags": [1], "sku": "x", "properties": []}]
)
def test_strange_details_raise_or_read_as_nothing(workspace: Workspace, emulator: Emulator, body: Any) -> None:
    """Never KeyError or TypeError from an answer."""
    emulator.faults.add("workspaces/ws?", every=1, body=body)
    with pytest.raises(UnreachableException, match="location"):
        _ = workspace.location
    assert (workspace.tags, workspace.sku, workspace.discovery_url) == ({}, None, None)


@pytest.mark.parametrize("body", ["[]", "null", '"x"', ""])
def test_details_that_are_no_object_raise(workspace: Workspace, emulator: Emulator, body: str) -> None:
    """The answer is not the service's."""
    emulator.faults.add("workspaces/ws?", every=1, body=body)
    with pytest.raises(UnreachableException):
        workspace.get_details()


def test_an_absent_workspace_raises_on_first_need(workspace: Workspace, emulator: Emulator) -> None:
    """ProjectSystemException, as in azureml-core, and a ComputeTargetException here."""
    emulator.world.remove(WS)
    with pytest.raises(ProjectSystemException) as caught:
        _ = workspace.location
    assert isinstance(caught.value, ComputeTargetException)


# Workspace.get


def test_get_reads_once_and_returns_the_workspace(emulator: Emulator, clock: FakeClock) -> None:
    """azureml-core's order of arguments."""
    with Workspace.get("ws", None, SUB, "rg", **settings(emulator, clock)) as found:
        assert (found.name, found.location) == ("ws", "westeurope")
    assert sent(emulator) == ["GET workspace"]


def test_get_of_an_absent_one_raises(emulator: Emulator, clock: FakeClock) -> None:
    """The workspace, its group, or its subscription."""
    for subscription, group, name in ((SUB, "rg", "nope"), (SUB, "nope", "ws"), (SUB2, "rg", "ws")):
        with pytest.raises(ProjectSystemException):
            Workspace.get(name, None, subscription, group, **settings(emulator, clock))


def test_get_takes_an_id(emulator: Emulator, clock: FakeClock) -> None:
    """In place of subscription and group."""
    with Workspace.get("ws", id=WS, **settings(emulator, clock)) as found:
        assert found.id == WS


def test_get_finds_a_workspace_without_its_group(emulator: Emulator, clock: FakeClock) -> None:
    """By listing the subscription; letter case does not count."""
    emulator.world.add_workspace("other")
    with Workspace.get("WS", None, SUB, **settings(emulator, clock)) as found:
        assert found.id == WS
        assert found.location == "westeurope"
    assert len(emulator.requests) == 1
    with pytest.raises(ProjectSystemException, match="nope"):
        Workspace.get("nope", None, SUB, **settings(emulator, clock))


def test_a_name_in_several_groups_is_ambiguous(emulator: Emulator, clock: FakeClock) -> None:
    """azureml-core's WorkspaceException; the groups are told."""
    emulator.world.add_workspace("ws", resource_group="rg2")
    with pytest.raises(WorkspaceException, match="ws") as caught:
        Workspace.get("ws", None, SUB, **settings(emulator, clock))
    assert "rg2" in (caught.value.remedy or "")


# Workspace.list


def test_list_maps_names_to_workspaces(emulator: Emulator, clock: FakeClock) -> None:
    """azureml-core's {name: [Workspace]}, whose details need no further request."""
    emulator.world.add_workspace("ws", resource_group="rg2")
    emulator.world.add_workspace("other", location="westus")
    found = Workspace.list(SUB, **settings(emulator, clock))
    assert {name: [one.resource_group for one in ones] for name, ones in found.items()} == {
        "ws": ["rg", "rg2"],
        "other": ["rg"],
    }
    assert [one.location for ones in found.values() for one in ones] == ["westeurope", "westeurope", "westus"]
    assert len(emulator.requests) == 1
    assert ComputeTarget.list(found["other"][0]) == []


def test_list_of_one_group(emulator: Emulator, clock: FakeClock) -> None:
    """azureml-core's third argument."""
    emulator.world.add_workspace("ws", resource_group="rg2")
    found = Workspace.list(SUB, None, "rg2", **settings(emulator, clock))
    assert [one.resource_group for ones in found.values() for one in ones] == ["rg2"]


@pytest.mark.parametrize("item", [None, 7, {}, {"id": None}, {"id": 7}, {"id": f"/subscriptions/{SUB}"}])
def test_an_odd_item_does_not_break_a_list(
    emulator: Emulator, clock: FakeClock, caplog: pytest.LogCaptureFixture, item: object
) -> None:
    """It is left out with one warning."""
    emulator.faults.add("workspaces?", body={"value": [item, {"id": WS}]})
    found = Workspace.list(SUB, **settings(emulator, clock))
    assert list(found) == ["ws"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# Who asks.


class Credential:
    """A TokenCredential, as azure-core means it."""

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        assert scopes == (CLOUD.token_scope,)
        return AccessToken("t-1", 2**33)


class Signed:
    """msrest-style credentials."""

    def signed_session(self, session: Any = None) -> Any:
        import requests

        session = session or requests.Session()
        session.headers["Authorization"] = "Bearer t-1"
        return session


class Header:
    """An authentication object of azureml-core."""

    def get_authentication_header(self) -> dict[str, str]:
        return {"Authorization": "Bearer t-1"}


@pytest.mark.parametrize("argument", ["auth", "credential"])
@pytest.mark.parametrize(
    "made",
    [
        Credential(),
        Signed(),
        Header(),
        TokenAuthentication(lambda audience: "t-1", CLOUD),
        ArmTokenAuthentication("t-1", CLOUD),
    ],
    ids=lambda made: type(made).__name__,
)
def test_every_kind_of_credential_signs(emulator: Emulator, clock: FakeClock, argument: str, made: object) -> None:
    """Under azureml-core's name and under Azure's."""
    with Workspace(SUB, "rg", "ws", **settings(emulator, clock, **{argument: made})) as workspace:
        assert workspace.location == "westeurope"
    assert emulator.requests[0].headers["Authorization"] == "Bearer t-1"


def test_two_credentials_are_one_too_many(no_network: None) -> None:
    """They mean the same."""
    with pytest.raises(UserErrorException, match="not both"):
        Workspace(SUB, "rg", "ws", Credential(), credential=Credential())


def test_an_async_credential_is_refused(no_network: None) -> None:
    """With the name of the class to take instead."""

    class Async:
        async def get_token(self, *scopes: str) -> AccessToken:
            return AccessToken("t", 0)

    with pytest.raises(UserErrorException, match="asyncio"):
        Workspace(SUB, "rg", "ws", credential=Async())


@pytest.mark.parametrize("auth", ["token", 7, Credential, object()])
def test_what_is_no_credential_is_refused(no_network: None, auth: object) -> None:
    """A TypeError that names the argument."""
    with pytest.raises(TypeError, match="auth"):
        Workspace(SUB, "rg", "ws", auth)


# Where and how.


@pytest.mark.parametrize("cloud", ["Azure", "", " "])
def test_an_unknown_cloud_lists_the_known(cloud: str) -> None:
    """By name."""
    with pytest.raises(UserErrorException, match=r"AzureCloud, AzureChinaCloud, AzureUSGovernment"):
        Workspace(SUB, "rg", "ws", cloud=cloud)


def test_the_version_can_be_set(emulator: Emulator, clock: FakeClock) -> None:
    """Per workspace, else per cloud; every request carries it."""
    by_cloud = Cloud.emulator("http://localhost:1", api_version="2025-06-01")
    for more, version in (
        ({}, "2024-04-01"),
        ({"cloud": by_cloud}, "2025-06-01"),
        ({"cloud": by_cloud, "api_version": "2025-12-01"}, "2025-12-01"),
    ):
        emulator.requests.clear()
        with Workspace(SUB, "rg", "ws", **settings(emulator, clock, **more)) as workspace:
            target = ComputeTarget.attach(
                workspace, f"k{version}", KubernetesCompute.attach_configuration(emulator.aks_id)
            )
            target.wait_for_completion()
            assert ComputeTarget.list(workspace)
            target.detach()
        assert len(emulator.requests) > 5
        assert {request.query["api-version"] for request in emulator.requests} == {version}


@pytest.mark.parametrize("version", ["", "latest", "2024", "2024-13-01", "2024-04-01&x=1", 7])
def test_what_is_no_version_is_refused(no_network: None, version: Any) -> None:
    """Before any request, naming the argument."""
    with pytest.raises((UserErrorException, TypeError), match="api_version"):
        Workspace(SUB, "rg", "ws", api_version=version)


def test_a_version_that_is_not_offered_names_the_argument(emulator: Emulator, clock: FakeClock) -> None:
    """And those that are."""
    workspace = Workspace(SUB, "rg", "ws", **settings(emulator, clock, api_version="2031-01-01"))
    with workspace, pytest.raises(ComputeTargetException) as caught:
        ComputeTarget(workspace, "k8s1")
    assert not isinstance(caught.value, NotFoundException)
    assert "2024-04-01" in str(caught.value)
    assert "api_version" in (caught.value.remedy or "")


@pytest.mark.parametrize("argument", ["connect_timeout", "read_timeout", "max_wait"])
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), "10", None, True])
def test_limits_are_positive_seconds(argument: str, value: Any) -> None:
    """The error names the argument."""
    with pytest.raises((UserErrorException, TypeError), match=argument):
        Workspace(SUB, "rg", "ws", **{argument: value})


def test_a_location_of_another_type_is_refused() -> None:
    """By its name."""
    with pytest.raises(TypeError, match="location"):
        Workspace(SUB, "rg", "ws", location=7)  # type: ignore[arg-type]


def test_a_closed_workspace_opens_again(workspace: Workspace, emulator: Emulator) -> None:
    """close frees the connections, not the object."""
    assert workspace.location
    workspace.close()
    workspace.close()
    assert ComputeTarget.list(workspace) == []


def test_many_threads_share_one_read(workspace: Workspace, emulator: Emulator) -> None:
    """The location is read once even so."""
    seen: list[str] = []
    threads = [threading.Thread(target=lambda: seen.append(workspace.location)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["westeurope"] * 8
    assert sent(emulator) == ["GET workspace"]


def test_the_token_is_never_shown(emulator: Emulator, clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    """Not in errors, logs or repr."""
    secret = "eyJ0eXAi-secret-token"
    auth = TokenAuthentication(lambda audience: secret, CLOUD)
    caplog.set_level(0)
    with Workspace(SUB, "rg", "ws", auth, **settings(emulator, clock)) as workspace:
        emulator.faults.add("computes", status=403, every=1, body={"error": {"message": f"Bearer {secret}"}})
        with pytest.raises(ComputeTargetException) as caught:
            ComputeTarget(workspace, "k8s1")
        assert emulator.requests[0].headers["Authorization"] == f"Bearer {secret}"
    shown = "".join([str(caught.value), repr(caught.value), repr(workspace), repr(auth), caplog.text])
    assert secret not in shown
