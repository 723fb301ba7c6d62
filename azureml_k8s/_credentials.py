"""What may be given as a credential, and the sign-in without one: the door to azure.identity.

The default sign-in never asks a person: a browser, a device code or a broker would stop an unattended job.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from azureml_k8s._secrets import masked_copy
from azureml_k8s._tokens import AccessToken, TokenSource, failure_of, remedy_for
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException, UserErrorException

__all__ = [
    "AccessToken",
    "EmulatorCredential",
    "SignInChain",
    "TokenSource",
    "check_credential",
    "default_credential",
    "failure_of",
    "make",
]

_WAYS = ("get_token", "get_token_info", "get_authentication_header", "signed_session")


def check_credential(auth: object = None, credential: object = None) -> object | None:
    """Return the one credential that was given, None where none was; sends nothing and imports nothing heavy.

    Args:
        auth: The argument under azureml-core's name.
        credential: The same under Azure's name. Either may be a credential of azure-identity (``get_token`` or
            ``get_token_info``), an authentication object of azureml-core (``get_authentication_header``), or
            credentials of msrest (``signed_session``).

    Raises:
        UserErrorException: Both are given, or it is a credential for asyncio.
        TypeError: It cannot give a token.
    """
    if auth is not None and credential is not None:
        raise UserErrorException("Give auth or credential, not both: they mean the same.", target="credential")
    argument, given = ("credential", credential) if auth is None else ("auth", auth)
    if given is None:
        return None
    if isinstance(given, type):
        raise TypeError(f"{argument} must be a credential, not the class: write {given.__name__}(...)")
    ways = [way for name in _WAYS if callable(way := getattr(given, name, None))]
    if not ways:
        raise TypeError(
            f"{argument} must be a credential, such as azure.identity.DefaultAzureCredential(), "
            f"not {type(given).__name__}: it has none of {', '.join(_WAYS)}"
        )
    if inspect.iscoroutinefunction(ways[0]) or type(given).__module__.startswith("azure.identity.aio"):
        raise UserErrorException(
            f"{argument}: {type(given).__name__} is a credential for asyncio. Take the class of the same name from "
            "azure.identity instead of azure.identity.aio.",
            target=argument,
        )
    return given


class EmulatorCredential:
    """The credential for an emulator on this machine: its tokens are ``emulator-1``, ``emulator-2``, and so on."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        """Return another token at each call, as after a refusal a new one is wanted; sends nothing."""
        return AccessToken(f"emulator-{next(self._numbers)}", int(time.time()) + 3600)


def default_credential(cloud: Cloud) -> SignInChain | EmulatorCredential:
    """Return the sign-in for when no credential is given; nothing is imported or asked until its first token.

    For an emulator that is the fake credential, so no real token leaves for it. Otherwise it is a service principal or
    a certificate in environment variables, a workload identity, a managed identity, the Azure CLI, the Azure Developer
    CLI or Azure PowerShell, in this order. AZURE_TOKEN_CREDENTIALS is not read.
    """
    return EmulatorCredential() if cloud.is_emulator else SignInChain(cloud)


def make(kind: str, /, **arguments: Any) -> Any:
    """Make one of azure-identity's credentials, which sends nothing.

    Args:
        kind: Name of the class.
        **arguments: Its arguments.

    Raises:
        AuthenticationException: azure-identity cannot be loaded, or refuses the arguments.
    """
    try:
        import azure.identity

        return getattr(azure.identity, kind)(**arguments)
    except Exception as error:
        cause = masked_copy(error)
    raise AuthenticationException(f"{kind} cannot be used: {cause}", cause) from cause


def authority_arguments(cloud: Cloud) -> dict[str, Any]:
    """Return the arguments that make one of azure-identity's credentials sign in at a cloud, and give up in time."""
    arguments: dict[str, Any] = {"authority": cloud.authority, **_AUTHORITY_LIMITS}
    if cloud.authority not in _PUBLIC_AUTHORITIES:
        # A private sign-in service is unknown to the public list that is asked otherwise, over the internet.
        arguments["disable_instance_discovery"] = True
    return arguments


@dataclass(frozen=True)
class Kind:
    """One way to sign in.

    Attributes:
        label: What it is called in errors.
        make: Makes azure-identity's credential, for a cloud and the tenant that the caller named, if any.
        missing: Says what this machine lacks for it; None where it can be tried.
        gives_way: Says whether the next kind is tried when it fails. A developer's tool does; a principal that is
            configured on this machine does not, or the job would go on under another identity.
    """

    label: str
    make: Callable[[Cloud, str | None], Any]
    missing: Callable[[], str | None] = lambda: None
    gives_way: Callable[[], bool] = lambda: False


def missing_variables(names: Sequence[str]) -> str | None:
    """Say which environment variables are absent or empty, never what the others hold; None where all are set."""
    absent = [name for name in names if name not in os.environ]
    empty = [name for name in names if name in os.environ and not os.environ[name].strip()]
    if not absent and not empty:
        return None
    said = [f"{', '.join(found)} {state}" for found, state in ((absent, "not set"), (empty, "empty")) if found]
    present = [name for name in names if name not in (*absent, *empty)]
    return "; ".join(said) + (f" (while {', '.join(present)} set)" if present else "")


def _environment_missing() -> str | None:
    if any(missing_variables(names) is None for names in (_SECRET, _CERTIFICATE, _PASSWORD)):
        return None
    return f"{missing_variables(_SECRET)}; with a certificate, AZURE_CLIENT_CERTIFICATE_PATH replaces the secret"


def _managed_missing() -> str | None:
    """Where the workload's variables are set and no endpoint is, it would be the workload identity once more."""
    return None if _has_endpoint() or missing_variables(_WORKLOAD) else "left to the workload identity"


def _has_endpoint() -> bool:
    """Whether the machine announces a managed identity; without that, a proxy may answer in place of the VM's host."""
    return any(os.environ.get(name) for name in ("IDENTITY_ENDPOINT", "MSI_ENDPOINT"))


def managed_identity(**arguments: Any) -> Any:
    """Make azure-identity's managed identity, with limits that end in seconds where nothing answers."""
    return make("ManagedIdentityCredential", **arguments, **_IDENTITY_LIMITS)


def azure_cli(tenant_id: str | None = None) -> Any:
    """Make azure-identity's credential of the Azure CLI."""
    return make("AzureCliCredential", tenant_id=tenant_id or "", process_timeout=_AZ_TIMEOUT_S)


_PUBLIC_AUTHORITIES = frozenset(
    Cloud.named(name).authority for name in ("AzureCloud", "AzureChinaCloud", "AzureUSGovernment")
)
_SECRET = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
_CERTIFICATE = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_CERTIFICATE_PATH")
_PASSWORD = ("AZURE_CLIENT_ID", "AZURE_USERNAME", "AZURE_PASSWORD")
_WORKLOAD = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE")
# azure-core's own limits add up to many minutes for a sign-in service that does not answer.
_AUTHORITY_LIMITS = {"retry_total": 3, "connection_timeout": 10, "read_timeout": 30}
# azure-identity's own five repetitions take half a minute, its read time-out five minutes.
_IDENTITY_LIMITS = {"retry_total": 2, "retry_status": 2, "retry_read": 0, "connection_timeout": 2, "read_timeout": 10}
# `az` takes more than azure-identity's 10 s on a busy build agent (azure-cli#20404).
_AZ_TIMEOUT_S = 20

UNATTENDED = (
    Kind(
        "environment",
        lambda cloud, _: make("EnvironmentCredential", **authority_arguments(cloud)),
        _environment_missing,
    ),
    Kind(
        "workload identity",
        lambda cloud, _: make("WorkloadIdentityCredential", **authority_arguments(cloud)),
        lambda: missing_variables(_WORKLOAD),
    ),
    Kind(
        "managed identity",
        lambda *_: managed_identity(client_id=os.environ.get("AZURE_CLIENT_ID") or None),
        _managed_missing,
        gives_way=lambda: not _has_endpoint(),
    ),
    Kind("Azure CLI", lambda _, tenant: azure_cli(tenant), gives_way=lambda: True),
    Kind(
        "Azure Developer CLI",
        lambda _, tenant: make("AzureDeveloperCliCredential", tenant_id=tenant or ""),
        gives_way=lambda: True,
    ),
    Kind(
        "Azure PowerShell",
        lambda _, tenant: make("AzurePowerShellCredential", tenant_id=tenant or ""),
        gives_way=lambda: True,
    ),
)


@dataclass
class _Attempts:
    """What one call for a token has tried so far."""

    reasons: list[tuple[str, str]] = field(default_factory=list)
    error: BaseException | None = None
    is_over: bool = False


_attempts: ContextVar[_Attempts] = ContextVar("attempts")


class _Step:
    """One kind as a member of azure-identity's chain: made on first use; notes why it gave no token."""

    def __init__(self, kind: Kind, cloud: Cloud, tenant_id: str | None) -> None:
        self.worked = False
        self._kind, self._cloud, self._tenant_id = kind, cloud, tenant_id
        self._credential: Any = None

    def get_token(self, *scopes: str, **kwargs: Any) -> Any:
        from azure.identity import CredentialUnavailableError

        attempts = _attempts.get()
        if attempts.is_over:
            raise CredentialUnavailableError(message="not tried")
        if not self.worked and (missing := self._kind.missing()):
            attempts.reasons.append((self._kind.label, missing))
            raise CredentialUnavailableError(message=missing)
        try:
            if self._credential is None:
                self._credential = self._kind.make(self._cloud, self._tenant_id)
            token = self._credential.get_token(*scopes, **kwargs)
        except Exception as error:
            cause = masked_copy(error)
            attempts.error = cause
            attempts.reasons.append((self._kind.label, " ".join(str(cause).split())))
            attempts.is_over = not (self._kind.gives_way() or isinstance(error, CredentialUnavailableError))
        else:
            self.worked = True
            return token
        raise CredentialUnavailableError(message=attempts.reasons[-1][1])


class _End:
    """The last member of the chain: gives no token instead of failing, so that the chain itself logs no warning."""

    def get_token(self, *scopes: str, **kwargs: Any) -> None:
        return None


class SignInChain:
    """Signs in by the first of several kinds that works, and keeps to that one.

    Args:
        cloud: At whose authority, where the kind has a choice.
        kinds: In this order; by default those that need no person.
        tenant_id: Tenant for the kinds that know several.
    """

    def __init__(self, cloud: Cloud, kinds: Sequence[Kind] = UNATTENDED, *, tenant_id: str | None = None) -> None:
        self._cloud = cloud
        self._steps = [_Step(kind, cloud, tenant_id) for kind in kinds]

    def __repr__(self) -> str:
        return f"SignInChain({self._cloud.name})"

    def get_token(self, *scopes: str, **kwargs: Any) -> Any:
        """Return a token of the first kind that works; each kind sends the requests that azure-identity needs.

        Args:
            *scopes: One scope.
            **kwargs: ``claims`` and whatever else azure-identity's credentials take.

        Raises:
            AuthenticationException: None works, or a configured one failed; `details` tells each kind's reason.
        """
        attempts = _Attempts()
        reset = _attempts.set(attempts)
        try:
            token = self._chain().get_token(*scopes, **kwargs)
        finally:
            _attempts.reset(reset)
        if token is None:
            raise _chain_failure(attempts) from attempts.error
        return token

    def _chain(self) -> Any:
        # Within its own chain, azure-identity looks for a managed identity by one short probe, not by a long wait.
        steps = [step for step in self._steps if step.worked] or self._steps
        return make_chain([*steps, _End()])


def make_chain(credentials: Sequence[Any]) -> Any:
    """Make azure-identity's chain of credentials, which sends nothing; errors as `make`."""
    try:
        from azure.identity import ChainedTokenCredential

        return ChainedTokenCredential(*credentials)
    except Exception as error:
        cause = masked_copy(error)
    raise AuthenticationException(f"azure-identity cannot be used: {cause}", cause) from cause


def _chain_failure(attempts: _Attempts) -> AuthenticationException:
    label, reason = attempts.reasons[-1]
    if attempts.is_over:
        message = f"Signing in by {label} failed: {reason}"
        remedy = remedy_for(reason) or f"Correct or unset what configures {label}, or give a credential as auth=."
    else:
        message = f"No way to sign in works on this machine. Tried: {', '.join(kind for kind, _ in attempts.reasons)}."
        remedy = f"Run `az login`, or set {', '.join(_SECRET)}, or give a credential as auth=."
    return AuthenticationException(
        message,
        attempts.error,
        details=[f"{kind}: {said}" for kind, said in attempts.reasons],
        remedy=remedy,
    )
