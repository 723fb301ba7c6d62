"""Credentials: what is taken as one, and how its tokens are kept, shared and renewed."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s._credentials import AccessToken, EmulatorCredential, TokenSource, check_credential
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import AuthenticationException, UserErrorException

CLOUD = Cloud.named("AzureCloud")
WALL_S = 1_700_000_000.0
HOUR_S = 3600


class Clock:
    """A clock that moves only when told; its wall shows the same time, since 1970."""

    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return WALL_S + self.now_s


class Counting:
    """A credential that counts, gives t1, t2, ... and fails when told to."""

    def __init__(self, clock: Clock, *, life_s: float = HOUR_S, tokens: list[Any] | None = None) -> None:
        self.clock, self.life_s, self.tokens = clock, life_s, tokens
        self.error: BaseException | None = None
        self.calls: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        self.asked = threading.Event()
        self.gate: threading.Event | None = None

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        self.calls.append((scopes, kwargs))
        self.asked.set()
        if self.gate:
            assert self.gate.wait(10)
        if self.error:
            raise self.error
        text = self.tokens.pop(0) if self.tokens else f"t{len(self.calls)}"
        return AccessToken(text, int(self.clock.wall() + self.life_s))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def credential(clock: Clock) -> Counting:
    return Counting(clock)


@pytest.fixture
def source(credential: Counting, clock: Clock) -> TokenSource:
    return source_of(credential, clock)


def source_of(credential: object, clock: Clock) -> TokenSource:
    return TokenSource(credential, CLOUD, clock=clock, wall_clock=clock.wall)


def in_threads(
    count: int, act: Callable[[], object], *, meanwhile: Callable[[], object] = lambda: None
) -> list[object]:
    """Run `act` in threads that start at once; gives results and errors alike."""
    barrier = threading.Barrier(count + 1)

    def run() -> object:
        barrier.wait(10)
        try:
            return act()
        except Exception as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(run) for _ in range(count)]
        barrier.wait(10)
        meanwhile()
        return [future.result(10) for future in futures]


# Keeping and renewing


def test_one_request_for_a_whole_hour(source: TokenSource, credential: Counting, clock: Clock) -> None:
    """The credential is asked once, and once more near the token's end (azure-sdk-for-python#40636)."""
    for _ in range(100):
        assert source.token() == "t1"
    clock.now_s += 54 * 60
    assert source.token() == "t1"
    clock.now_s += 4 * 60
    for _ in range(100):
        assert source.token() == "t2"
    assert credential.calls == [((CLOUD.token_scope,), {})] * 2


def test_making_a_source_asks_for_nothing(source: TokenSource, credential: Counting) -> None:
    """The first token is asked for when it is needed, and a source's repr shows none."""
    assert credential.calls == []
    source.token()
    assert "t1" not in repr(source)
    assert "Counting" in repr(source)


@pytest.mark.parametrize(
    ("life_s", "kept_s"), [(24 * HOUR_S, 24 * HOUR_S - 300), (HOUR_S, 3300), (1500, 1200), (600, 480), (10, 8)]
)
def test_renewed_ahead_of_expiry(clock: Clock, life_s: float, kept_s: float) -> None:
    """A token is renewed 5 minutes before its end, or after 80 % of a short life (terraform-provider-azurerm#20867)."""
    credential = Counting(clock, life_s=life_s)
    source = source_of(credential, clock)
    source.token()
    clock.now_s += kept_s - 1
    assert source.token() == "t1"
    clock.now_s += 1
    assert source.token() == "t2"


@pytest.mark.parametrize(
    "expires_on",
    [None, "soon", "", float("nan"), float("-inf"), 0, -1, True, WALL_S, 10.0, [], {}, -(10**400)],
)
def test_nonsense_about_the_end_counts_as_five_minutes(clock: Clock, expires_on: object) -> None:
    """A token whose end is missing, past or no number is asked for again before 5 minutes are over."""
    calls = []

    def get_token(scope: str) -> object:
        calls.append(scope)
        return SimpleNamespace(token="t", expires_on=expires_on)

    source = source_of(SimpleNamespace(get_token=get_token), clock)
    source.token()
    clock.now_s += 239
    source.token()
    assert len(calls) == 1
    clock.now_s += 1
    source.token()
    assert len(calls) == 2


@given(st.one_of(st.floats(), st.integers(), st.integers(10**300, 10**320), st.text(), st.none(), st.binary()))
def test_any_end_is_survived(expires_on: object) -> None:
    """Whatever a credential says about the end, its token is used, asked for once at first, and again within a day."""
    clock, calls = Clock(), []

    def get_token(scope: str) -> object:
        calls.append(scope)
        return SimpleNamespace(token="t", expires_on=expires_on)

    source = source_of(SimpleNamespace(get_token=get_token), clock)
    assert source.token() == source.token() == "t"
    assert len(calls) == 1
    clock.now_s += 24 * HOUR_S
    assert source.token() == "t"
    assert len(calls) == 2


def test_the_wall_clock_does_not_matter_later(credential: Counting, clock: Clock) -> None:
    """The end is counted from when the token came, so setting the machine's time ends or prolongs nothing."""
    wall_s = [clock.wall()]
    source = TokenSource(credential, CLOUD, clock=clock, wall_clock=lambda: wall_s[0])
    source.token()
    wall_s[0] += 10 * HOUR_S
    assert source.token() == "t1"
    wall_s[0] -= 20 * HOUR_S
    clock.now_s += 3300
    assert source.token() == "t2"


def test_failing_renewal_keeps_the_living_token(
    source: TokenSource, credential: Counting, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """While the old token lives, a failing renewal is one warning and one attempt in 30 seconds, no error."""
    source.token()
    credential.error = OSError("offline, client_secret=hushhush")
    clock.now_s += 3300
    with caplog.at_level(logging.WARNING, logger="azureml_k8s"):
        for _ in range(29):
            assert source.token() == "t1"
            clock.now_s += 1
        assert len(credential.calls) == 2
        clock.now_s += 1
        assert source.token() == "t1"
        assert len(credential.calls) == 3
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "offline" in caplog.text
    assert "hushhush" not in caplog.text
    clock.now_s += 300
    with pytest.raises(AuthenticationException, match="offline"):
        source.token()


def test_renewal_succeeds_after_a_failure(source: TokenSource, credential: Counting, clock: Clock) -> None:
    """A renewal that failed ahead of expiry is made up for by the next one."""
    source.token()
    clock.now_s += 3300
    credential.error = OSError("offline")
    assert source.token() == "t1"
    credential.error = None
    clock.now_s += 30
    assert source.token() == "t3"


def test_failure_is_remembered_for_seconds(source: TokenSource, credential: Counting, clock: Clock) -> None:
    """A failing credential is asked again after 5 seconds, not before (azure-sdk-for-python#40636)."""
    credential.error = OSError("offline")
    for _ in range(20):
        with pytest.raises(AuthenticationException, match="offline"):
            source.token()
    assert len(credential.calls) == 1
    clock.now_s += 5
    credential.error = None
    assert source.token() == "t2"


def test_interrupt_is_no_failure(source: TokenSource, credential: Counting) -> None:
    """Ctrl-C while the credential works goes through, and the next call asks again."""
    credential.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        source.token()
    credential.error = None
    assert source.token() == "t2"


# After a 401


def test_rejected_token_is_renewed(source: TokenSource, credential: Counting) -> None:
    """After a 401 another token is asked for, with the service's claims (terraform-provider-azurerm#20867)."""
    first = source.token()
    assert source.renew(first, "eyJ4IjoxfQ==") == "t2"
    assert credential.calls[1] == ((CLOUD.token_scope,), {"claims": "eyJ4IjoxfQ=="})
    assert source.token() == "t2"
    assert source.renew("t2") == "t3"
    assert credential.calls[2] == ((CLOUD.token_scope,), {})


def test_a_token_renewed_by_another_thread_is_taken(source: TokenSource, credential: Counting) -> None:
    """Whoever comes with a token that has been replaced meanwhile gets the present one, without a request."""
    first = source.token()
    source.renew(first)
    assert source.renew(first, "claims") == "t2"
    assert len(credential.calls) == 2


def test_identical_token_is_not_sent_again(clock: Clock) -> None:
    """A credential that gives the rejected token again ends the attempt; later it may have another one."""
    credential = Counting(clock, tokens=["same", "same", "other"])
    source = source_of(credential, clock)
    with pytest.raises(AuthenticationException, match="same one again") as caught:
        source.renew(source.token())
    assert "same" not in str(caught.value).replace("same one", "")
    with pytest.raises(AuthenticationException, match="same one again"):
        source.token()
    clock.now_s += 5
    assert source.token() == "other"


def test_credential_that_fails_on_renewal(source: TokenSource, credential: Counting) -> None:
    """When the credential itself raises after a 401, its error comes through (terraform-provider-azurerm#20867)."""
    first = source.token()
    credential.error = RuntimeError("AADSTS700024: Client assertion is not within its valid time range.")
    with pytest.raises(AuthenticationException, match="AADSTS700024") as caught:
        source.renew(first)
    assert caught.value.remedy
    assert "OIDC" in caught.value.remedy or "Sign in again" in caught.value.remedy


@pytest.mark.parametrize("claims", [None, "eyJ4IjoxfQ=="])
def test_claims_go_only_where_they_are_taken(clock: Clock, claims: str | None) -> None:
    """A hand-written credential without a claims argument is asked without; get_token_info gets them as an option."""
    calls: list[object] = []

    class Plain:
        def get_token(self, scope: str) -> AccessToken:
            calls.append(scope)
            return AccessToken(f"p{len(calls)}", 0)

    class Modern:
        def get_token_info(self, *scopes: str, options: dict[str, str]) -> AccessToken:
            calls.append((scopes, options))
            return AccessToken(f"m{len(calls)}", 0)

    assert source_of(Plain(), clock).renew("x", claims) == "p1"
    assert source_of(Modern(), clock).renew("x", claims) == "m2"
    assert calls == [CLOUD.token_scope, ((CLOUD.token_scope,), {"claims": claims} if claims else {})]


# Threads


def test_concurrent_start_is_one_request(source: TokenSource, credential: Counting) -> None:
    """Ten threads that start at once cause one request and share its token (azure-sdk-for-python#40636)."""
    credential.gate = threading.Event()
    assert in_threads(10, source.token, meanwhile=credential.gate.set) == ["t1"] * 10
    assert len(credential.calls) == 1


def test_concurrent_failure_is_one_request(source: TokenSource, credential: Counting) -> None:
    """When the credential fails, all waiting threads get that failure, each an error of its own."""
    credential.gate, credential.error = threading.Event(), OSError("offline")
    errors = in_threads(10, source.token, meanwhile=credential.gate.set)
    assert all(isinstance(error, AuthenticationException) for error in errors)
    assert len({id(error) for error in errors}) == 10
    assert len({str(error) for error in errors}) == 1
    assert len(credential.calls) == 1


def test_concurrent_rejection_is_one_request(source: TokenSource, credential: Counting) -> None:
    """Ten threads whose token was rejected cause one renewal."""
    first = source.token()
    assert in_threads(10, lambda: source.renew(first)) == ["t2"] * 10
    assert len(credential.calls) == 2


def test_concurrent_identical_tokens_are_one_request(clock: Clock) -> None:
    """Ten threads whose token was rejected ask a static credential once between them."""
    credential = Counting(clock, tokens=["same"] * 20)
    source = source_of(credential, clock)
    source.token()
    errors = in_threads(10, lambda: source.renew("same"))
    assert all(isinstance(error, AuthenticationException) for error in errors)
    assert len(credential.calls) == 2


def test_nobody_waits_for_a_renewal_ahead_of_expiry(source: TokenSource, credential: Counting, clock: Clock) -> None:
    """While one thread renews a token that still lives, the others go on with it."""
    source.token()
    clock.now_s += 3300
    credential.gate = threading.Event()
    credential.asked.clear()

    def others() -> None:
        assert credential.asked.wait(10)
        assert [source.token() for _ in range(5)] == ["t1"] * 5
        credential.gate.set()

    assert in_threads(1, source.token, meanwhile=others) == ["t2"]
    assert source.token() == "t2"


# What a credential may say


@pytest.mark.parametrize(
    "token",
    [
        None,
        "",
        " ",
        7,
        b"bytes",
        "a b",
        "a\r\nX-Evil: 1",
        "a\n",
        "\ttoken",
        "caf\u00e9",
        "\u2713",
        "\x00",
        "\x7f",
        object(),
    ],
)
def test_unusable_token(clock: Clock, token: object) -> None:
    """A token that is no text, empty, or would break the header is refused, without being shown."""
    source = source_of(SimpleNamespace(get_token=lambda scope: SimpleNamespace(token=token, expires_on=None)), clock)
    with pytest.raises(AuthenticationException, match="SimpleNamespace gave") as caught:
        source.token()
    assert "Evil" not in str(caught.value)


@pytest.mark.parametrize("token", ["Bearer hushhush", "hushhush\n", b"hushhush", ["hushhush"]])
def test_unusable_token_is_in_no_variable(clock: Clock, token: object) -> None:
    """Debuggers and error collectors show the variables of each call."""
    source = source_of(SimpleNamespace(get_token=lambda scope: AccessToken(token, 0)), clock)  # type: ignore[arg-type]
    with pytest.raises(AuthenticationException) as caught:
        source.token()
    chain = [traceback.TracebackException.from_exception(one, capture_locals=True) for one in chain_of(caught.value)]
    shown = "".join(
        line
        for one in chain
        for frame in one.stack
        for line in (frame.locals or {}).values()
        if "/tests/" not in frame.filename
    )
    assert "TokenSource" in shown
    assert "hushhush" not in shown


def test_error_without_a_readable_text(clock: Clock) -> None:
    """A credential's error may fail to show itself."""

    class Unreadable(Exception):
        def __str__(self) -> str:
            raise ValueError("no text")

    def get_token(scope: str) -> object:
        raise Unreadable

    with pytest.raises(AuthenticationException, match="Unreadable"):
        source_of(SimpleNamespace(get_token=get_token), clock).token()


@pytest.mark.parametrize("answer", [None, "text", 7, {"token": "x"}])
def test_answer_that_is_no_token(clock: Clock, answer: object) -> None:
    """A credential that answers with something else entirely is an AuthenticationException."""
    with pytest.raises(AuthenticationException):
        source_of(SimpleNamespace(get_token=lambda scope: answer), clock).token()


def test_error_comes_through_masked(clock: Clock) -> None:
    """The credential's own error is told and chained, without the secret in it, nor the error object itself."""

    class Leaky(Exception):
        pass

    said = "tenant refused; client_secret=hushhush Authorization: Bearer eyJhbGciOiJub25lIn0.e30.c2ln"

    def get_token(scope: str) -> object:
        raise Leaky(said)

    with pytest.raises(AuthenticationException, match="tenant refused") as caught:
        source_of(SimpleNamespace(get_token=get_token), clock).token()
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    assert "Leaky" in shown
    for secret in ("hushhush", "eyJhbGci"):
        assert secret not in shown
    chain = list(chain_of(error))
    assert not any(isinstance(one, Leaky) for one in chain)
    assert error.inner_exception is error.__cause__


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """An error and everything that is chained to it, shown or not."""
    if error is not None:
        yield error
        yield from chain_of(error.__cause__)
        yield from chain_of(error.__context__)


def test_own_errors_pass_as_they_are(clock: Clock) -> None:
    """An AuthenticationException of the credential keeps message, details and remedy."""
    credential = Counting(clock)
    credential.error = AuthenticationException("no way in", details=["az: absent"], remedy="Run `az login`.")
    with pytest.raises(AuthenticationException) as caught:
        source_of(credential, clock).token()
    assert str(caught.value) == str(credential.error)


def test_async_answer_is_refused(clock: Clock) -> None:
    """An asynchronous credential in disguise is told, and its coroutine is closed."""

    async def answer() -> None:
        raise AssertionError

    with pytest.raises(AuthenticationException, match="asynchronous"):
        source_of(SimpleNamespace(get_token=lambda scope: answer()), clock).token()


def test_awaitable_answer_is_refused(clock: Clock) -> None:
    """An answer that has to be awaited, but is no coroutine, is told as well."""

    class Future:
        def __await__(self) -> Iterator[None]:
            yield

    with pytest.raises(AuthenticationException, match="asynchronous"):
        source_of(SimpleNamespace(get_token=lambda scope: Future()), clock).token()


def test_claims_go_to_a_credential_without_a_signature(clock: Clock) -> None:
    """A credential written in C, or a mock, that does not tell its arguments gets the claims."""
    seen: list[object] = []

    class Opaque:
        __signature__ = "none"

        def __call__(self, scope: str, **kwargs: object) -> object:
            seen.append(kwargs)
            return AccessToken("t", 0)

    source_of(SimpleNamespace(get_token=Opaque()), clock).renew("x", "claims")
    assert seen == [{"claims": "claims"}]


# Other libraries' credentials


def test_v1_authentication(clock: Clock) -> None:
    """An object with get_authentication_header is asked again every 5 minutes and after a 401."""
    headers = [{"Authorization": f"Bearer v{n}"} for n in (1, 2)] + [{"authorization": "bearer  v3"}]
    source = source_of(SimpleNamespace(get_authentication_header=lambda: headers.pop(0)), clock)
    assert source.token() == source.token() == "v1"
    clock.now_s += 300
    assert source.token() == "v2"
    assert source.renew("v2", "claims are not for it") == "v3"


@pytest.mark.parametrize(
    "headers", [None, {}, {"Authorization": "Basic abc"}, {"Authorization": ""}, {"X": "Bearer a"}, 7]
)
def test_v1_authentication_without_a_bearer(clock: Clock, headers: object) -> None:
    """Headers without a bearer token are an AuthenticationException."""
    with pytest.raises(AuthenticationException):
        source_of(SimpleNamespace(get_authentication_header=lambda: headers), clock).token()


def test_msrest_credentials(clock: Clock) -> None:
    """msrest's token credentials work, those that set a header and those that sign."""
    msrest = pytest.importorskip("msrest.authentication")
    basic = msrest.BasicTokenAuthentication({"access_token": "b1"})
    source = source_of(basic, clock)
    assert source.token() == "b1"
    basic.token = {"access_token": "b2"}
    assert source.token() == "b1"
    clock.now_s += 300
    assert source.token() == "b2"
    signing = msrest.OAuthTokenAuthentication("id", {"access_token": "o1", "token_type": "Bearer"})
    assert source_of(signing, clock).token() == "o1"
    with pytest.raises(AuthenticationException):
        source_of(msrest.BasicAuthentication("user", "hush"), clock).token()


def test_signed_session_is_closed(clock: Clock) -> None:
    """The session that a credential makes to show its token is closed."""
    closed = []

    class Session(requests.Session):
        def close(self) -> None:
            closed.append(self.headers["Authorization"])
            super().close()

    def signed_session() -> Session:
        session = Session()
        session.headers["Authorization"] = "Bearer s1"
        return session

    assert source_of(SimpleNamespace(signed_session=signed_session), clock).token() == "s1"
    assert closed == ["Bearer s1"]


# What is taken as a credential


@pytest.mark.parametrize("way", ["get_token", "get_token_info", "get_authentication_header", "signed_session"])
def test_every_known_kind_is_taken(way: str) -> None:
    """Each of the four kinds is taken under either name, without being asked."""
    given = SimpleNamespace(**{way: lambda *_: pytest.fail("asked")})
    assert check_credential(given) is given
    assert check_credential(auth=given) is given
    assert check_credential(credential=given) is given


def test_no_credential_is_none() -> None:
    """None under both names means that none was given."""
    assert check_credential() is None
    assert check_credential(None, None) is None


def test_both_names_are_one_too_many() -> None:
    """auth and credential mean the same, so both are an error, even if they are one object."""
    credential = EmulatorCredential()
    with pytest.raises(UserErrorException, match="not both"):
        check_credential(credential, credential)


@pytest.mark.parametrize("name", ["auth", "credential"])
@pytest.mark.parametrize(
    "value", [7, "token", b"token", object(), {"token": "x"}, EmulatorCredential, SimpleNamespace(get_token=7)]
)
def test_no_credential_at_all(name: str, value: object) -> None:
    """Something that cannot give a token, a class included, is a TypeError that names the argument."""
    with pytest.raises(TypeError, match=name):
        check_credential(**{name: value})


def test_async_credential() -> None:
    """A credential for asyncio is refused at once, and the error tells which module to take."""
    aio = pytest.importorskip("azure.identity.aio")

    class Own:
        async def get_token(self, *scopes: str) -> None: ...

    class OwnInfo:
        async def get_token_info(self, *scopes: str) -> None: ...

    for wrong in (aio.AzureCliCredential(), Own(), OwnInfo()):
        with pytest.raises(UserErrorException, match=r"azure\.identity instead of azure\.identity\.aio") as caught:
            check_credential(credential=wrong)
        assert caught.value.target == "credential"


def test_emulator_credential() -> None:
    """The emulator's credential gives a fake token that lives for an hour, and another one when asked again."""
    credential = EmulatorCredential()
    token = credential.get_token("http://127.0.0.1:1/.default", claims=None)
    assert token.token == "emulator-1"
    assert credential.get_token("http://127.0.0.1:1/.default").token == "emulator-2"
    assert 3500 < token.expires_on - time.time() < 3700


def test_access_token_hides_itself() -> None:
    """A printed token shows only its end."""
    assert "hush" not in repr(AccessToken("hush", 7)) + str(AccessToken("hush", 7)) + f"{AccessToken('hush', 7)}"


def test_real_clocks_are_the_default() -> None:
    """Without clocks, those of the machine are used."""
    source = TokenSource(EmulatorCredential(), CLOUD)
    assert source.token() == source.token() == "emulator-1"
