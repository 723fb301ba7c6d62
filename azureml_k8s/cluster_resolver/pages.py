"""Reading a long list from JSON, item by item.

Only one item's objects exist at a time. Parsed as a whole, a page of 500 pods is some 100,000 objects, and Python's
garbage collector spends more time on looking at them than the parser on making them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

__all__ = ["read_list"]

_decode = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")

_T = TypeVar("_T")


def read_list(text: str, read_item: Callable[[object], _T]) -> tuple[list[_T], dict[str, object]]:
    """Return the items of a Kubernetes list, each as `read_item` makes it, and the list's other fields.

    Args:
        text: A JSON object with the field ``items``, an array or null.
        read_item: Called with each item, as ``json.loads`` would have made it.

    Raises:
        json.JSONDecodeError: The text is no such object; a ValueError.
        RecursionError: It is nested too deeply.
    """
    items: list[_T] | None = None
    fields: dict[str, object] = {}
    at = _after("{", text, 0)
    while True:
        key, at = _decode(text, at)
        if not isinstance(key, str):
            raise _unexpected(text, at)
        at = _after(":", text, at)
        if key == "items":
            items, at = _read_items(text, at, read_item)
        else:
            fields[key], at = _decode(text, at)
        if _follows("}", text, at):
            break
        at = _after(",", text, at)
    if items is None or _after("}", text, at) != len(text):
        raise _unexpected(text, at)
    return items, fields


def _read_items(text: str, at: int, read_item: Callable[[object], _T]) -> tuple[list[_T], int]:
    items: list[_T] = []
    if text.startswith("null", at):
        return items, at + len("null")
    at = _after("[", text, at)
    if _follows("]", text, at):
        return items, _after("]", text, at)
    while True:
        item, at = _decode(text, at)
        items.append(read_item(item))
        if _follows("]", text, at):
            return items, _after("]", text, at)
        at = _after(",", text, at)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _follows(mark: str, text: str, at: int) -> bool:
    return text.startswith(mark, _skip(text, at))


def _after(mark: str, text: str, at: int) -> int:
    """Return where the next token begins, behind the mark that must come now."""
    at = _skip(text, at)
    if not text.startswith(mark, at):
        raise _unexpected(text, at)
    return _skip(text, at + 1)


def _unexpected(text: str, at: int) -> json.JSONDecodeError:
    return json.JSONDecodeError("Not a list of Kubernetes", text, at)
