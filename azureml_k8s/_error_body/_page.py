"""What a person would read of an HTML page, and what stands in the elements of an XML error."""

from __future__ import annotations

import html
import re

from azureml_k8s._error_body._said import Said

_LONGEST_PAGE = 100_000
_TAG = re.compile(r"<(!--|/?[A-Za-z!?][^<>\s/]{0,40})[^<>]*+>")
_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg"))
_TOLD_APART = frozenset(("title", "code", "message"))


def is_page(text: str, *, content_type: str) -> bool:
    """Tell whether this is markup rather than plain text."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and (
        "html" in content_type.lower() or "xml" in content_type.lower() or _TAG.search(text[:2_000]) is not None
    )


def read_page(text: str) -> tuple[Said, str]:
    """Return what the page says and its visible text: the message is the title, or an XML error's ``Message``."""
    visible: list[str] = []
    found: dict[str, str] = {}
    element = ""
    for tag, words in _pieces(text[:_LONGEST_PAGE]):
        if tag:
            element = _element_after(element, tag)
        if element in _UNSEEN or not words:
            continue
        visible.append(words)
        if element in _TOLD_APART:
            found.setdefault(element, words)
    message = found.get("message") or found.get("title")
    code = found.get("code") if "message" in found else None  # <code> in a web page is a bit of program
    said = Said(codes=[code] if code else [], texts=[message] if message else [])
    return said, " ".join(visible)


def _pieces(text: str) -> list[tuple[str, str]]:
    """Return pairs of a tag's name (lower case, ``/`` for an end) and the words up to the next tag."""
    first, *rest = _TAG.split(text)
    pieces = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    return [(tag.lower(), " ".join(html.unescape(words).split())) for tag, words in pieces]


def _element_after(element: str, tag: str) -> str:
    if element in _UNSEEN:
        return "" if tag == f"/{element}" else element
    return "" if tag.startswith("/") else tag
