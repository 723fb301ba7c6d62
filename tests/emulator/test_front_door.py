"""ARM's own checks and headers, and the reads of everything but computes."""

from __future__ import annotations

import re
import uuid

import pytest

from azureml_k8s.emulator import Emulator

from .calls import BASE, GROUP, SUBSCRIPTION, WORKSPACE, Caller, attach_body, error_of

NO_SUCH = "11111111-1111-1111-1111-111111111111"
AKS = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters"
ARC = f"{GROUP}/providers/Microsoft.Kubernetes/connectedClusters"
IDENTITY = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
EXTENSIONS = "providers/Microsoft.KubernetesConfiguration/extensions"


@pytest.mark.parametrize("value", [None, "", "Bearer", "Bearer ", "Basic dTpw", "SharedKey x"])
def test_without_a_bearer_token_everything_is_401(caller: Caller, value: str | None) -> None:
    """No token, an empty one or another scheme is refused, with a challenge."""
    headers = {} if value is None else {"Authorization": value}
    reply = caller.emulator.handle("GET", f"{BASE}{WORKSPACE}?api-version=2024-04-01", headers)
    assert error_of(reply) == (401, "AuthenticationFailed")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("path", ["/metadata/endpoints?api-version=2019-05-01", "/discovery"])
def test_what_clients_read_before_they_sign_in_needs_no_token(emulator: Emulator, path: str) -> None:
    """Metadata and the discovery document are open, and lead back to the host that was asked."""
    reply = emulator.handle("GET", path, {"Host": "127.0.0.1:8443"})
    assert reply.status == 200
    assert "https://127.0.0.1:8443" in reply.body.decode()


@pytest.mark.parametrize(
    "version", ["2020-02-02", "2021-10-01", "2022-01-01-preview", "2023-08-01-preview", "2026-09-01"]
)
def test_api_versions_in_real_use_are_accepted(caller: Caller, version: str) -> None:
    """Listed versions work, and the two unlisted ones that SDKs send."""
    assert caller.send("GET", WORKSPACE, version=version).status == 200


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (None, "MissingApiVersionParameter"),
        ("", "MissingApiVersionParameter"),
        ("latest", "InvalidApiVersionParameter"),
        ("2024-04-01' or 1=1", "InvalidApiVersionParameter"),
        ("2030-01-01", "NoRegisteredProviderFound"),
        ("2024-04-02", "NoRegisteredProviderFound"),
    ],
)
def test_other_api_versions_are_refused_with_those_on_offer(caller: Caller, version: str | None, code: str) -> None:
    """The refusal of an unknown version names every known one."""
    reply = caller.send("GET", f"{WORKSPACE}/computes", version=version)
    assert error_of(reply) == (400, code)
    if code != "MissingApiVersionParameter":
        assert "2020-02-02" in reply.json["error"]["message"]
        assert "2026-09-01" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", f"/subscriptions/not-a-guid/resourceGroups/rg/{EXTENSIONS}", 501, "NotEmulated"),
        ("GET", WORKSPACE.replace(SUBSCRIPTION, "not-a-guid"), 400, "InvalidSubscriptionId"),
        ("GET", WORKSPACE.replace(SUBSCRIPTION, NO_SUCH), 404, "SubscriptionNotFound"),
        ("GET", WORKSPACE.replace("/rg/", "/no/"), 404, "ResourceGroupNotFound"),
        ("GET", f"{WORKSPACE}-no", 404, "ResourceNotFound"),
        ("GET", f"{WORKSPACE}-no/computes", 404, "ResourceNotFound"),
        ("GET", f"{WORKSPACE}-no/computes/k8s1", 404, "ResourceNotFound"),
        ("PUT", f"{WORKSPACE}-no/computes/k8s1", 404, "ParentResourceNotFound"),
        ("DELETE", f"{WORKSPACE}-no/computes/k8s1", 404, "ResourceNotFound"),
        ("GET", f"{WORKSPACE}/computes/no", 404, "ComputeNotFound"),
        ("PATCH", f"{WORKSPACE}/computes/no", 404, "ComputeNotFound"),
        ("POST", f"{WORKSPACE}/computes/no/listKeys", 404, "ComputeNotFound"),
    ],
)
def test_each_kind_of_absence_has_its_answer(caller: Caller, method: str, path: str, status: int, code: str) -> None:
    """Subscription, group, workspace, parent of a write, and compute are told apart."""
    body = attach_body(caller.emulator.aks_id) if method in ("PUT", "PATCH") else None
    assert error_of(caller.send(method, path, json_body=body)) == (status, code)


def test_the_absence_of_a_workspace_is_told_in_arm_s_words(caller: Caller) -> None:
    """The message is the one seen publicly."""
    message = caller.send("GET", f"{WORKSPACE}-no/computes").json["error"]["message"]
    assert message == (
        "The Resource 'Microsoft.MachineLearningServices/workspaces/ws-no' under resource group 'rg' was not found. "
        "For more details please go to https://aka.ms/ARMResourceNotFoundFix"
    )


@pytest.mark.parametrize(
    "path",
    [
        f"{WORKSPACE}/jobs/j",
        f"{WORKSPACE}/computes/k8s1/start",
        "/providers",
        "/",
        "/tenants",
        f"{GROUP}/providers/Microsoft.Compute/virtualMachines/vm",
        f"{AKS}/aks1/listClusterAdminCredential",
    ],
)
def test_what_is_not_emulated_answers_501_with_the_route(caller: Caller, path: str) -> None:
    """The answer names method and path and says where to ask."""
    reply = caller.send("POST", path)
    assert error_of(reply) == (501, "NotEmulated")
    message = reply.json["error"]["message"]
    assert message.startswith(f"POST {path} is not emulated.")
    assert "docs/emulator.md" in message


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "TRACE", "BREW"])
def test_a_wrong_verb_is_405_and_names_the_right_ones(caller: Caller, method: str) -> None:
    """A route that exists under other verbs says which."""
    reply = caller.send(method, f"{WORKSPACE}/computes/k8s1")
    assert error_of(reply) == (405, "MethodNotAllowed")
    assert reply.headers["Allow"] == "DELETE, GET, PATCH, PUT"


def test_every_answer_carries_the_recorded_headers(caller: Caller) -> None:
    """Request and correlation id are one GUID; routing id, date and remaining counts have their forms."""
    headers = caller.send("GET", WORKSPACE).headers
    uuid.UUID(headers["x-ms-request-id"])
    assert headers["x-ms-request-id"] == headers["x-ms-correlation-request-id"]
    assert re.fullmatch(r"WESTEUROPE:\d{8}T\d{6}Z:[0-9a-f-]{36}", headers["x-ms-routing-request-id"])
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", headers["Date"])
    assert headers["x-ms-ratelimit-remaining-subscription-reads"] == "249"
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert headers["x-ms-response-type"] == "standard"
    assert {"Cache-Control", "Pragma", "Expires", "Request-Context", "Strict-Transport-Security"} <= set(headers)
    assert "x-ms-ratelimit-remaining-subscription-writes" in caller.put().headers


def test_the_client_s_id_is_echoed_only_when_asked(caller: Caller) -> None:
    """x-ms-client-request-id comes back with x-ms-return-client-request-id: true; a correlation id always does."""
    mine = {"X-MS-Client-Request-Id": str(uuid.uuid4()), "x-ms-correlation-request-id": str(uuid.uuid4())}
    plain = caller.send("GET", WORKSPACE, headers=mine).headers
    echoed = caller.send("GET", WORKSPACE, headers={**mine, "x-ms-return-client-request-id": "true"}).headers
    assert "x-ms-client-request-id" not in plain
    assert echoed["x-ms-client-request-id"] == mine["X-MS-Client-Request-Id"]
    assert plain["x-ms-correlation-request-id"] == mine["x-ms-correlation-request-id"]


@pytest.mark.parametrize(
    "path",
    [
        WORKSPACE.upper().replace("/SUBSCRIPTIONS", "//subscriptions"),
        f"/{WORKSPACE}/",
        WORKSPACE.replace("/", "//"),
        WORKSPACE.replace("ws", "%77s"),
        WORKSPACE.replace("resourceGroups", "resourcegroups").replace("/rg/", "/RG/"),
    ],
)
def test_paths_are_read_without_regard_to_case_slashes_and_escapes(caller: Caller, path: str) -> None:
    """Azureml-core sends doubled slashes, everybody spells resourceGroups as they like; the casing kept answers."""
    reply = caller.send("GET", path)
    assert (reply.status, reply.json["id"]) == (200, WORKSPACE)


def test_an_unregistered_provider_is_409_until_it_is_registered(caller: Caller) -> None:
    """The refusal has the public text; registering takes some reads, then requests work."""
    namespace = "Microsoft.MachineLearningServices"
    caller.emulator.world.set_provider(namespace, "NotRegistered")
    reply = caller.send("GET", f"{WORKSPACE}/computes")
    assert error_of(reply) == (409, "MissingSubscriptionRegistration")
    assert f"'{namespace}'" in reply.json["error"]["message"]
    assert reply.json["error"]["details"][0]["target"] == namespace
    place = f"/subscriptions/{SUBSCRIPTION}/providers/{namespace}"
    begun = caller.send("POST", f"{place}/register", version="2016-02-01")
    assert begun.json["registrationState"] == "Registering"
    states = [caller.send("GET", place, version="2016-02-01").json["registrationState"] for _ in range(2)]
    assert states == ["Registering", "Registered"]
    assert caller.send("GET", f"{WORKSPACE}/computes").status == 200


def test_an_unknown_provider_is_404(caller: Caller) -> None:
    """A namespace that does not exist cannot be registered."""
    place = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Nothing"
    assert error_of(caller.send("GET", place, version="2021-04-01")) == (404, "InvalidResourceNamespace")
    assert caller.send("POST", f"{place}/register", version="2021-04-01").status == 404


@pytest.mark.parametrize(
    ("path", "version", "resource_type"),
    [
        (f"{AKS}/AKS1", "2024-09-01", "Microsoft.ContainerService/ManagedClusters"),
        (f"{AKS}/aks1", "2026-08-01", "Microsoft.ContainerService/ManagedClusters"),
        (f"{ARC}/arc1", "2021-10-01", "Microsoft.Kubernetes/connectedClusters"),
        (f"{AKS}/aks1/{EXTENSIONS}/azureml", "2023-05-01", "Microsoft.KubernetesConfiguration/extensions"),
        (f"{ARC}/arc1/{EXTENSIONS}/AzureML", "2025-03-01", "Microsoft.KubernetesConfiguration/extensions"),
        (f"{IDENTITY}/id1", "2024-11-30", "Microsoft.ManagedIdentity/userAssignedIdentities"),
        (GROUP, "2024-11-01", "Microsoft.Resources/resourceGroups"),
    ],
)
def test_the_resources_around_a_workspace_are_read_by_name(
    caller: Caller, path: str, version: str, resource_type: str
) -> None:
    """Clusters, extensions, identities and groups answer under the versions that their clients send."""
    reply = caller.send("GET", path, version=version)
    assert (reply.status, reply.json["type"]) == (200, resource_type)
    assert reply.json["id"].lower() == path.lower()


@pytest.mark.parametrize(
    "path", [f"{AKS}/no", f"{ARC}/no", f"{IDENTITY}/no", f"{AKS}/no/{EXTENSIONS}", f"{AKS}/aks1/{EXTENSIONS}/no"]
)
def test_resources_that_do_not_exist_are_404(caller: Caller, path: str) -> None:
    """Each absent one is ResourceNotFound."""
    version = {"ContainerService": "2024-09-01", "Kubernetes/": "2024-01-01"}
    api = "2023-05-01" if EXTENSIONS in path else next((v for k, v in version.items() if k in path), "2024-11-30")
    assert error_of(caller.send("GET", path, version=api)) == (404, "ResourceNotFound")


@pytest.mark.parametrize(
    ("path", "version", "names"),
    [
        (AKS, "2024-09-01", ["aks1"]),
        (ARC, "2024-01-01", ["arc1"]),
        (AKS.replace("/resourceGroups/rg", ""), "2024-09-01", ["aks1"]),
        (IDENTITY, "2024-11-30", ["id1"]),
        (f"{AKS}/aks1/{EXTENSIONS}", "2023-05-01", ["azureml"]),
        (f"/subscriptions/{SUBSCRIPTION}/resourceGroups", "2022-09-01", ["rg"]),
        (WORKSPACE.removesuffix("/ws"), "2024-04-01", ["ws"]),
        (WORKSPACE.removesuffix("/ws").replace("/resourceGroups/rg", ""), "2024-04-01", ["ws"]),
    ],
)
def test_lists_hold_what_is_in_their_scope(caller: Caller, path: str, version: str, names: list[str]) -> None:
    """By group, by subscription, by cluster."""
    reply = caller.send("GET", path, version=version)
    assert [one["name"] for one in reply.json["value"]] == names


def test_subscriptions_are_read_and_listed(caller: Caller) -> None:
    """The one of the default world, under both routes."""
    one = caller.send("GET", f"/subscriptions/{SUBSCRIPTION}", version="2022-12-01").json
    every = caller.send("GET", "//subscriptions", version="2022-12-01").json
    assert every == {"value": [one]}


def test_head_of_a_resource_group_tells_whether_it_exists(caller: Caller) -> None:
    """204 or 404, without a body."""
    assert caller.send("HEAD", GROUP, version="2022-09-01").status == 204
    absent = caller.send("HEAD", f"{GROUP}-no", version="2022-09-01")
    assert (absent.status, absent.body) == (404, b"")


def test_the_extension_type_comes_in_lower_case(caller: Caller) -> None:
    """As the service spells it, with settings that are texts."""
    properties = caller.send("GET", f"{AKS}/aks1/{EXTENSIONS}", version="2023-05-01").json["value"][0]["properties"]
    assert properties["extensionType"] == "microsoft.azureml.kubernetes"
    assert properties["scope"]["cluster"]["releaseNamespace"] == "azureml"
    assert all(isinstance(value, str) for value in properties["configurationSettings"].values())


def test_role_assignments_are_listed_for_a_scope_and_what_is_above(caller: Caller, emulator: Emulator) -> None:
    """Those of the group count for the cluster, those of a neighbour do not; the filter picks a principal."""
    world = emulator.world
    world.add_role_assignment(GROUP, "p1", "Reader")
    world.add_role_assignment(emulator.aks_id, "p2", "Owner")
    world.add_role_assignment(emulator.arc_id, "p3", "Owner")

    path = f"{emulator.aks_id}/providers/Microsoft.Authorization/roleAssignments"

    def principals(**query: str) -> list[str]:
        reply = caller.send("GET", path, version="2022-04-01", **query)
        return [one["properties"]["principalId"] for one in reply.json["value"]]

    assert principals() == ["p1", "p2"]
    assert principals(**{"$filter": "principalId eq 'P2'"}) == ["p2"]
    assert caller.send("GET", path, version="2022-04-01", **{"$filter": "atScope()"}).status == 501


def test_the_regional_front_end_reads_computes(caller: Caller) -> None:
    """Azureml-core reads and lists through /rp/workspaces; writes there are no route."""
    caller.attach()
    prefix = f"/rp/workspaces{WORKSPACE}"
    assert caller.send("GET", f"{prefix}/computes/k8s1", version="2020-02-02").json["name"] == "k8s1"
    listed = caller.send("GET", f"{prefix}/computes", version="2020-02-02").json["value"]
    assert [one["name"] for one in listed] == ["k8s1"]
    assert caller.send("DELETE", f"{prefix}/computes/k8s1", version="2020-02-02").status == 405


def test_pages_of_the_regional_front_end_stay_there(caller: Caller) -> None:
    """The next link leads to the route that the first page came from."""
    caller.emulator.pace.page_size = 1
    for name in ("one", "two"):
        caller.emulator.world.add_compute(name)
    first = caller.send("GET", f"/rp/workspaces{WORKSPACE}/computes", version="2020-02-02").json
    assert first["nextLink"].startswith(f"{BASE}/rp/workspaces/subscriptions/")
    assert [one["name"] for one in caller.send("GET", first["nextLink"]).json["value"]] == ["two"]


def test_the_metadata_leads_a_client_to_this_host(emulator: Emulator) -> None:
    """Name, portal, resource manager, login and storage suffix are there, which azure-ai-ml reads."""
    cloud = emulator.handle("GET", "https://127.0.0.1:9/metadata/endpoints?api-version=2019-05-01").json[0]
    assert cloud["resourceManager"] == "https://127.0.0.1:9/"
    assert cloud["authentication"]["loginEndpoint"].startswith("https://127.0.0.1:9/")
    assert {"name", "portal", "suffixes"} <= set(cloud)


def test_a_workspace_s_discovery_url_leads_to_this_host(caller: Caller, emulator: Emulator) -> None:
    """Azureml-core follows it to find the regional front end."""
    url = caller.send("GET", WORKSPACE).json["properties"]["discoveryUrl"]
    assert emulator.handle("GET", url).json["api"] == BASE


def test_requests_are_recorded_without_showing_tokens(caller: Caller, emulator: Emulator) -> None:
    """Method, path, query, headers and body are there; the repr shows no header value."""
    caller.put(namespace="ns1")
    request = emulator.requests[-1]
    assert (request.method, request.path) == ("PUT", f"{WORKSPACE}/computes/k8s1")
    assert request.query == {"api-version": "2024-04-01"}
    assert request.headers["authorization"] == "Bearer t"
    assert request.json["properties"]["properties"] == {"namespace": "ns1"}
    assert "Bearer" not in repr(request) + repr(request.headers)
