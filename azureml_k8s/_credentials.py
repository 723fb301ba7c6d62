"""What may be given as a credential, and the sign-in without one: the door to azure.identity.

The default sign-in never asks a person: a browser, a device code or a broker would stop an unattended job.
"""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from azureml_k8s._secrets import mask_text, masked_copy
from azureml_k8s._tokens import AccessToken, TokenSource, failure_of, remedy_for
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException, UserErrorException

__all__ = [
    "AccessToken",
    "DefaultCredential",
    "EmulatorCredential",
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
    """The credential for an emulator on this machine: its token is the word ``emulator``."""

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        """Return the token; sends nothing."""
        return AccessToken("emulator", int(time.time()) + 3600)


def default_credential(cloud: Cloud) -> DefaultCredential | EmulatorCredential:
    """Return the sign-in for when no credential is given; nothing is imported or asked until its first token.

    For an emulator that is the fake credential, so no real token leaves for it.
    """
    return EmulatorCredential() if cloud.is_emulator else DefaultCredential(cloud)


def make(kind: str, /, **arguments: Any) -> Any:
    """Make one of azure-identity's credentials.

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
        raise AuthenticationException(
            f"{kind} cannot be used: {mask_text(str(error))}", masked_copy(error)
        ) from masked_copy(error)


def authority_arguments(cloud: Cloud) -> dict[str, Any]:
    """Arguments that make one of azure-identity's credentials sign in at a cloud."""
    arguments: dict[str, Any] = {"authority": cloud.authority}
    if cloud.authority not in _PUBLIC_AUTHORITIES:
        # A private sign-in service is unknown to the public list that is asked otherwise, over the internet.
        arguments["disable_instance_discovery"] = True
    return arguments


_PUBLIC_AUTHORITIES = frozenset(
    Cloud.named(name).authority for name in ("AzureCloud", "AzureChinaCloud", "AzureUSGovernment")
)
_SECRET_VARIABLES = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
_CERTIFICATE_VARIABLES = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_CERTIFICATE_PATH")
_PASSWORD_VARIABLES = ("AZURE_CLIENT_ID", "AZURE_USERNAME", "AZURE_PASSWORD")
_WORKLOAD_VARIABLES = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE")
# A managed identity answers at once or not at all; azure-identity's own five repetitions take half a minute.
_IDENTITY_LIMITS = {"retry_total": 2, "retry_status": 2, "connection_timeout": 2, "read_timeout": 10}
# `az` takes more than its default of 10 s on a busy build agent (azure-cli#20404).
_AZ_TIMEOUT_S = 20

# What each kind of the chain said in the current call; the chain itself gives one text only.
_attempts: ContextVar[list[tuple[str, str]] | None] = ContextVar("attempts", default=None)


def _missing(names: Sequence[str]) -> str | None:
    """Say which variables are absent or empty, by name; None where all are set."""
    empty = [name for name in names if name in os.environ and not os.environ[name].strip()]
    absent = [name for name in names if name not in os.environ]
    if not empty and not absent:
        return None
    said = [f"{', '.join(absent)} not set"] if absent else []
    said += [f"{', '.join(empty)} empty"] if empty else []
    present = [name for name in names if name not in (*empty, *absent)]
    return "; ".join(said) + (f" (while {', '.join(present)} set)" if present else "")


def _environment_missing() -> str | None:
    ways = (_SECRET_VARIABLES, _CERTIFICATE_VARIABLES, _PASSWORD_VARIABLES)
    if any(_missing(names) is None for names in ways):
        return None
    return f"{_missing(_SECRET_VARIABLES)}; a certificate needs AZURE_CLIENT_CERTIFICATE_PATH in place of the secret"


def _make_environment(cloud: Cloud) -> Any:
    return make("EnvironmentCredential", **authority_arguments(cloud))


def _make_workload(cloud: Cloud) -> Any:
    return make("WorkloadIdentityCredential", **authority_arguments(cloud))


def _make_managed(cloud: Cloud) -> Any:
    return make("ManagedIdentityCredential", client_id=os.environ.get("AZURE_CLIENT_ID") or None, **_IDENTITY_LIMITS)


def _managed_missing() -> str | None:
    """Where the workload variables are set and no other endpoint is, it would be a workload identity once more."""
    if os.environ.get("IDENTITY_ENDPOINT") or os.environ.get("MSI_ENDPOINT"):
        return None
    return "left to the workload identity" if _missing(_WORKLOAD_VARIABLES) is None else None


@dataclass(frozen=True)
class _Kind:
    """One way to sign in: what it is called, what it lacks here, how it is made."""

    label: str
    make: Callable[[Cloud], Any]
    missing: Callable[[], str | None] = lambda: None
    # A developer's tool that fails gives way to the next one. A configured principal does not: the job would go on
    # under another identity.
    gives_way: bool = False


_KINDS = (
    _Kind("environment", _make_environment, _environment_missing),
    _Kind("workload identity", _make_workload, lambda: _missing(_WORKLOAD_VARIABLES)),
    _Kind("managed identity", _make_managed, _managed_missing),
    _Kind("Azure CLI", lambda cloud: make("AzureCliCredential", process_timeout=_AZ_TIMEOUT_S), gives_way=True),
    _Kind("Azure Developer CLI", lambda cloud: make("AzureDeveloperCliCredential"), gives_way=True),
    _Kind("Azure PowerShell", lambda cloud: make("AzurePowerShellCredential"), gives_way=True),
)


class _Step:
    """One kind, as a credential of the chain: made on first use, its failures noted for the error."""

    def __init__(self, kind: _Kind, cloud: Cloud) -> None:
        self.kind = kind
        self._cloud = cloud
        self._credential: Any = None
        self.worked = False

    def get_token(self, *scopes: str, **kwargs: Any) -> Any:
        from azure.identity import CredentialUnavailableError

        if not self.worked and (missing := self.kind.missing()):
            self._note(missing)
            raise CredentialUnavailableError(message=missing)
        try:
            if self._credential is None:
                self._credential = self.kind.make(self._cloud)
            token = self._credential.get_token(*scopes, **kwargs)
        except Exception as error:
            self._note(mask_text(str(error)))
            if self.kind.gives_way:
                raise CredentialUnavailableError(message=mask_text(str(error))) from masked_copy(error)
            raise
        self.worked = True
        return token

    def _note(self, text: str) -> None:
        attempts = _attempts.get()
        if attempts is not None:
            attempts.append((self.kind.label, " ".join(text.split())))


class DefaultCredential:
    """Signs in by what the machine offers, without a person, at the cloud's authority.

    In this order: service principal in environment variables, workload identity, managed identity, Azure CLI, Azure
    Developer CLI, Azure PowerShell. The first one that works is kept. AZURE_TOKEN_CREDENTIALS is not read.
    """

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._steps = [_Step(kind, cloud) for kind in _KINDS]
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"DefaultCredential({self._cloud.name})"

    def get_token(self, *scopes: str, **kwargs: Any) -> Any:
        """Return a token of the first kind that works; asks as many of them as needed.

        Args:
            *scopes: One scope.
            **kwargs: ``claims`` and whatever else azure-identity's credentials take.

        Raises:
            AuthenticationException: None works; `details` tells each kind's reason.
        """
        attempts: list[tuple[str, str]] = []
        reset = _attempts.set(attempts)
        try:
            # In a chain, azure-identity looks for a managed identity with a short probe instead of a long wait.
            chain = make_chain([step for step in self._steps if step.worked] or self._steps)
            return chain.get_token(*scopes, **kwargs)
        except AuthenticationException:
            raise
        except Exception as error:
            raise _chain_failure(attempts, error) from masked_copy(error)
        finally:
            _attempts.reset(reset)


def make_chain(credentials: Sequence[object]) -> Any:
    """Return azure-identity's chain of credentials; errors as `make`."""
    try:
        from azure.identity import ChainedTokenCredential
    except Exception as error:
        raise AuthenticationException(f"azure-identity cannot be loaded: {error}") from masked_copy(error)
    return ChainedTokenCredential(*credentials)  # type: ignore[arg-type]


def _chain_failure(attempts: Sequence[tuple[str, str]], error: Exception) -> AuthenticationException:
    text = "\n".join(said for _, said in attempts) or mask_text(str(error))
    return AuthenticationException(
        "Signing in without a person failed. Tried: " + ", ".join(label for label, _ in attempts),
        masked_copy(error),
        details=[f"{label}: {said}" for label, said in attempts],
        remedy=remedy_for(text)
        or "Run `az login`, or set " + ", ".join(_SECRET_VARIABLES) + ", or give a credential as auth=.",
    )
