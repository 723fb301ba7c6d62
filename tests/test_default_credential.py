"""Signing in when no credential is given: what is tried, at which authority, and what the error says."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import azure.identity
import pytest
from azure.core.pipeline.transport import HttpTransport

from azureml_k8s import _credentials
from azureml_k8s._credentials import UNATTENDED, EmulatorCredential, Kind, SignInChain, TokenSource, default_credential
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException

CLOUD = Cloud.named("AzureCloud")
STACK = Cloud("stack", "https://arm.stack.local", "https://arm.stack.local/.default", "https://login.stack.local")
GUID = "00000000-0000-0000-0000-000000000000"
SECRET = "hush-hush-hush"  # long enough to be found wherever it is shown
KINDS = [
    "environment",
    "workload identity",
    "managed identity",
    "Azure CLI",
    "Azure Developer CLI",
    "Azure PowerShell",
]


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """No variables, no tools, no network: whatever is asked over http refuses at once, and no back-off is slept."""
    for name in list(os.environ):
        if name.startswith(("AZURE", "IDENTITY_", "MSI_", "IMDS_", "ARM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{closed.getsockname()[1]}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(HttpTransport, "sleep", lambda *_: None)
        monkeypatch.setattr(webbrowser, "get", lambda *_: pytest.fail("a browser was opened"))
        yield


def failure_of(credential: Any, cloud: Cloud = CLOUD) -> AuthenticationException:
    with pytest.raises(AuthenticationException) as caught:
        credential.get_token(cloud.token_scope)
    return caught.value


def fake(label: str, answer: Any, *, missing: Callable[[], str | None] = lambda: None, gives_way: bool = False) -> Kind:
    """A kind whose credential gives the answer, or raises it."""

    def get_token(*scopes: str, **kwargs: Any) -> Any:
        found = answer() if callable(answer) else answer
        if isinstance(found, Exception):
            raise found
        return found

    return Kind(label, lambda *_: SimpleNamespace(get_token=get_token), missing, lambda: gives_way)


def test_machine_without_azure(caplog: pytest.LogCaptureFixture) -> None:
    """An error within seconds lists the kinds tried and the missing variables (azure-sdk-for-python#28327)."""
    started_s = time.monotonic()
    with caplog.at_level(logging.DEBUG):
        error = failure_of(default_credential(CLOUD))
    assert time.monotonic() - started_s < 20
    assert [detail.partition(":")[0] for detail in error.details] == KINDS
    assert all(kind in error.message for kind in KINDS)
    assert "AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET not set" in str(error)
    assert "AZURE_FEDERATED_TOKEN_FILE" in str(error)
    assert "az login" in str(error.remedy)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    "choice",
    ["dev", "prod", "InteractiveBrowserCredential", "VisualStudioCodeCredential", "DeviceCodeCredential", "nonsense"],
)
def test_environment_cannot_bring_a_person_in(monkeypatch: pytest.MonkeyPatch, choice: str) -> None:
    """No variable adds a browser, device code or broker, or takes a kind away (azure-sdk-for-python#28327)."""
    for kind in ("InteractiveBrowserCredential", "DeviceCodeCredential", "SharedTokenCacheCredential"):
        monkeypatch.setattr(azure.identity, kind, lambda **_: pytest.fail("a person would be asked"))
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", choice)
    monkeypatch.setenv("AZURE_USERNAME", "someone@example.com")
    error = failure_of(default_credential(CLOUD))
    assert [detail.partition(":")[0] for detail in error.details] == KINDS


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"AZURE_CLIENT_SECRET": ""}, "AZURE_CLIENT_SECRET empty"),
        ({"AZURE_CLIENT_SECRET": "  "}, "AZURE_CLIENT_SECRET empty"),
        ({}, "AZURE_CLIENT_SECRET not set (while AZURE_TENANT_ID, AZURE_CLIENT_ID set)"),
    ],
)
def test_two_of_three_variables(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str) -> None:
    """What a service principal lacks is told by names, not values (azure-sdk-for-python#28327)."""
    for name, value in {"AZURE_TENANT_ID": "tenant-value", "AZURE_CLIENT_ID": "client-value", **given}.items():
        monkeypatch.setenv(name, value)
    error = failure_of(default_credential(CLOUD))
    assert said in error.details[0]
    assert "-value" not in str(error)


def test_secret_without_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret alone is not used, and not shown."""
    monkeypatch.setenv("AZURE_CLIENT_SECRET", SECRET)
    error = failure_of(default_credential(CLOUD))
    assert "AZURE_TENANT_ID, AZURE_CLIENT_ID not set (while AZURE_CLIENT_SECRET set)" in error.details[0]
    assert SECRET not in str(error)


def test_configured_principal_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A configured service principal that fails ends the attempt: nobody else's account is used (azure-cli#5940)."""
    for name, value in {"AZURE_TENANT_ID": GUID, "AZURE_CLIENT_ID": GUID, "AZURE_CLIENT_SECRET": SECRET}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(azure.identity, "AzureCliCredential", lambda **_: pytest.fail("another account was asked"))
    error = failure_of(default_credential(CLOUD))
    assert error.message.startswith("Signing in by environment failed: ")
    assert [detail.partition(":")[0] for detail in error.details] == ["environment"]
    assert SECRET not in str(error)
    assert "environment" in str(error.remedy)


@pytest.mark.parametrize("cloud", [CLOUD, Cloud.named("AzureChinaCloud"), Cloud.named("AzureUSGovernment"), STACK])
def test_each_kind_signs_in_at_the_cloud(monkeypatch: pytest.MonkeyPatch, cloud: Cloud) -> None:
    """Kinds that take an authority get the cloud's, whatever AZURE_AUTHORITY_HOST says."""
    seen: dict[str, dict[str, Any]] = {}

    def recorder(kind: str) -> Callable[..., Any]:
        def make(**arguments: Any) -> Any:
            seen[kind] = arguments
            return SimpleNamespace(get_token=lambda *_, **__: (_ for _ in ()).throw(unavailable()))

        return make

    def unavailable() -> Exception:
        return azure.identity.CredentialUnavailableError(message="not here")

    for kind in ("EnvironmentCredential", "WorkloadIdentityCredential", "ManagedIdentityCredential"):
        monkeypatch.setattr(azure.identity, kind, recorder(kind))
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"):
        monkeypatch.setenv(name, GUID)
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", "https://login.evil.example.com")
    error = failure_of(default_credential(cloud), cloud)
    assert "left to the workload identity" in error.details[2]
    assert seen.keys() == {"EnvironmentCredential", "WorkloadIdentityCredential"}
    for arguments in seen.values():
        assert arguments["authority"] == cloud.authority
        assert arguments.get("disable_instance_discovery", False) is (cloud is STACK)
        assert arguments["connection_timeout"] + arguments["read_timeout"] <= 60


@pytest.mark.parametrize(("variable", "client_id"), [("", None), ("client-1", "client-1")])
def test_managed_identity_by_client_id(monkeypatch: pytest.MonkeyPatch, variable: str, client_id: str | None) -> None:
    """AZURE_CLIENT_ID chooses a user-assigned identity; empty counts as not set."""
    seen: list[Any] = []
    monkeypatch.setenv("AZURE_CLIENT_ID", variable)
    monkeypatch.setattr(
        azure.identity,
        "ManagedIdentityCredential",
        lambda **arguments: seen.append(arguments["client_id"]) or SimpleNamespace(get_token=lambda *_, **__: "token"),
    )
    assert default_credential(CLOUD).get_token(CLOUD.token_scope) == "token"
    assert seen == [client_id]


@pytest.mark.parametrize(
    "variables",
    [
        {"AZURE_POD_IDENTITY_AUTHORITY_HOST": "{url}"},
        {"IDENTITY_ENDPOINT": "{url}", "IDENTITY_HEADER": "x"},
        {"MSI_ENDPOINT": "{url}", "MSI_SECRET": "x"},
    ],
)
def test_managed_identity_endpoint_that_refuses(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """An identity endpoint that refuses ends in an error after few attempts (azure-sdk-for-python#27860)."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(url=f"http://127.0.0.1:{closed.getsockname()[1]}"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        naps: list[float] = []
        monkeypatch.setattr(HttpTransport, "sleep", lambda _, nap_s: naps.append(nap_s))
        error = failure_of(default_credential(CLOUD))
    assert any(detail.startswith("managed identity: ") for detail in error.details)
    assert 0 < sum(naps) < 10


@pytest.mark.parametrize(
    ("variable", "last"),
    [(None, "Azure PowerShell"), ("IDENTITY_ENDPOINT", "managed identity"), ("MSI_ENDPOINT", "managed identity")],
)
def test_announced_managed_identity_is_not_replaced(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, last: str
) -> None:
    """A managed identity that the machine announces ends the attempt by failing; a mere guess at one gives way."""

    def get_token(*scopes: str, **kwargs: Any) -> None:
        raise RuntimeError("a proxy's page")

    if variable:
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.setattr(azure.identity, "ManagedIdentityCredential", lambda **_: SimpleNamespace(get_token=get_token))
    error = failure_of(default_credential(CLOUD))
    assert "managed identity: a proxy's page" in error.details
    assert error.details[-1].partition(":")[0] == last


def test_first_kind_that_works_is_kept() -> None:
    """Later tokens come from the kind that gave the first, even if an earlier kind would work by then."""
    said: Any = azure.identity.CredentialUnavailableError(message="not yet")
    first = fake("first", lambda: said)
    chain = SignInChain(CLOUD, (first, fake("second", "token 2"), fake("third", "token 3")))
    assert chain.get_token(CLOUD.token_scope) == "token 2"
    said = "token 1"
    assert chain.get_token(CLOUD.token_scope) == "token 2"


def test_kept_kind_that_fails_is_the_only_one_tried() -> None:
    """When the kept kind fails on renewal, no other identity steps in."""
    answers: list[Any] = ["token", RuntimeError("expired")]
    chain = SignInChain(CLOUD, (fake("first", lambda: answers.pop(0), gives_way=True), fake("other", "other token")))
    assert chain.get_token(CLOUD.token_scope) == "token"
    assert failure_of(chain).details == ["first: expired"]


def test_tools_give_way_to_one_another() -> None:
    """A developer's tool that fails is passed over, a kind that lacks something too."""
    kinds = (
        fake("lacking", "never", missing=lambda: "X not set"),
        fake("broken tool", RuntimeError("please run login"), gives_way=True),
        fake("working", "token"),
    )
    assert SignInChain(CLOUD, kinds).get_token(CLOUD.token_scope) == "token"


def test_error_of_the_kinds_is_masked() -> None:
    """Secrets in what the kinds say are masked, also in the chained error."""
    chain = SignInChain(CLOUD, (fake("leaky", RuntimeError(f"refused client_secret={SECRET}")),))
    error = failure_of(chain)
    assert "refused" in error.message
    for text in (str(error), repr(error), str(error.__cause__), repr(error.__cause__), str(error.__context__)):
        assert SECRET not in text


@pytest.mark.parametrize("error", [ValueError("bad tenant"), TypeError("unexpected keyword"), ImportError("no msal")])
def test_error_while_building_is_an_authentication_error(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """A credential that cannot even be made is an AuthenticationException that names the kind."""

    def refuse(**arguments: Any) -> Any:
        raise error

    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(azure.identity, "ManagedIdentityCredential", refuse)
    found = failure_of(default_credential(CLOUD))
    assert str(error) in found.message
    assert "managed identity" in found.message


def test_broken_azure_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where azure-identity cannot be loaded, the error says so."""
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    assert "azure-identity" in failure_of(default_credential(CLOUD)).message
    with pytest.raises(AuthenticationException, match="AzureCliCredential cannot be used"):
        _credentials.make("AzureCliCredential")


def test_claims_reach_the_credential() -> None:
    """Claims of a 401 are passed on to the kind that gave the token."""
    seen: list[Any] = []

    def get_token(*scopes: str, **kwargs: Any) -> Any:
        seen.append((scopes, kwargs.get("claims")))
        return SimpleNamespace(token=f"t{len(seen)}", expires_on=time.time() + 3600)

    chain = SignInChain(CLOUD, (Kind("fake", lambda *_: SimpleNamespace(get_token=get_token)),))
    source = TokenSource(chain, CLOUD)
    assert source.renew(source.token(), "claims") == "t2"
    assert seen == [((CLOUD.token_scope,), None), ((CLOUD.token_scope,), "claims")]


def test_tools_get_the_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenant that the caller named goes to the tools that know several; the Azure CLI gets more than 10 seconds."""
    seen: dict[str, dict[str, Any]] = {}

    def recorder(name: str) -> Callable[..., Any]:
        return lambda **arguments: seen.update({name: arguments}) or SimpleNamespace(get_token=refuse)

    def refuse(*scopes: str, **kwargs: Any) -> None:
        raise RuntimeError("not signed in")

    names = ("AzureCliCredential", "AzureDeveloperCliCredential", "AzurePowerShellCredential")
    for name in names:
        monkeypatch.setattr(azure.identity, name, recorder(name))
    failure_of(SignInChain(CLOUD, UNATTENDED, tenant_id="contoso"))
    assert {name: arguments["tenant_id"] for name, arguments in seen.items()} == dict.fromkeys(names, "contoso")
    assert seen["AzureCliCredential"]["process_timeout"] > 10


def test_emulator_gets_the_fake_credential() -> None:
    """For an emulator no real sign-in is tried."""
    assert isinstance(default_credential(Cloud.emulator("http://127.0.0.1:8080")), EmulatorCredential)
    assert not isinstance(default_credential(CLOUD), EmulatorCredential)


def test_repr_names_the_cloud() -> None:
    """A chain shows for which cloud it signs in."""
    assert repr(SignInChain(STACK)) == "SignInChain(stack)"


def test_nothing_heavy_is_loaded_before_the_first_token() -> None:
    """Making the default credential and a source of it loads neither azure nor requests nor msrest."""
    code = (
        "import sys; from azureml_k8s import authentication, _credentials as c; from azureml_k8s.clouds import Cloud; "
        "cloud = Cloud.named('AzureCloud'); c.TokenSource(c.check_credential(c.default_credential(cloud)), cloud); "
        "authentication.InteractiveLoginAuthentication(); authentication.MsiAuthentication(); "
        "print([name for name in ('azure', 'msal', 'msrest', 'requests') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
