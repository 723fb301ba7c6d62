"""Sign-in under azureml-core's names, as thin factories over azure-identity.

Any credential of azure-identity does as well, and is the better choice for new code: ``Workspace(..., auth=...)`` takes
both. Making one of these sends nothing and loads nothing; azure-identity is reached with the first token.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from azureml_k8s import _credentials
from azureml_k8s._arm import check_text
from azureml_k8s._credentials import AccessToken, Kind, TokenSource
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException, UserErrorException

if TYPE_CHECKING:
    from requests import PreparedRequest, Session

__all__ = [
    "AbstractAuthentication",
    "ArmTokenAuthentication",
    "AuthenticationException",
    "AzureCliAuthentication",
    "InteractiveLoginAuthentication",
    "MsiAuthentication",
    "ServicePrincipalAuthentication",
    "TokenAuthentication",
]

_CLOUD_VARIABLE = "AZUREML_CURRENT_CLOUD"
_V1_PRINCIPAL = (
    "AZUREML_SERVICE_PRINCIPAL_TENANT_ID",
    "AZUREML_SERVICE_PRINCIPAL_ID",
    "AZUREML_SERVICE_PRINCIPAL_PASSWORD",
)
_ABSENT = {
    "AzureMLTokenAuthentication": "its token is for Azure ML's own endpoints and is not accepted by Azure Resource "
    "Manager, which manages computes; use MsiAuthentication",
    "DatabricksClusterAuthentication": "use TokenAuthentication with a function that gives the cluster's token",
    "SynapseTokenAuthentication": "use TokenAuthentication with a function that gives the session's token",
    "InternalSparkAuthentication": "use TokenAuthentication with a function that gives the session's token",
}


def _cloud_of(cloud: str | Cloud | None) -> Cloud:
    if cloud is not None:
        return Cloud.of(cloud)
    if not (name := os.environ.get(_CLOUD_VARIABLE, "").strip()):
        return Cloud.named("AzureCloud")
    try:
        return Cloud.named(name)
    except UserErrorException as error:
        raise UserErrorException(f"{_CLOUD_VARIABLE}: {error.message}", target=_CLOUD_VARIABLE) from None


class AbstractAuthentication(ABC):
    """Base of the sign-ins: each is a credential for Azure's libraries too, through `get_token`.

    Args:
        cloud: Name of a cloud, or a `Cloud`; by default AZUREML_CURRENT_CLOUD, else AzureCloud.
    """

    def __init__(self, cloud: str | Cloud | None = None) -> None:
        self._cloud = _cloud_of(cloud)
        self._made: Any = None
        self._lock = threading.Lock()
        self._source = TokenSource(self, self._cloud)

    @abstractmethod
    def _make(self) -> Any:
        """Make the credential that this one stands for."""

    def get_token(self, *scopes: str, **kwargs: Any) -> Any:
        """Return a token and its end, as Azure's libraries ask for it; sends what the credential behind needs.

        Args:
            *scopes: One scope; by default the cloud's, for Azure Resource Manager.
            **kwargs: Passed on to the credential, for example ``claims``.

        Raises:
            AuthenticationException: There is no token to be had; the credential's own error is its cause, masked.
        """
        try:
            with self._lock:
                if self._made is None:
                    self._made = self._make()
            return self._made.get_token(*(scopes or (self._cloud.token_scope,)), **kwargs)
        except AuthenticationException:
            raise
        except Exception as error:
            failure = _credentials.failure_of(self, error)
        raise failure from failure.inner_exception

    def get_authentication_header(self) -> dict[str, str]:
        """Return ``{"Authorization": "Bearer ..."}`` for Azure Resource Manager; the token is kept until it ages.

        Raises:
            AuthenticationException: See `get_token`.
        """
        return {"Authorization": f"Bearer {self._source.token()}"}

    def signed_session(self, session: Session | None = None) -> Session:
        """Return a requests session that signs each request to the cloud's Resource Manager, and no other.

        Args:
            session: The session to change; by default a new one.
        """
        if session is None:
            import requests

            session = requests.Session()
        session.auth = self._sign
        return session

    def _sign(self, request: PreparedRequest) -> PreparedRequest:
        if self._cloud.owns(request.url or ""):
            request.headers.update(self.get_authentication_header())
        return request

    def __repr__(self) -> str:
        facts = {**self._facts(), "cloud": self._cloud.name}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in facts.items())})"

    def _facts(self) -> dict[str, object]:
        """What `repr` may show."""
        return {}


class ServicePrincipalAuthentication(AbstractAuthentication):
    """Signs in as a service principal with a secret.

    Args:
        tenant_id: The directory's id.
        service_principal_id: The application's (client's) id.
        service_principal_password: Its secret; shown nowhere.
        cloud: See `AbstractAuthentication`.
        _enable_caching: Taken for azureml-core's sake; tokens are always kept in memory, never on disk.

    Raises:
        UserErrorException: One of them is None or blank.
        TypeError: One of them is not text.
    """

    def __init__(
        self,
        tenant_id: str,
        service_principal_id: str,
        service_principal_password: str,
        cloud: str | Cloud | None = "AzureCloud",
        _enable_caching: bool = True,
    ) -> None:
        self._tenant_id = check_text("tenant_id", tenant_id, what="the directory's id")
        self._client_id = check_text("service_principal_id", service_principal_id, what="the application's id")
        self._secret = check_text("service_principal_password", service_principal_password, what="the secret")
        super().__init__(cloud)

    def _make(self) -> Any:
        return _credentials.make(
            "ClientSecretCredential",
            tenant_id=self._tenant_id,
            client_id=self._client_id,
            client_secret=self._secret,
            **_credentials.authority_arguments(self._cloud),
        )

    def _facts(self) -> dict[str, object]:
        return {"tenant_id": self._tenant_id, "service_principal_id": self._client_id}


class MsiAuthentication(AbstractAuthentication):
    """Signs in as the managed identity of the machine.

    Args:
        cloud: See `AbstractAuthentication`; the machine's own cloud decides, whatever is given.
        identity_config: ``{"client_id": ...}`` for a user-assigned identity, or another key that the machine's identity
            endpoint knows (``object_id``, ``resource_id``); by default the system-assigned one.

    Raises:
        UserErrorException: A value of identity_config is None or blank.
        TypeError: identity_config is no mapping of text to text.
    """

    def __init__(self, cloud: str | Cloud | None = None, identity_config: Mapping[str, str] | None = None) -> None:
        if not isinstance(identity_config, Mapping | None):
            raise TypeError(f"identity_config must be a mapping, not {type(identity_config).__name__}")
        self._identity = {
            name: check_text(f"identity_config[{name!r}]", value, what="the identity's id")
            for name, value in (identity_config or {}).items()
        }
        super().__init__(cloud)

    def _make(self) -> Any:
        if self._identity.keys() == {"client_id"}:
            return _credentials.managed_identity(client_id=self._identity["client_id"])
        return _credentials.managed_identity(identity_config=self._identity or None)

    def _facts(self) -> dict[str, object]:
        return {"identity_config": self._identity} if self._identity else {}


class AzureCliAuthentication(AbstractAuthentication):
    """Uses the account of ``az login``.

    Args:
        cloud: See `AbstractAuthentication`; the Azure CLI signs in at its own cloud (``az cloud set``).
    """

    def _make(self) -> Any:
        return _credentials.azure_cli()


class InteractiveLoginAuthentication(AbstractAuthentication):
    """Uses what the machine offers, and asks a person in a browser if that is nothing.

    First come the variables AZUREML_SERVICE_PRINCIPAL_TENANT_ID, _ID and _PASSWORD, then the kinds of the default
    sign-in. One that is configured but refused raises: an unattended job should not stop at a browser.

    Args:
        force: Ask in the browser at once.
        tenant_id: Directory to sign in to; by default the account's own.
        cloud: See `AbstractAuthentication`.

    Raises:
        UserErrorException: tenant_id is blank.
        TypeError: tenant_id is not text.
    """

    def __init__(self, force: bool = False, tenant_id: str | None = None, cloud: str | Cloud | None = None) -> None:
        self._force = bool(force)
        what = "the directory's id"
        self._tenant_id = None if tenant_id is None else check_text("tenant_id", tenant_id, what=what)
        super().__init__(cloud)

    def _make(self) -> Any:
        silent = () if self._force else (_V1_PRINCIPAL_KIND, *_credentials.UNATTENDED)
        return _credentials.SignInChain(self._cloud, (*silent, _BROWSER_KIND), tenant_id=self._tenant_id)

    def _facts(self) -> dict[str, object]:
        return {"force": self._force, "tenant_id": self._tenant_id}


def _v1_principal(cloud: Cloud, _tenant_id: str | None) -> Any:
    tenant_id, client_id, secret = (os.environ[name] for name in _V1_PRINCIPAL)
    return ServicePrincipalAuthentication(tenant_id, client_id, secret, cloud)


def _browser(cloud: Cloud, tenant_id: str | None) -> Any:
    tenant = {"tenant_id": tenant_id} if tenant_id else {}
    return _credentials.make("InteractiveBrowserCredential", **tenant, **_credentials.authority_arguments(cloud))


_V1_PRINCIPAL_KIND = Kind(
    "AZUREML_SERVICE_PRINCIPAL variables", _v1_principal, lambda: _credentials.missing_variables(_V1_PRINCIPAL)
)
_BROWSER_KIND = Kind("browser", _browser)


class TokenAuthentication(AbstractAuthentication):
    """Takes tokens from a function, asked again every 5 minutes and when the service rejects one.

    Args:
        get_token_for_audience: Gets an audience, such as ``https://management.azure.com``, and returns a token for it.
        cloud: See `AbstractAuthentication`.

    Raises:
        UserErrorException: The function is None.
        TypeError: It cannot be called.
    """

    def __init__(self, get_token_for_audience: Callable[[str], str], cloud: str | Cloud | None = None) -> None:
        if get_token_for_audience is None:
            raise UserErrorException("Missing argument: get_token_for_audience.", target="get_token_for_audience")
        if not callable(get_token_for_audience):
            raise TypeError(f"get_token_for_audience must be callable, not {type(get_token_for_audience).__name__}")
        self._get_token_for_audience = get_token_for_audience
        super().__init__(cloud)

    def _make(self) -> Any:
        return _FromFunction(self._get_token_for_audience)


class ArmTokenAuthentication(AbstractAuthentication):
    """Uses one token that the caller got elsewhere; it cannot be renewed, so it serves for short work only.

    Args:
        arm_access_token: The token, for Azure Resource Manager; shown nowhere.
        cloud: See `AbstractAuthentication`.

    Raises:
        UserErrorException: The token is None or blank.
        TypeError: It is not text.
    """

    def __init__(self, arm_access_token: str, cloud: str | Cloud | None = None) -> None:
        super().__init__(cloud)
        self.update_arm_access_token(arm_access_token)

    def update_arm_access_token(self, new_arm_access_token: str) -> None:
        """Use another token from the next time on that one is asked for; errors as the constructor's."""
        self._token = check_text("arm_access_token", new_arm_access_token, what="a token")
        self._source = TokenSource(self, self._cloud)

    def _make(self) -> Any:
        return _FromFunction(lambda _: self._token)


class _FromFunction:
    """A credential whose tokens do not say when they end."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        return AccessToken(self._function(scopes[0].removesuffix("/.default")), int(time.time()) + 300)


def __getattr__(name: str) -> object:
    if name in _ABSENT:
        raise ImportError(f"azureml_k8s has no {name}: {_ABSENT[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
