"""What goes in and out of the emulated service: one request, one reply, no socket."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["HOST", "Headers", "Json", "RecordedRequest", "Refusal", "Reply", "json_reply", "parse_request"]

Json = dict[str, Any]

_MAX_DEPTH = 64  # deeper JSON is refused, as by the JSON readers that services use
HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


class Headers(Mapping[str, str]):
    """Headers, found under their names in any letter case; the casing given is kept for iteration."""

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        self._items = {name.lower(): (name, value) for name, value in (items or {}).items()}

    def __getitem__(self, name: str) -> str:
        return self._items[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Headers({sorted(self._items)})"  # names only: a value may be a token


@dataclass(frozen=True, kw_only=True)
class RecordedRequest:
    """One request, as the service saw it.

    Attributes:
        method: The verb, in upper case.
        base: Scheme and host that the request was sent to, for the links in the answer.
        path: The path, percent-decoded, without doubled slashes.
        segments: The parts of the path, each percent-decoded by itself.
        query: The query's parameters, decoded; of a repeated one, the last.
        headers: The headers, found in any letter case.
        body: The bytes sent.
        json: The body, parsed; None if there is none or it is not JSON.
        target: Path and query exactly as sent.
    """

    method: str
    base: str = field(repr=False)
    path: str
    segments: tuple[str, ...] = field(repr=False)
    query: Mapping[str, str] = field(repr=False)
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)
    json: Any = field(repr=False)
    target: str = field(repr=False)

    def api_version(self) -> str | None:
        """Return the ``api-version`` parameter, whose name ARM accepts in any letter case."""
        return self.parameter("api-version")

    def parameter(self, name: str) -> str | None:
        """Return a query parameter by its name in any letter case, or None."""
        found = [value for key, value in self.query.items() if key.lower() == name.lower()]
        return found[-1] if found else None


@dataclass(frozen=True)
class Reply:
    """One answer, and how it travels.

    Attributes:
        status: The HTTP status.
        headers: The headers.
        body: The bytes.
        delay_s: Seconds that pass before the first byte of the answer.
        drip_s: Seconds that pass before each piece of the body; 0 sends it whole.
        reset: The connection is reset instead of an answer.
        truncate: Only half of the body that Content-Length announces is sent, then the connection closes.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_s: float = 0.0
    drip_s: float = 0.0
    reset: bool = False
    truncate: bool = False

    @property
    def json(self) -> Any:
        """The body, parsed; None if it is empty."""
        return json.loads(self.body) if self.body else None

    def with_headers(self, **headers: str) -> Reply:
        """Return a copy with these headers added; underscores in names stand for hyphens."""
        return replace(self, headers={**self.headers, **{name.replace("_", "-"): v for name, v in headers.items()}})


class Refusal(Exception):
    """The service refuses a request; carries the reply that says so."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def json_reply(status: int, body: Any, **headers: str) -> Reply:
    """Return a reply in the service's layout: two-space indent, UTF-8."""
    content = json.dumps(body, indent=2).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, content).with_headers(**headers)


def parse_request(method: str, url: str, headers: Mapping[str, str], body: bytes) -> RecordedRequest:
    """Return the request as a value; never raises, whatever was sent."""
    found = Headers(headers)
    base, path, query = _split(url, found)
    segments = tuple(unquote(part) for part in path.split("/") if part)
    return RecordedRequest(
        method=method.upper(),
        base=base,
        path="/" + "/".join(segments),
        segments=segments,
        query=dict(parse_qsl(query, keep_blank_values=True)),
        headers=found,
        body=body,
        json=_parsed(body),
        target=path + (f"?{query}" if query else ""),
    )


def _split(url: str, headers: Headers) -> tuple[str, str, str]:
    if not url.lower().startswith(("http://", "https://")):
        path, _, query = url.partition("#")[0].partition("?")
        host = headers.get("Host", "")
        return f"https://{host if HOST.fullmatch(host) else 'localhost'}", path, query
    try:
        parts = urlsplit(url)
    except ValueError:
        return "https://localhost", "/", ""
    host = parts.netloc if HOST.fullmatch(parts.netloc) else "localhost"
    return f"{parts.scheme.lower()}://{host}", parts.path, parts.query


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _parsed(body: bytes) -> Any:
    try:
        parsed = json.loads(body, parse_constant=_refuse_constant) if body else None
    except (ValueError, RecursionError):
        return None
    return None if _is_deeper(parsed, _MAX_DEPTH) else parsed


def _is_deeper(value: Any, levels: int) -> bool:
    if levels < 0:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deeper(one, levels - 1) for one in inner)
