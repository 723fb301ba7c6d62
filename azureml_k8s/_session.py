"""Requests to ARM: signed, repeated by one policy, read whole, and their errors turned into ours."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin, urlsplit

from azureml_k8s import _failures, _retry
from azureml_k8s._retry import Outcome, Purse, Tries
from azureml_k8s._secrets import get_logger
from azureml_k8s._transport import Answer, ExchangeError, Request, Transport
from azureml_k8s.exceptions import ComputeTargetException, UnreachableException

if TYPE_CHECKING:
    from azureml_k8s._credentials import TokenSource
    from azureml_k8s.clouds import Cloud

_log = get_logger(__name__)

#: More pages than any workspace has; a list that goes on for ever must not hang.
_MOST_PAGES = 10_000


class UnsettledError(Exception):
    """A PUT or DELETE ended so that the service may have done it. Internal: whoever sent it looks what is there.

    Attributes:
        pause_s: Seconds to wait before looking and perhaps sending again; None: no try is left.
        tries: To go on counting with.
        error: What to raise when no try is left.
    """

    def __init__(self, pause_s: float | None, tries: Tries, error: ComputeTargetException) -> None:
        super().__init__(str(error))
        self.pause_s, self.tries, self.error = pause_s, tries, error


class Session:
    """All requests of one workspace. May be used from many threads.

    Args:
        cloud: The only host that gets the token.
        tokens: Where tokens come from.
        transport: The exchange of one request.
        max_wait_s: Seconds of pauses, asked for by the service, that one call obeys.
        api_version: Sent with every request built here.
        clock: Seconds, monotonic.
        sleep: Sleeps so many seconds.
    """

    def __init__(
        self,
        cloud: Cloud,
        tokens: TokenSource,
        transport: Transport,
        *,
        max_wait_s: float,
        api_version: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self.cloud, self.clock, self.sleep, self.max_wait_s = cloud, clock, sleep, max_wait_s
        self._tokens, self._transport, self._api_version = tokens, transport, api_version

    def url(self, path: str, **query: str) -> str:
        """The full URL of an ARM path, with api-version."""
        return f"{self.cloud.origin}{path}?{urlencode({'api-version': self._api_version, **query})}"

    def get(self, path: str, *, purse: Purse | None = None) -> Any:
        """GET an ARM path; its JSON. `purse`: of the call that this is a part of."""
        return self.send(Request("GET", self.url(path)), tries=Tries(purse=purse or Purse())).data

    def pages(self, path: str, **query: str) -> Iterator[Any]:
        """GET a list, page by page; each item of ``value``."""
        url: str | None = self.url(path, **query)
        is_ours, seen = True, set[str]()
        while url:
            if url in seen:
                raise UnreachableException("the list's next link was already followed; the list would never end")
            if len(seen) >= _MOST_PAGES:
                raise UnreachableException(f"the list has more than {_MOST_PAGES} pages; it can't be read to its end")
            seen.add(url)
            page = self.send(Request("GET", url, is_ours=is_ours)).data
            items = page.get("value") if isinstance(page, dict) else None
            if not isinstance(items, list | None) or not isinstance(page, dict) or "value" not in page:
                raise UnreachableException("the answer is no list: it has no array named value")
            yield from items or ()
            url, is_ours = self._next_url(url, page.get("nextLink")), False

    def _next_url(self, url: str, link: Any) -> str | None:
        if not link:
            return None
        if not isinstance(link, str):
            raise UnreachableException("the list's next link is no text; the list can't be read to its end")
        try:
            joined = urljoin(url, link)
        except ValueError:
            joined = link  # no URL at all, which `trusted` says
        return self.trusted(joined, "the list's next link")

    def trusted(self, url: str, what: str) -> str:
        """The URL, if it is the cloud's; nothing is ever sent elsewhere.

        Raises:
            UnreachableException: It names another host; the message says which.
        """
        if self.cloud.owns(url):
            return url
        there, here = _failures.host_of(url), self.cloud.host
        if there.lower() == here:  # then it is the scheme that differs
            there, here = url.partition("//")[0] + f"//{there}", self.cloud.origin
        raise UnreachableException(
            f"{what} points to {there}, which is not {here}; it was not followed",
            remedy="A proxy may be changing the answers, or the cloud is not the one given as cloud=.",
        )

    def send(self, request: Request, *, time_left_s: float | None = None, tries: Tries | None = None) -> Answer:
        """Send a request, again where the policy says so.

        Raises:
            UnsettledError: A PUT or DELETE may have been done, or not.
            ComputeTargetException: Any other end but success.
        """
        tries = tries or Tries()
        started_s = self.clock()
        while True:
            left_s = None if time_left_s is None else time_left_s - (self.clock() - started_s)
            try:
                return self.send_once(request, time_left_s=left_s)
            except _failures.RequestFailed as failed:
                outcome, error = failed.outcome, failed.error
            pause_s = self._pause_s(outcome, tries, left_s)
            if _is_unsettled(request, outcome):
                raise UnsettledError(pause_s, tries.after(outcome, pause_s or 0.0), error)
            if pause_s is None:
                if _may_be_done(request, outcome):
                    raise UnsettledError(None, tries, error)
                raise error from error.__cause__
            self.nap(pause_s, outcome, request)
            tries = tries.after(outcome, pause_s)

    def send_once(self, request: Request, *, time_left_s: float | None = None) -> Answer:
        """Send a request once (after a 401, once more with a new token).

        Raises:
            RequestFailed: It did not succeed; carries the outcome and the public error.
            AuthenticationException: No token, or it was not accepted.
        """
        token = self._tokens.token()
        answer = self._exchange(request, token, time_left_s)
        if answer.status == 401:
            token = self._renewed(token, answer)
            answer = self._exchange(request, token, time_left_s)
        if answer.status == 401:
            raise _failures.unauthorized(answer)
        if not answer.is_success:
            raise _failures.refused(answer, self.cloud)
        if not answer.is_json:
            raise _failures.not_json(answer)
        return answer

    def _renewed(self, token: str, answer: Answer) -> str:
        try:
            return self._tokens.renew(token, _failures.claims_of(answer))
        except ComputeTargetException as error:
            raise _failures.with_report(error, answer) from error.__cause__

    def _exchange(self, request: Request, token: str, time_left_s: float | None) -> Answer:
        client_request_id = str(uuid.uuid4())
        started_s = self.clock()
        path = urlsplit(request.url).path
        try:
            answer = self._transport.exchange(
                request, token=token, client_request_id=client_request_id, time_left_s=time_left_s
            )
        except ExchangeError as error:
            failed = _failures.unreachable(error, client_request_id)
            took_ms = (self.clock() - started_s) * 1000
            _log.debug("%s %s -> %s in %.0f ms (%s)", request.method, path, error.message, took_ms, client_request_id)
            raise failed from error.cause
        took_ms = (self.clock() - started_s) * 1000
        request_id = answer.headers.get("x-ms-request-id", client_request_id)
        _log.debug("%s %s -> %d in %.0f ms (%s)", request.method, path, answer.status, took_ms, request_id)
        return answer

    def _pause_s(self, outcome: Outcome, tries: Tries, time_left_s: float | None) -> float | None:
        return _retry.pause_s(
            outcome, tries, time_left_s=time_left_s, max_wait_s=self.max_wait_s, jitter=_retry.draw_jitter()
        )

    def nap(self, pause_s: float, outcome: Outcome, request: Request) -> None:
        """Sleep before a repeat, and say so."""
        what = f"HTTP {outcome.status}" if outcome.status else outcome.fault.value
        path = urlsplit(request.url).path
        _log.warning("%s %s: %s; trying again in %.1f s", request.method, path, what, pause_s)
        self.sleep(pause_s)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _may_be_done(request: Request, outcome: Outcome) -> bool:
    """Whether a PUT or DELETE was answered with a success, but by an answer that says nothing else."""
    is_success = outcome.status is not None and 200 <= outcome.status < 300
    return request.method in ("PUT", "DELETE") and is_success


def _is_unsettled(request: Request, outcome: Outcome) -> bool:
    return request.method in ("PUT", "DELETE") and outcome.is_passing and not outcome.is_refusal
