"""Bytes to text, text to JSON and back, and text made fit to be shown."""

from __future__ import annotations

import codecs
import json
import re
from typing import Final

from azureml_k8s._secrets import mask_json, mask_text

NOT_JSON: Final = object()

_LONGEST_JSON = 1_000_000
_LONGEST_TEXT = 20_000  # what is looked at to show some hundred characters of it
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARSET = re.compile(r"charset=\"?(iso-8859-\d{1,2}|windows-125\d|us-ascii|utf-16(?:le|be)?)\b", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def decode(body: bytes, *, content_type: str = "") -> str:
    """Return the body as text: by its byte order mark, else the declared charset, else UTF-8; bad bytes replaced."""
    declared = _CHARSET.search(content_type)
    encoding = next((name for mark, name in _MARKS if body.startswith(mark)), declared[1] if declared else "utf-8")
    try:
        return body.decode(encoding, "replace")
    except LookupError:  # iso-8859-12 and the like, which nobody made
        return body.decode("utf-8", "replace")


def parse(text: str) -> object:
    """Return the JSON value that the text is, or NOT_JSON."""
    if len(text) > _LONGEST_JSON:
        return NOT_JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def as_text(value: object) -> str:
    """Return JSON data as text, masked by key; a text stays as it is, and nothing is returned of what is too deep."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(mask_json(value), ensure_ascii=False, default=repr)
    except (ValueError, RecursionError, TypeError):  # too deep, or no JSON data after all
        return ""


def tidy(text: str | None, length: int) -> str:
    """Return the text masked, without control characters, and cut to a length with ``...`` at the end.

    It is masked before the cut, since half a secret is not recognised as one. Control characters could make a terminal
    do things; a lone surrogate could not be printed at all.
    """
    if not text:
        return ""
    shown = text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
    shown = mask_text(_CONTROL.sub(" ", shown)).strip()
    return shown if len(shown) <= length else f"{shown[: length - 3].rstrip()}..."
