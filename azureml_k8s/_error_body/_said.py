"""An error body, of any shape, as a tree of who said what."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from azureml_k8s._error_body._text import NOT_JSON, parse
from azureml_k8s._secrets import mask_json

_DEEPEST = 40
_MOST_PARTS = 300
_LONGEST_EMBEDDED = 100_000

# Names are compared by their letters alone: innerError, innererror and inner_error are one. The order is the order of
# trust: of several parts, the message of the first is the one shown.
_CODES = ("code", "errorcode")
_TEXTS = ("message", "errormessage", "errordescription", "detail", "title")
_PARTS = (
    "error",
    "odataerror",
    "fault",
    "exception",
    "details",
    "errors",
    "innererror",
    "innerexception",
    "cause",
    "response",
    "body",
)
_KNOWN = frozenset((*_CODES, *_TEXTS, *_PARTS))
_LETTERS = re.compile(r"[^a-z]+")


@dataclass(kw_only=True)
class Said:
    """One level of an error, and those below it.

    Attributes:
        codes: Its codes.
        texts: Its sentences, the most telling last.
        notes: What it adds beside its sentences, such as the name of the policy that forbade the request.
        target: What it is about.
        children: The levels below, the most telling first.
    """

    codes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    target: str | None = None
    children: list[Said] = field(default_factory=list)

    def walk(self) -> Iterator[Said]:
        """Give this level and all below, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find_target(self) -> str | None:
        """Return the outermost target that is given."""
        return next((one.target for one in self.walk() if one.target), None)


def read_said(value: object) -> Said:
    """Return what JSON data says; an empty Said if it has nothing that looks like an error."""
    return _Reader().read(mask_json(value), depth=0)


def read_text(text: str) -> Said:
    """Return what a text says, with the JSON in it, if any, as the level below."""
    return _Reader().read(text, depth=0)


def read_ids(value: object) -> tuple[str | None, str | None]:
    """Return the request id and the correlation id that stand in a body, each None if absent."""
    outer = _by_letters(value)
    places = [outer, *(_by_letters(outer.get(name)) for name in ("error", "innererror", "correlation"))]
    correlation = _by_letters(outer.get("correlation"))
    request_id = _first_text(places, ("requestid", "xmsrequestid")) or _first_text([correlation], ("request",))
    names = ("correlationid", "correlationrequestid", "xmscorrelationrequestid")
    return request_id, _first_text(places, names) or _first_text([correlation], ("operation",))


def _first_text(places: list[dict[str, Any]], names: tuple[str, ...]) -> str | None:
    found = (place.get(name) for place in places for name in names)
    return next((one for one in found if isinstance(one, str) and one), None)


def _by_letters(value: object) -> dict[str, Any]:
    """Return an object's members under the letters of their names; of names that are then equal, the first not null."""
    members: dict[str, Any] = {}
    if isinstance(value, Mapping):
        for name, member in value.items():
            letters = _LETTERS.sub("", str(name).lower())
            if members.get(letters) is None:
                members[letters] = member
    return members


class _Reader:
    """Reads one body; stops adding levels when there are too many, so that a hostile one costs little."""

    def __init__(self) -> None:
        self._parts_left = _MOST_PARTS

    def read(self, value: object, *, depth: int) -> Said:
        self._parts_left -= 1
        if depth > _DEEPEST or self._parts_left < 0:
            return Said()
        if isinstance(value, Mapping):
            return self._read_object(_by_letters(value), depth=depth + 1)
        if isinstance(value, list):
            return Said(children=[self.read(item, depth=depth + 1) for item in value[:_MOST_PARTS]])
        return self._read_text(value, depth=depth + 1) if isinstance(value, str) else Said()

    def _read_object(self, members: dict[str, Any], *, depth: int) -> Said:
        said = Said(target=_text_or_none(members.get("target")), notes=_notes(members.get("additionalinfo")))
        for name in _CODES:
            _add_code(said, members.get(name))
        for name in reversed(_TEXTS):
            self._add_text(said, members.get(name), depth=depth)
        if not said.texts and not said.children:
            self._add_text(said, members.get("messageformat"), depth=depth)
        if isinstance(error := members.get("error"), str) and said.texts:
            _add_code(
                said, error
            )  # Entra ID and web frameworks: {"error": "a_code", "error_description": "a sentence"}
            members = {**members, "error": None}
        for name in _PARTS:
            self._add_part(said, name, members.get(name), depth=depth)
        return said

    def _add_text(self, said: Said, value: object, *, depth: int) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            said.texts.append(str(value))
        elif isinstance(value, Mapping) and isinstance(text := _by_letters(value).get("value"), str):
            self._add_text(said, text, depth=depth)  # OData 2 and 3: {"lang": "en", "value": "a sentence"}
        elif isinstance(value, str):
            read = self.read(value, depth=depth)
            said.texts.extend(read.texts)
            said.children.extend(read.children)
        elif value:
            said.children.append(self.read(value, depth=depth))

    def _add_part(self, said: Said, name: str, value: object, *, depth: int) -> None:
        if isinstance(value, Mapping) and name in ("details", "errors") and not _KNOWN & _by_letters(value).keys():
            said.children.extend(self._read_member(key, member, depth=depth) for key, member in value.items())
        elif value:
            said.children.append(self.read(value, depth=depth))

    def _read_member(self, name: object, value: object, *, depth: int) -> Said:
        """Read one of ``{"field": "what is wrong with it"}`` or ``{"field": ["this", "that"]}``."""
        sentences = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
        if sentences:
            return Said(texts=[f"{name}: {' '.join(sentences)}"])
        return self.read(value, depth=depth)

    def _read_text(self, text: str, *, depth: int) -> Said:
        around, value = _split_json(text)
        if value is NOT_JSON:
            return Said(texts=[text] if text.strip() else [])
        inner = self.read(value, depth=depth)
        if not any(one.codes or one.texts for one in inner.walk()):
            return Said(texts=[text])
        return Said(texts=[around] if around else [], children=[inner])


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _add_code(said: Said, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        return
    if len(value.split()) > 1:
        said.texts.insert(0, value)  # seen in provisioningErrors: a sentence where a code belongs
    else:
        said.codes.append(value.strip())


def _notes(value: object) -> list[str]:
    """Return a line for each of ARM's additionalInfo items, ``Type: name=value, name=value``."""
    items = [_by_letters(item) for item in value[:_MOST_PARTS]] if isinstance(value, list) else []
    notes = []
    for item in items:
        info = item.get("info")
        pairs = info.items() if isinstance(info, Mapping) else ()
        facts = ", ".join(f"{name}={fact}" for name, fact in pairs if isinstance(fact, (str, int, float)))
        if facts:
            notes.append(f"{item.get('type') or 'info'}: {facts}")
    return notes


def _split_json(text: str) -> tuple[str, object]:
    """Return the words around the JSON object or list that a text holds, and that, or NOT_JSON.

    One place is tried, the first that may begin JSON, so that the cost stays linear.
    """
    text = text[:_LONGEST_EMBEDDED]
    stripped = text.strip()
    if stripped[:1] == '"' and isinstance(inner := parse(stripped), str):
        return _split_json(inner) if inner[:1] != '"' else (inner, NOT_JSON)
    begin = min((place for place in (text.find("{"), text.find("[{")) if place >= 0), default=-1)
    if begin < 0:
        return text, NOT_JSON
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return text, NOT_JSON
    around = f"{text[:begin].rstrip(' :-=,')} {text[end:].strip()}".strip()
    return around, mask_json(value)
