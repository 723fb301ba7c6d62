"""A credential's tokens: asked for once, shared by all threads, renewed ahead of expiry. Tokens are never parsed."""

from __future__ import annotations

import inspect
import re
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from azureml_k8s import hints
from azureml_k8s._secrets import SecretText, get_logger, masked_copy
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException

_log = get_logger(__name__)

# Azure's own libraries give the token they cache until so long before its end, and a new one from then on.
_AHEAD_S = 300.0
_SHORT_LIFE_SHARE = 0.8
_UNKNOWN_LIFE_S = 300.0
_LONGEST_LIFE_S = 24 * 3600.0
_FAILURE_HOLDS_S = 5.0
_RETRY_AHEAD_S = 30.0
_LONGEST_TEXT = 2000

_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)
_BEARER = re.compile(r"Bearer +(.*)", re.IGNORECASE | re.DOTALL)
_CODES = re.compile(r"\bAADSTS\d+\b")


class AccessToken(NamedTuple):
    """What a credential gives: azure-core's type of this name, without azure-core.

    Attributes:
        token: The text that follows ``Bearer``.
        expires_on: When it ends, in seconds since 1970.
    """

    token: str
    expires_on: int

    def __repr__(self) -> str:
        return f"AccessToken(token=***, expires_on={self.expires_on})"


@dataclass(frozen=True)
class _Held:
    text: str
    renew_at_s: float
    ends_at_s: float
    warned: bool = False


@dataclass(frozen=True)
class _Failure:
    error: AuthenticationException
    until_s: float


class TokenSource:
    """The current bearer token of one credential for one cloud; safe to use from many threads.

    Making one asks for nothing. However many threads start at once, the credential is asked once at a time; a failure
    is remembered for 5 seconds and given to everyone who asks meanwhile.

    Args:
        credential: Anything `check_credential` accepts.
        cloud: Whose scope tokens are asked for.
        clock: Seconds on a clock that never goes back.
        wall_clock: Seconds since 1970, in which credentials say when their tokens end.
    """

    def __init__(
        self,
        credential: object,
        cloud: Cloud,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._credential = credential
        self._cloud = cloud
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._failure: _Failure | None = None

    def __repr__(self) -> str:
        return f"TokenSource({type(self._credential).__name__}, {self._cloud.name})"

    def token(self) -> str:
        """Return a token with life left; asks the credential only where none is held or the held one nears its end.

        Near the end means 5 minutes before it, or after 80 % of a life shorter than 25 minutes. While the held token
        lives, a failing renewal is logged once as a warning and tried again every 30 seconds.

        Raises:
            AuthenticationException: The credential gave no usable token; its own error is the cause, masked.
        """
        held, now_s = self._held, self._clock()
        if held is None or now_s >= held.ends_at_s:
            self._lock.acquire()
        elif now_s < held.renew_at_s or not self._lock.acquire(blocking=False):
            # Where another thread is renewing already, a token that still lives is better than waiting for it.
            return held.text
        try:
            return self._current()
        finally:
            self._lock.release()

    def renew(self, rejected: str, claims: str | None = None) -> str:
        """Return another token than the one that the service answered with 401.

        Args:
            rejected: The token that was sent.
            claims: What the service's ``WWW-Authenticate`` header asks of the next token, as the credential takes it.

        Raises:
            AuthenticationException: The credential failed, or gave the rejected token again.
        """
        with self._lock:
            if self._held and self._held.text != rejected:
                return self._held.text
            self._held = None
            self._raise_remembered()
            fresh = self._fetch(claims)
            if fresh.text == rejected:
                self._fail(
                    AuthenticationException(
                        f"The service rejected the token, and {_kind(self._credential)} gives the same one again.",
                        remedy="Sign in again, or give a credential that can renew its tokens.",
                    )
                )
            self._held = fresh
            return fresh.text

    def _current(self) -> str:
        held, now_s = self._held, self._clock()
        if held and now_s < held.renew_at_s:
            return held.text
        if held is None or now_s >= held.ends_at_s:
            self._raise_remembered()
            self._held = held = self._fetch(None)
            return held.text
        try:
            self._held = self._fetch(None)
        except AuthenticationException as error:
            if not held.warned:
                _log.warning("renewing the token failed, the old one is used while it lives: %s", error.message)
            self._held = _Held(held.text, self._clock() + _RETRY_AHEAD_S, held.ends_at_s, warned=True)
        return self._held.text

    def _fetch(self, claims: str | None) -> _Held:
        failure = None
        try:
            token, expires_on = _checked_token(self._credential, self._cloud, claims)
        except AuthenticationException as error:
            failure = error
        except Exception as error:
            failure = failure_of(self._credential, error)
        if failure:  # raised here, where the credential's own error is no longer its context
            self._fail(failure)
        self._failure = None
        now_s, life_s = self._clock(), _life_s(expires_on, self._wall_clock())
        return _Held(token, now_s + max(life_s - _AHEAD_S, life_s * _SHORT_LIFE_SHARE), now_s + life_s)

    def _fail(self, error: AuthenticationException) -> NoReturn:
        self._failure = _Failure(error, self._clock() + _FAILURE_HOLDS_S)
        raise _copy(error) from error.inner_exception

    def _raise_remembered(self) -> None:
        if self._failure and self._clock() < self._failure.until_s:
            raise _copy(self._failure.error) from self._failure.error.inner_exception


def failure_of(credential: object, error: Exception) -> AuthenticationException:
    """Turn a credential's own error into ours: its text masked, the remedy added where the error is known."""
    cause = masked_copy(error)
    text = str(cause).strip()[:_LONGEST_TEXT] or type(error).__name__
    return AuthenticationException(f"{_kind(credential)} gave no token: {text}", cause, remedy=remedy_for(text))


def remedy_for(text: str) -> str | None:
    """What helps against a failed sign-in, by the error codes in its text; None where nothing is known."""
    hint = hints.find(tuple(dict.fromkeys(_CODES.findall(text))), text)
    return hint.remedy if hint else None


def _copy(error: AuthenticationException) -> AuthenticationException:
    # Each thread raises its own: a shared one would gather the tracebacks of all.
    return AuthenticationException(
        error.message, error.inner_exception, error.target, error.details, remedy=error.remedy
    )


def _kind(credential: object) -> str:
    return type(credential).__name__


def _life_s(expires_on: object, now_s: float) -> float:
    """Seconds until the end; 5 minutes where the credential does not say or says nonsense, a day at most."""
    if isinstance(expires_on, bool) or not isinstance(expires_on, int | float) or not expires_on > now_s:
        return _UNKNOWN_LIFE_S
    # Compared before it is subtracted: an absurdly large int does not fit a float.
    return _LONGEST_LIFE_S if expires_on > now_s + _LONGEST_LIFE_S else expires_on - now_s


def _checked_token(credential: Any, cloud: Cloud, claims: str | None) -> tuple[SecretText, object]:
    """A token and its end, as the credential gives them; one that can't be a token is in no variable of a caller."""
    text, expires_on = _ask(credential, cloud, claims)
    if isinstance(text, str) and _TOKEN.fullmatch(text):
        return SecretText(text), expires_on
    if not isinstance(text, str):
        wrong = f"a token that is no text but {type(text).__name__}"
    else:
        wrong = "a token with a blank, line break or other character that no token has" if text else "an empty token"
    raise AuthenticationException(f"{_kind(credential)} gave {wrong}.")


def _ask(credential: Any, cloud: Cloud, claims: str | None) -> tuple[Any, object]:
    """Ask for a token in the way that the credential knows; returns it with its end, unchecked."""
    if callable(getattr(credential, "get_token", None)):
        answer = credential.get_token(cloud.token_scope, **_claims_for(credential.get_token, claims))
    elif callable(getattr(credential, "get_token_info", None)):
        answer = credential.get_token_info(cloud.token_scope, options={"claims": claims} if claims else {})
    elif callable(getattr(credential, "get_authentication_header", None)):
        return _from_headers(credential.get_authentication_header()), None
    else:
        return _from_signed_session(credential, cloud), None
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise AuthenticationException(f"{_kind(credential)} is asynchronous; give its synchronous form.")
    return getattr(answer, "token", None), getattr(answer, "expires_on", None)


def _claims_for(get_token: Callable[..., object], claims: str | None) -> dict[str, str]:
    """Claims as an argument, where the credential takes them; small hand-written ones do not."""
    if not claims:
        return {}
    try:
        parameters = inspect.signature(get_token).parameters.values()
    except (TypeError, ValueError):
        return {"claims": claims}
    takes = any(p.name == "claims" or p.kind is p.VAR_KEYWORD for p in parameters)
    return {"claims": claims} if takes else {}


def _from_headers(headers: Any) -> object:
    """The bearer token of a mapping of headers, or None."""
    for name, value in dict(headers or {}).items():
        if str(name).lower() == "authorization":
            text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            return found[1] if (found := _BEARER.fullmatch(text)) else None
    return None


class _Bare:
    """As much of a request as a signer needs to see."""

    def __init__(self, url: str) -> None:
        self.url, self.method, self.body = url, "GET", None
        self.headers: dict[str, str] = {}


def _from_signed_session(credential: Any, cloud: Cloud) -> object:
    """The bearer token with which an msrest credential signs: set in the session's headers, or by its ``auth``."""
    with closing(credential.signed_session()) as session:
        found = _from_headers(session.headers)
        if found is None and callable(session.auth):
            found = _from_headers(session.auth(_Bare(f"{cloud.origin}/")).headers)
        return found
