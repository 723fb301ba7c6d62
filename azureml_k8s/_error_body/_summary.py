"""From all that an error body says, choose what to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from azureml_k8s._error_body._said import Said
from azureml_k8s._error_body._text import tidy

_MESSAGE_LENGTH = 4_000
_CODE_LENGTH = 200
_MOST_CODES = 30
_MOST_DETAILS = 30
_SAYS_NOTHING = re.compile(
    r"(?:an? )?(?:unknown |unexpected |internal )?(?:server )?(?:error|failure|exception)(?: (?:has )?occurr?ed)?\W*"
    r"(?:please (?:try again|retry).*)?",
    re.IGNORECASE | re.DOTALL,
)


def message_in(said: Said) -> str | None:
    """Return the innermost sentence of the most telling branch that says more than that there was an error."""
    innermost = None
    for sentence in _inside_out(said):
        if not _SAYS_NOTHING.fullmatch(sentence):
            return sentence
        innermost = innermost or sentence
    return innermost


def details_in(said: Said, message: str | None) -> tuple[str, ...]:
    """Return the sentences other than the message, outermost first, each once, as ``CODE: sentence``."""
    shown = {_gist(message or "")}
    details: list[str] = []
    for one in said.walk():
        code = f"{_code(one.codes[-1])}: " if one.codes else ""
        for lead, text in [*((code, text) for text in one.texts), *(("", note) for note in one.notes)]:
            if len(details) == _MOST_DETAILS:
                return tuple(details)
            sentence = tidy(text, _MESSAGE_LENGTH)
            if sentence and _gist(sentence) not in shown:
                shown.add(_gist(sentence))
                details.append(lead + sentence)
    return tuple(details)


def codes_in(said: Said) -> tuple[str, ...]:
    """Return the codes, outermost first, each once."""
    codes = (_code(code) for one in said.walk() for code in one.codes)
    return tuple(islice(dict.fromkeys(filter(None, codes)), _MOST_CODES))


def _inside_out(said: Said) -> Iterator[str]:
    for child in said.children:
        yield from _inside_out(child)
    own = (tidy(text, _MESSAGE_LENGTH) for text in reversed(said.texts) if text.strip() not in said.codes)
    yield from filter(None, own)


def _code(code: str) -> str:
    return "".join(tidy(code, _CODE_LENGTH).split())


def _gist(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!")
