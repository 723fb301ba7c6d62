"""azureml-core's sign-in classes: arguments, what they make, and what they keep to themselves."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure.identity
import pytest
import requests

from azureml_k8s import authentication as a
from azureml_k8s._credentials import TokenSource, check_credential
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException, UserErrorException

CLOUD = Cloud.named("AzureCloud")
SECRET = "hush-hush-hush"
V1_VARIABLES = (
    "AZUREML_SERVICE_PRINCIPAL_TENANT_ID",
    "AZUREML_SERVICE_PRINCIPAL_ID",
    "AZUREML_SERVICE_PRINCIPAL_PASSWORD",
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZUREML_CURRENT_CLOUD", *V1_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Arguments of every credential of azure-identity that is made; each gives the token NAME-n."""
    seen: dict[str, dict[str, Any]] = {}
    calls: list[str] = []

    def recorder(kind: str) -> Callable[..., Any]:
        def get_token(*scopes: str, **kwargs: Any) -> Any:
            calls.append(kind)
            seen[f"{kind} asked"] = {"scopes": scopes, **kwargs}
            return SimpleNamespace(token=f"{kind}-{len(calls)}", expires_on=time.time() + 3600)

        def make(**arguments: Any) -> Any:
            assert kind not in seen, "made twice"
            seen[kind] = arguments
            return SimpleNamespace(get_token=get_token)

        return make

    for name in vars(azure.identity):
        if name.endswith("Credential") and name != "ChainedTokenCredential":
            monkeypatch.setattr(azure.identity, name, recorder(name))
    return seen


def every_kind() -> list[a.AbstractAuthentication]:
    return [
        a.ServicePrincipalAuthentication("tenant", "client", SECRET),
        a.MsiAuthentication(),
        a.AzureCliAuthentication(),
        a.InteractiveLoginAuthentication(),
        a.TokenAuthentication(lambda audience: SECRET),
        a.ArmTokenAuthentication(SECRET),
    ]


@pytest.mark.parametrize(
    ("kind", "signature"),
    [
        (
            a.ServicePrincipalAuthentication,
            "tenant_id, service_principal_id, service_principal_password, cloud='AzureCloud', _enable_caching=True",
        ),
        (a.MsiAuthentication, "cloud=None, identity_config=None"),
        (a.AzureCliAuthentication, "cloud=None"),
        (a.InteractiveLoginAuthentication, "force=False, tenant_id=None, cloud=None"),
        (a.TokenAuthentication, "get_token_for_audience, cloud=None"),
        (a.ArmTokenAuthentication, "arm_access_token, cloud=None"),
    ],
)
def test_arguments_are_as_in_v1(kind: type, signature: str) -> None:
    """Names, order and defaults of the arguments are azureml-core's."""
    parameters = inspect.signature(kind).parameters.values()
    assert ", ".join(str(p.replace(annotation=p.empty)) for p in parameters) == signature


def test_every_kind_is_a_credential(made: dict[str, dict[str, Any]]) -> None:
    """Each is accepted as a workspace's auth, is v1's base class, and makes nothing before its first token."""
    for one in every_kind():
        assert check_credential(auth=one) is one
        assert isinstance(one, a.AbstractAuthentication)
    assert made == {}


def test_repr_shows_no_secret() -> None:
    """What is printed names the facts, never the secret."""
    shown = [repr(one) for one in every_kind()]
    assert not [text for text in shown if SECRET in text]
    assert shown[0] == (
        "ServicePrincipalAuthentication(tenant_id='tenant', service_principal_id='client', cloud='AzureCloud')"
    )
    assert shown[3] == "InteractiveLoginAuthentication(force=False, tenant_id=None, cloud='AzureCloud')"
    assert repr(a.MsiAuthentication(identity_config={"client_id": "c"})) == (
        "MsiAuthentication(identity_config={'client_id': 'c'}, cloud='AzureCloud')"
    )


@pytest.mark.parametrize("value", [None, "", "  "])
@pytest.mark.parametrize(
    ("argument", "build"),
    [
        ("tenant_id", lambda v: a.ServicePrincipalAuthentication(v, "c", "s")),
        ("service_principal_id", lambda v: a.ServicePrincipalAuthentication("t", v, "s")),
        ("service_principal_password", lambda v: a.ServicePrincipalAuthentication("t", "c", v)),
        ("arm_access_token", a.ArmTokenAuthentication),
        ("identity_config", lambda v: a.MsiAuthentication(identity_config={"client_id": v})),
    ],
)
def test_missing_argument_is_named(argument: str, build: Callable[[Any], object], value: str | None) -> None:
    """None or a blank raises at once and names the argument (MachineLearningNotebooks#581)."""
    with pytest.raises(UserErrorException, match=argument):
        build(value)


def test_other_bad_arguments() -> None:
    """A blank tenant and a missing function are named too."""
    with pytest.raises(UserErrorException, match="tenant_id"):
        a.InteractiveLoginAuthentication(tenant_id=" ")
    with pytest.raises(UserErrorException, match="get_token_for_audience"):
        a.TokenAuthentication(None)


@pytest.mark.parametrize(
    ("argument", "build"),
    [
        ("tenant_id", lambda: a.ServicePrincipalAuthentication(7, "c", "s")),
        ("service_principal_password", lambda: a.ServicePrincipalAuthentication("t", "c", b"s")),
        ("arm_access_token", lambda: a.ArmTokenAuthentication(7)),
        ("identity_config", lambda: a.MsiAuthentication(identity_config="client_id")),
        ("get_token_for_audience", lambda: a.TokenAuthentication("token")),
        ("tenant_id", lambda: a.InteractiveLoginAuthentication(tenant_id=7)),
        ("cloud", lambda: a.AzureCliAuthentication(cloud=7)),
    ],
)
def test_argument_of_a_wrong_type(argument: str, build: Callable[[], object]) -> None:
    """A wrong Python type is a TypeError that names the argument."""
    with pytest.raises(TypeError, match=argument):
        build()


def test_cloud_of_the_environment(monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]) -> None:
    """Without a cloud, AZUREML_CURRENT_CLOUD decides; a wrong value there is told by the variable's name."""
    monkeypatch.setenv("AZUREML_CURRENT_CLOUD", "azurechinacloud")
    china = Cloud.named("AzureChinaCloud")
    assert "AzureChinaCloud" in repr(a.MsiAuthentication())
    assert "AzureCloud" in repr(a.MsiAuthentication("AzureCloud"))
    a.ServicePrincipalAuthentication("t", "c", "s", cloud=None).get_token()
    assert made["ClientSecretCredential"]["authority"] == china.authority
    assert made["ClientSecretCredential asked"]["scopes"] == (china.token_scope,)
    monkeypatch.setenv("AZUREML_CURRENT_CLOUD", "Moon")
    with pytest.raises(UserErrorException, match=r"AZUREML_CURRENT_CLOUD.*'Moon'"):
        a.MsiAuthentication()
    monkeypatch.setenv("AZUREML_CURRENT_CLOUD", "")
    assert "AzureCloud" in repr(a.MsiAuthentication())


def test_service_principal(made: dict[str, dict[str, Any]]) -> None:
    """A service principal signs in with its secret at the cloud's authority, and passes claims on."""
    mine = Cloud("stack", "https://arm.stack.local", "https://arm.stack.local/.default", "https://login.stack.local")
    auth = a.ServicePrincipalAuthentication("tenant", "client", SECRET, mine, _enable_caching=False)
    assert auth.get_token("scope", claims="c").token == "ClientSecretCredential-1"
    assert auth.get_token("scope").token == "ClientSecretCredential-2"
    arguments = made["ClientSecretCredential"]
    assert (arguments["tenant_id"], arguments["client_id"], arguments["client_secret"]) == ("tenant", "client", SECRET)
    assert arguments["authority"] == mine.authority
    assert made["ClientSecretCredential asked"] == {"scopes": ("scope",)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {"identity_config": None}),
        ({}, {"identity_config": None}),
        ({"client_id": "c"}, {"client_id": "c"}),
        ({"object_id": "o"}, {"identity_config": {"object_id": "o"}}),
    ],
)
def test_managed_identity(
    made: dict[str, dict[str, Any]], given: dict[str, str] | None, expected: dict[str, object]
) -> None:
    """A managed identity is the system's, or the one that identity_config names."""
    a.MsiAuthentication(identity_config=given).get_token("scope")
    assert expected.items() <= made["ManagedIdentityCredential"].items()


def test_managed_identity_is_made_by_the_real_library() -> None:
    """The arguments fit azure-identity as installed."""
    for given in (None, {"client_id": "c"}, {"object_id": "o"}):
        assert a.MsiAuthentication(identity_config=given)._make()
    assert a.AzureCliAuthentication()._make()
    assert a.ServicePrincipalAuthentication("tenant", "client", SECRET)._make()


def test_azure_cli(made: dict[str, dict[str, Any]]) -> None:
    """The Azure CLI's account is used."""
    assert a.AzureCliAuthentication().get_token("scope").token == "AzureCliCredential-1"


def test_interactive_is_silent_first(monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]) -> None:
    """What works without a person is taken; the browser is not even made."""
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.setenv(name, "x")
    assert a.InteractiveLoginAuthentication().get_token("scope").token == "EnvironmentCredential-1"
    assert "InteractiveBrowserCredential" not in made


def test_interactive_takes_v1_variables(monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]) -> None:
    """azureml-core's variables of a service principal come first."""
    for name in V1_VARIABLES:
        monkeypatch.setenv(name, name.lower())
    assert a.InteractiveLoginAuthentication().get_token("scope").token == "ClientSecretCredential-1"
    assert made["ClientSecretCredential"]["client_secret"] == "azureml_service_principal_password"


def test_interactive_asks_last(monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]) -> None:
    """Where nothing else works, the browser asks, for the given tenant; with force it is asked at once."""

    def refuse(**arguments: Any) -> Any:
        raise azure.identity.CredentialUnavailableError(message="not here")

    for name in vars(azure.identity):
        if name.endswith("Credential") and name not in ("ChainedTokenCredential", "InteractiveBrowserCredential"):
            monkeypatch.setattr(azure.identity, name, refuse)
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    auth = a.InteractiveLoginAuthentication(tenant_id="contoso")
    assert auth.get_token("scope").token == "InteractiveBrowserCredential-1"
    assert made["InteractiveBrowserCredential"]["tenant_id"] == "contoso"
    assert made["InteractiveBrowserCredential"]["authority"] == CLOUD.authority


def test_interactive_with_force(monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]) -> None:
    """With force, the browser asks although something else would work."""
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.setenv(name, "x")
    assert a.InteractiveLoginAuthentication(force=True).get_token("scope").token == "InteractiveBrowserCredential-1"
    assert "tenant_id" not in made["InteractiveBrowserCredential"]


def test_interactive_stops_at_a_refused_principal(
    monkeypatch: pytest.MonkeyPatch, made: dict[str, dict[str, Any]]
) -> None:
    """A configured principal that is refused raises; a build server never ends up at a browser (azure-cli#5940)."""
    for name in V1_VARIABLES:
        monkeypatch.setenv(name, SECRET)

    def get_token(*scopes: str, **kwargs: Any) -> None:
        raise RuntimeError("AADSTS7000215: Invalid client secret provided.")

    monkeypatch.setattr(azure.identity, "ClientSecretCredential", lambda **_: SimpleNamespace(get_token=get_token))
    with pytest.raises(AuthenticationException, match="AADSTS7000215") as caught:
        a.InteractiveLoginAuthentication().get_token("scope")
    assert "InteractiveBrowserCredential" not in made
    assert "secret" in str(caught.value.remedy)
    assert SECRET not in str(caught.value)


def test_token_function() -> None:
    """The function gets the audience; it is asked again after 5 minutes, and its error comes through."""
    audiences = []

    def give(audience: str) -> str:
        audiences.append(audience)
        return f"token-{len(audiences)}"

    now_s = [0.0]
    source = TokenSource(a.TokenAuthentication(give), CLOUD, clock=lambda: now_s[0])
    assert source.token() == source.token() == "token-1"
    now_s[0] = 300
    assert source.token() == "token-2"
    assert audiences == ["https://management.azure.com"] * 2

    def fail(audience: str) -> str:
        raise KeyError("no token for it")

    with pytest.raises(AuthenticationException, match="no token for it"):
        a.TokenAuthentication(fail).get_token()


def test_arm_token() -> None:
    """A given token is used until another is given; it cannot be renewed."""
    auth = a.ArmTokenAuthentication("one")
    assert auth.get_authentication_header() == {"Authorization": "Bearer one"}
    source = TokenSource(auth, CLOUD)
    with pytest.raises(AuthenticationException, match="same one again"):
        source.renew(source.token())
    auth.update_arm_access_token("two")
    assert auth.get_authentication_header() == {"Authorization": "Bearer two"}
    assert TokenSource(auth, CLOUD).token() == "two"
    with pytest.raises(UserErrorException, match="arm_access_token"):
        auth.update_arm_access_token("")


def test_header_is_cached(made: dict[str, dict[str, Any]]) -> None:
    """The header's token is asked for once, not on each call (azure-sdk-for-python#40636)."""
    auth = a.AzureCliAuthentication()
    headers = [auth.get_authentication_header() for _ in range(5)]
    assert headers == [{"Authorization": "Bearer AzureCliCredential-1"}] * 5


def test_error_is_ours_and_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever azure-identity raises comes as AuthenticationException without the secret."""

    def get_token(*scopes: str, **kwargs: Any) -> None:
        raise RuntimeError(f"rejected: client_secret={SECRET}")

    monkeypatch.setattr(azure.identity, "ClientSecretCredential", lambda **_: SimpleNamespace(get_token=get_token))
    auth = a.ServicePrincipalAuthentication("t", "c", SECRET)
    for ask in (auth.get_token, auth.get_authentication_header):
        with pytest.raises(AuthenticationException, match="rejected") as caught:
            ask()
        assert SECRET not in str(caught.value) + str(caught.value.__cause__) + repr(caught.value.__context__)


def test_refused_argument_is_an_authentication_error() -> None:
    """Arguments that azure-identity refuses when the credential is made are told as such."""
    auth = a.ServicePrincipalAuthentication("no tenant!", "client", SECRET)
    with pytest.raises(AuthenticationException, match="ClientSecretCredential cannot be used"):
        auth.get_token()


def test_signed_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The session signs what goes to the cloud's Resource Manager, whatever a .netrc holds, and nothing else."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine management.azure.com login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    auth = a.ArmTokenAuthentication("one")
    mine = requests.Session()
    assert auth.signed_session(mine) is mine
    for session in (mine, auth.signed_session()):
        with session:
            for url, signed in (
                ("https://management.azure.com/subscriptions", True),
                ("https://management.azure.com.evil.com/subscriptions", False),
                ("http://management.azure.com/subscriptions", False),
                ("https://westeurope.api.azureml.ms/x", False),
            ):
                prepared = session.prepare_request(requests.Request("GET", url))
                assert prepared.headers.get("Authorization") == ("Bearer one" if signed else None)


@pytest.mark.parametrize("name", ["AzureMLTokenAuthentication", "DatabricksClusterAuthentication"])
def test_absent_kinds_point_to_another(name: str) -> None:
    """v1's kinds that cannot manage computes are refused on import, with what to use instead."""
    with pytest.raises(ImportError, match=f"{name}.*use"):
        getattr(a, name)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = a.Nothing
