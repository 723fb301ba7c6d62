"""One line of the fault script, and what lines do to replies."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from azureml_k8s.emulator._answers import error_body
from azureml_k8s.emulator._http import RecordedRequest, Reply

__all__ = [
    "Fault",
    "Match",
    "answer",
    "changed",
    "content",
    "holds",
    "is_list",
    "is_write",
    "moved_header",
    "moved_link",
    "told_to_wait",
]

Match = str | Callable[[RecordedRequest], bool] | None
_CODES = {
    401: "InvalidAuthenticationToken",
    403: "AuthorizationFailed",
    404: "NotFound",
    408: "RequestTimeout",
    409: "Conflict",
    429: "SubscriptionRequestsThrottled",
    500: "InternalServerError",
    502: "BadGateway",
    503: "ServiceUnavailable",
    504: "GatewayTimeout",
}
_NOBODY = "00000000-0000-0000-0000-000000000000"
_LATER = "Please try again later."
_PAGE = "<!DOCTYPE html>\n<html><head><title>{0}</title></head><body><h1>{0}</h1><p>proxy.example</p></body></html>\n"


@dataclass
class Fault:
    """One line of the script; made by `Faults.add`.

    Attributes:
        seen: How many requests matched so far.
        fired: How many of them it struck.
    """

    match: Match
    method: str | None
    nth: int | None
    every: int | None
    chance: float | None
    times: int | None
    after: bool
    change: Callable[[RecordedRequest, Reply], Reply]
    replaces: bool
    dice: random.Random
    seen: int = 0
    fired: int = 0
    is_removed: bool = False

    def remove(self) -> None:
        """Take this line out of the script."""
        self.is_removed = True

    def strikes(self, request: RecordedRequest) -> bool:
        """Tell whether this request is struck, and count it."""
        if self.is_removed or not self._matches(request):
            return False
        self.seen += 1
        if self.times is not None and self.fired >= self.times:
            return False
        is_due = self._is_due()
        self.fired += is_due
        return is_due

    def _is_due(self) -> bool:
        if self.chance is not None:
            return self.dice.random() < self.chance
        if self.every is not None:
            return self.seen % self.every == 0
        return self.nth is None or self.seen >= self.nth

    def _matches(self, request: RecordedRequest) -> bool:
        if self.method is not None and self.method != request.method:
            return False
        if callable(self.match):
            return self.match(request)
        return holds(self.match, request)


def holds(match: str | None, request: RecordedRequest) -> bool:
    """Tell whether a request's path and query hold a text, in any letter case; None is in all."""
    return match is None or match.lower() in request.target.lower()


def is_write(request: RecordedRequest) -> bool:
    """Tell whether a request changes a compute."""
    return request.method in ("PUT", "PATCH", "DELETE")


def is_list(request: RecordedRequest) -> bool:
    """Tell whether a request reads a page of computes."""
    return request.method == "GET" and request.segments[-1:] == ("computes",)


def content(body: bytes | str | Mapping[str, Any] | Sequence[Any] | None) -> bytes | None:
    """Return a body as bytes: bytes and text as they are, anything else as JSON."""
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body, indent=2).encode()


def answer(request: RecordedRequest, status: int, *, html: bool) -> Reply:
    """Return the answer that a status (or a proxy's page) stands for."""
    if html:
        return Reply(status, {"Content-Type": "text/html; charset=utf-8"}, _PAGE.format(status).encode())
    if status < 400:
        return Reply(status)
    text = f"The emulator was told to answer {request.method} with {status}."
    if status == 429:
        kind = {"GET": "read", "HEAD": "read", "DELETE": "delete"}.get(request.method, "write")
        places = [b for a, b in pairwise(request.segments) if a.lower() == "subscriptions"]
        who = f"subscription '{places[0] if places else _NOBODY}' actor '{_NOBODY}'"
        text = f"Number of '{kind}' requests for {who} exceeded. {_LATER}"
    content = json.dumps(error_body(_CODES.get(status, "EmulatedFault"), text), indent=2).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, content)


def told_to_wait(reply: Reply, seconds: str) -> Reply:
    """Return a throttled reply with its Retry-After, which the message repeats."""
    message = reply.body.replace(_LATER.encode(), f"Please try again after '{seconds}' seconds.".encode())
    return replace(reply, headers={**reply.headers, "Retry-After": seconds}, body=message)


def changed(headers: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return headers with changes laid over them; None removes one."""
    named = {name.lower() for name in changes}
    kept = {name: value for name, value in headers.items() if name.lower() not in named}
    return {**kept, **{name: value for name, value in changes.items() if value is not None}}


def _moved(url: str, host: str) -> str:
    scheme, _, rest = host.rpartition("://")
    parts = urlsplit(url)
    return urlunsplit((scheme or parts.scheme, rest, parts.path, parts.query, ""))


def moved_header(reply: Reply, host: str) -> Reply:
    """Return a reply whose operation URL leads to another host."""
    name = "Azure-AsyncOperation"
    url = reply.headers.get(name)
    return reply if url is None else replace(reply, headers={**reply.headers, name: _moved(url, host)})


def moved_link(reply: Reply, host: str) -> Reply:
    """Return a page whose next link leads to another host."""
    page = reply.json
    if not isinstance(page, dict):
        return reply
    # A list that fits one page gets a link too, so that the client has one to refuse.
    page["nextLink"] = _moved(page.get("nextLink") or "https://replaced/subscriptions?$skip=1", host)
    return replace(reply, body=json.dumps(page, indent=2).encode())
