"""One HTTP exchange, bounded in time and size; the door to requests.

No retries, no meaning: what to do about an answer is decided in `_session`.
"""

from __future__ import annotations

import json as jsonlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azureml_k8s._deadline import BoundedResponse
from azureml_k8s._retry import Fault, Outcome, retry_after_s
from azureml_k8s._secrets import mask_log_records_of, mask_text, masked_copy
from azureml_k8s._version import __version__
from azureml_k8s.exceptions import UserErrorException

if TYPE_CHECKING:
    import requests
    from requests.adapters import BaseAdapter

    from azureml_k8s.clouds import Cloud

#: One answer may take so many seconds and bytes, whatever the server drips or sends.
ANSWER_LIMIT_S = 120.0
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_SHORTEST_TIMEOUT_S = 0.1
_DEEPEST_JSON = 100


@dataclass(frozen=True)
class Limits:
    """Seconds: to connect, between two arrivals of data, and of pauses that the service may ask for."""

    connect_s: float = 10.0
    read_s: float = 30.0
    max_wait_s: float = 600.0


@dataclass(frozen=True)
class Request:
    """An inert request. `is_ours`: the URL was built here, and must be sent exactly so."""

    method: str
    url: str = field(repr=False)  # an operation's is a secret
    json: Any = field(default=None, repr=False)
    is_ours: bool = True


@dataclass(frozen=True)
class Answer:
    """A whole answer; header names are in lower case."""

    request: Request
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    client_request_id: str

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def retry_after_s(self) -> float | None:
        """Seconds that the answer asks to wait, if it does."""
        return retry_after_s(self.headers)

    @property
    def content_type(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON, or empty."""
        return self._parsed[0]

    @property
    def data(self) -> Any:
        """The body as JSON; None where it is empty or something else."""
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[bool, Any]:
        try:
            data = jsonlib.loads(self.body.decode("utf-8-sig")) if self.body.strip() else None
        except (ValueError, RecursionError):
            return False, None
        return (True, data) if is_shallow(data) else (False, None)


class ExchangeError(Exception):
    """No whole answer came. Internal: `_session` turns it into a public error."""

    def __init__(self, message: str, outcome: Outcome, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.message, self.outcome, self.cause = message, outcome, cause


class Transport:
    """A connection pool that talks to one cloud. May be used from many threads, and after a fork.

    Args:
        cloud: Proxies are passed by for an emulator, and only for one.
        limits: Time-outs of every exchange.
        clock: Seconds, monotonic.
        adapter: A requests adapter to use instead of the network.
    """

    def __init__(
        self, cloud: Cloud, *, limits: Limits, clock: Callable[[], float], adapter: BaseAdapter | None = None
    ) -> None:
        self._cloud, self._limits, self._clock, self._adapter = cloud, limits, clock, adapter
        self._lock = threading.Lock()
        self._pool: requests.Session | None = None
        self._pool_owner = 0  # the process that opened it

    def close(self) -> None:
        """Close the pool; a later exchange opens a new one."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def exchange(
        self, request: Request, *, token: str, client_request_id: str, time_left_s: float | None = None
    ) -> Answer:
        """Send one request and read its whole answer; redirects are not followed.

        Args:
            request: What to send.
            token: The bearer token.
            client_request_id: Sent as x-ms-client-request-id.
            time_left_s: No time-out is longer than this; None: no such limit.

        Raises:
            ExchangeError: No whole answer came.
        """
        try:
            return self._exchange(request, token, client_request_id, time_left_s)
        except _errors_of_requests() as error:
            broken = self._translated(error)
        raise broken  # out here, so that nothing leads from it to requests' own error, which holds the headers

    def _exchange(self, request: Request, token: str, client_request_id: str, time_left_s: float | None) -> Answer:
        pool = self._opened()
        prepared = pool.prepare_request(self._unprepared(request, token, client_request_id))
        if request.is_ours and prepared.url != request.url:
            raise UserErrorException(f"a name would change the request's URL to {mask_text(str(prepared.url))}")
        if not self._cloud.owns(request.url):
            raise UserErrorException("a token may only go to the cloud's resource manager")
        prepared.url = request.url
        settings: dict[str, Any] = dict(pool.merge_environment_settings(request.url, {}, True, None, None))
        if self._cloud.is_emulator:
            settings["proxies"] = {}
        started_s = self._clock()
        response = pool.send(prepared, allow_redirects=False, timeout=self._timeouts(time_left_s), **settings)
        with closing(response):
            body = b"".join(self._read(response, started_s))
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(request, response.status_code, headers, body, client_request_id)

    def _timeouts(self, time_left_s: float | None) -> tuple[float, float]:
        bound_s = float("inf") if time_left_s is None else max(_SHORTEST_TIMEOUT_S, time_left_s)
        return min(self._limits.connect_s, bound_s), min(self._limits.read_s, bound_s)

    def _unprepared(self, request: Request, token: str, client_request_id: str) -> requests.Request:
        import requests

        headers = {
            "Accept": "application/json",
            "User-Agent": f"azureml-k8s/{__version__}",
            "x-ms-client-request-id": client_request_id,
            "x-ms-return-client-request-id": "true",
        }
        return requests.Request(
            request.method, request.url, headers=headers, json=request.json, auth=_bearer_auth(token, self._cloud)
        )

    def _opened(self) -> requests.Session:
        with self._lock:
            # On a connection shared with its parent, a forked process would read answers to the parent's requests.
            if self._pool is None or self._pool_owner != os.getpid():
                self._pool, self._pool_owner = self._open(), os.getpid()
            return self._pool

    def _open(self) -> requests.Session:
        from http.cookiejar import DefaultCookiePolicy

        import requests

        class Pool(requests.Session):
            def get_redirect_target(self, resp: requests.Response) -> None:
                """None: else requests reads a redirect's body without any limit, and breaks on odd addresses."""

        mask_log_records_of("urllib3.connectionpool")
        pool = Pool()
        pool.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        adapter = self._adapter or _bounded_adapter()
        for scheme in ("https://", "http://"):
            pool.mount(scheme, adapter)
        return pool

    def _read(self, response: requests.Response, started_s: float) -> Iterator[bytes]:
        """The body in pieces as they arrive, so that a slow drip is noticed."""
        size = 0
        for piece in _pieces(response):
            size += len(piece)
            if size > ANSWER_LIMIT_BYTES:
                message = f"the answer is larger than {ANSWER_LIMIT_BYTES >> 20} MiB"
                raise ExchangeError(message, Outcome(Fault.FOREIGN, response.status_code))
            if self._clock() - started_s > ANSWER_LIMIT_S:
                raise ExchangeError(f"the answer took longer than {ANSWER_LIMIT_S:g} s", Outcome(Fault.SLOW))
            yield piece

    def _translated(self, error: Exception) -> ExchangeError:
        fault, message = _explain(error, self._cloud.host)
        if self._cloud.is_emulator and any(isinstance(one, ConnectionRefusedError) for one in _chain(error)):
            message = f"nothing listens at {self._cloud.resource_manager}; is the emulator still running?"
        return ExchangeError(message, Outcome(fault), masked_copy(error))


def _bounded_adapter() -> BaseAdapter:
    """The network, where headers too are bounded in time, directly and through a proxy."""
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
    from urllib3.connection import HTTPConnection, HTTPSConnection

    answer = type("Answer", (BoundedResponse,), {"limit_s": ANSWER_LIMIT_S})
    plain = type("HTTPConnection", (HTTPConnection,), {"response_class": answer})
    secure = type("HTTPSConnection", (HTTPSConnection,), {"response_class": answer})
    pools: dict[str, Any] = {
        "http": type("HTTPConnectionPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("HTTPSConnectionPool", (HTTPSConnectionPool,), {"ConnectionCls": secure}),
    }

    class BoundedAdapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **settings: Any) -> None:
            super().init_poolmanager(*args, **settings)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, proxy: str, **settings: Any) -> PoolManager:
            manager: PoolManager = super().proxy_manager_for(proxy, **settings)
            manager.pool_classes_by_scheme = pools
            return manager

    return BoundedAdapter(pool_connections=2, pool_maxsize=32)


def _pieces(response: requests.Response) -> Iterator[bytes]:
    read1 = getattr(response.raw, "read1", None)
    if read1 is None:  # an adapter of the caller's whose body is no urllib3 2 response
        yield from response.iter_content(_CHUNK_BYTES)
        return
    while piece := read1(_CHUNK_BYTES, decode_content=True):
        yield piece


def _explain(error: Exception, host: str) -> tuple[Fault, str]:
    import requests
    from urllib3.exceptions import ReadTimeoutError

    if isinstance(error, requests.exceptions.ReadTimeout | ReadTimeoutError):
        return Fault.SLOW, f"{host} gave no answer in time"
    if any(map(_is_about_certificate, _chain(error))):
        return Fault.CERTIFICATE, (
            f"certificate verification failed for {host}; if a proxy or a private CA signs it, set REQUESTS_CA_BUNDLE"
            " to a file with that CA's certificate"
        )
    if isinstance(error, requests.exceptions.ProxyError):
        return Fault.BROKEN, f"the proxy of HTTPS_PROXY did not connect to {host}: {mask_text(str(error))}"
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return Fault.BROKEN, f"no connection to {host} in time"
    if isinstance(
        error,
        requests.exceptions.InvalidHeader | requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema,
    ):
        return Fault.FOREIGN, f"the request to {host} can't be sent: {mask_text(str(error))}"
    return Fault.BROKEN, f"the connection to {host} broke: {mask_text(str(error))}"


def is_shallow(data: Any) -> bool:
    """Whether JSON is nested no deeper than what works on it (copying, comparing) can follow."""
    level = [data]
    for _ in range(_DEEPEST_JSON):
        level = [member for one in level if isinstance(one, dict | list) for member in _members(one)]
        if not level:
            return True
    return False


def _members(one: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return one.values() if isinstance(one, dict) else one


def _errors_of_requests() -> tuple[type[Exception], ...]:
    import requests
    from urllib3.exceptions import HTTPError

    return requests.RequestException, HTTPError, OSError, UnicodeError


def _is_about_certificate(error: BaseException) -> bool:
    import ssl

    if isinstance(error, ssl.SSLError):
        return isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE" in (error.reason or "")
    # requests says so of a file in REQUESTS_CA_BUNDLE that is not there, before it connects.
    return type(error) is OSError and "CA certificate bundle" in str(error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those behind it: causes, contexts, and what urllib3 and requests keep as arguments."""
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        behind = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        pending.extend(other for other in behind if isinstance(other, BaseException))


def _bearer_auth(token: str, cloud: Cloud) -> Any:
    """A requests AuthBase, which no .netrc replaces; it signs for the cloud's ARM host alone."""
    from requests.auth import AuthBase

    class BearerAuth(AuthBase):
        def __call__(self, prepared: requests.PreparedRequest) -> requests.PreparedRequest:
            if not cloud.owns(str(prepared.url)):
                raise UserErrorException("a token may only go to the cloud's resource manager")
            prepared.headers["Authorization"] = f"Bearer {token}"
            return prepared

    return BearerAuth()
