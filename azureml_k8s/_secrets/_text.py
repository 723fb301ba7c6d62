"""Mask secrets in free text: messages, headers, URLs, log lines, JSON that may be cut or escaped.

Every pattern is built so that a search takes linear time: quantifiers are possessive or bounded, and no match can
begin inside what an earlier attempt has run through in vain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from azureml_k8s._secrets._names import MASK, is_secret_name

_NAME_END = (
    r"(?i:connection[_ -]?string|pass[_ -]?word|passwd|pwd|passphrase|secret|token|key|access[_ -]?signature|assertion)"
)
# Most lines have none of these, and are spared the patterns that begin with them; plain search is far quicker.
_NAME_WORDS = ("string", "pass", "pwd", "secret", "token", "key", "sig", "assertion")
_LOOKED_FOR = ("private key", "authorization", "bearer", "eyj")
_RUN = r"""(?:[^\s;&"'<>\\]|\\(?!["'nrt\\]|u00))*+"""  # an unquoted value, also inside an escaped text

_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)[\s\S]*?(-----END [A-Z ]{0,32}PRIVATE KEY-----|\Z)"
)
_AUTHORIZATION = re.compile(
    r"""(?i)(authorization(?:-auxiliary)?\\*+["']?\s*+[:=,]\s*+b?\\*+["']?"""
    r"""(?:basic|bearer|negotiate|ntlm|pop|sharedkey(?:lite)?|sharedaccesssignature)\s++)[^\s"'\\]++"""
)
_BEARER = re.compile(r"(?i)(\bbearer(?:\s|%20)++)([A-Za-z0-9._~+/=|-]++)(\"?)")
_CHALLENGE = re.compile(r"[a-z_]+=")
_PROSE_AFTER_BEARER = re.compile(
    r"(?i)(?:a|access|and|auth|authentication|authorization|cannot|challenge|credentials?|errors?|expired|for|has|headers?|in|"
    r"invalid|is|missing|must|not|of|only|or|realm|required|scheme|the|tokens?|type|values?|was|were|with)[.=]*+"
)
_LONG_WORD = re.compile(r"[A-Za-z0-9_.-]{20,}+")
_JWT_START = "eyJ"  # base64 of '{"'
_JWT_HEADER_LENGTH = 12

_QUERY = re.compile(r"""(&amp;|\\u0026|[?&])([\w.$~%-]++)=([^&#\s"'<>\\]++)""")
_ENCODED_QUERY = re.compile(
    r"""(?i)(%(?:25)*+(?:3F|26))([\w.$~-]++)(%(?:25)*+3D)((?:(?!%(?:25)*+(?:26|23))[^&#\s"'<>\\])++)"""
)
_BARE_QUERY = re.compile(r"""((?:^|(?<=[\s"'(<]))[tcsh]=)[^&\s"'(<]++(?=&[\w-]{1,64}=)""")
_QUERY_NAMES = frozenset(("t", "c", "s", "h", "sig", "code", "pwd", "passwd", "assertion", "client_assertion"))
_USER_INFO = re.compile(r"""((?:(?<=://)|(?<=:\\/\\/))[^/\s?#"'<>@:\\]*+:)[^/\s?#"'<>\\]*@""")

_MEMBER = re.compile(_NAME_END + r"""\\*+["']\s*+:\s*+[bu]?(?=\\*["']|[\[{]|[+-]?\d)""")
_PAIR = re.compile(rf"(?:{_NAME_END}|(?i:(?<![a-z0-9])sig))\s{{0,3}}=(?!=)[ \t]{{0,3}}")
_HEADER = re.compile(r"""(?:[A-Za-z][_-]|[a-z](?=[A-Z]))""" + _NAME_END + r""":[ \t]{0,3}""")
_PASSWORD = re.compile(r"""(?i)\b(?:password|passwd|pwd|passphrase):[ \t]{0,3}""")
_LIST_VALUE = re.compile(r"""[^;\n"'<>\\]*+""")
_NEXT_IN_LIST = re.compile(r"""[^;=\n"'<>&\\]{1,256}+(?=;)""")
_LIST_NAME = re.compile(r";[\w .-]*\Z")
_UNQUOTED = re.compile(_RUN)
_NUMBER = re.compile(r"[+-]?[\w.+-]++")
_QUOTE = re.compile(r"""(\\*+)(["'])""")
_PUNCTUATION = re.compile(r"""\\*+["']|[\[\]{}]""")
_ROUNDS = 8  # one nearly always does; a mask may uncover a pattern that the text around it hid


def mask_text(text: str) -> str:
    """Return the text with every recognisable secret replaced by ``***``.

    Masked are bearer and basic credentials, JSON Web Tokens, private keys, passwords in URLs, the query parts of SAS
    and of ARM's operation URLs (``sig``, ``t``, ``c``, ``s``, ``h``), and the values of secret names (connection
    strings, forms, JSON members, quoted and escaped in any way). What is cut off in the middle is masked to its end.
    """
    for _ in range(_ROUNDS):
        masked = _mask_once(text)
        if masked == text:
            break
        text = masked
    return text


def _mask_once(text: str) -> str:
    folded = text.casefold()
    if any(word in folded for word in _NAME_WORDS):
        text = _replace_values(text, _MEMBER, _member_end)
    if any(word in folded for word in _LOOKED_FOR):
        text = _PRIVATE_KEY.sub(rf"\g<1>{MASK}\g<2>", text)
        text = _AUTHORIZATION.sub(rf"\g<1>{MASK}", text)
        text = _BEARER.sub(_mask_bearer, text)
        text = _LONG_WORD.sub(_mask_jwt, text)
    text = _QUERY.sub(_mask_query, text)
    text = _ENCODED_QUERY.sub(_mask_encoded_query, text)
    text = _BARE_QUERY.sub(rf"\g<1>{MASK}", text)
    if any(word in folded for word in _NAME_WORDS):
        text = _replace_values(text, _PAIR, _pair_end)
        text = _replace_values(text, _HEADER, _header_end)
        text = _replace_values(text, _PASSWORD, _header_end)
    return _USER_INFO.sub(rf"\g<1>{MASK}@", text)


def _mask_bearer(match: re.Match[str]) -> str:
    lead, value, quote = match.groups()
    if _PROSE_AFTER_BEARER.fullmatch(value) or (quote and _CHALLENGE.fullmatch(value)):
        return match.group()
    return f"{lead}{MASK}{quote}"


def _mask_jwt(match: re.Match[str]) -> str:
    word, begin = match.group(), 0
    *parts, _ = word.split(".")
    for part in parts:
        found = part.find(_JWT_START)
        if found >= 0 and len(part) - found >= _JWT_HEADER_LENGTH:
            return word[: begin + found] + MASK
        begin += len(part) + 1
    return word


def _mask_query(match: re.Match[str]) -> str:
    separator, name, value = match.groups()
    return f"{separator}{name}={MASK if _is_query_secret(name) else value}"


def _mask_encoded_query(match: re.Match[str]) -> str:
    separator, name, equals, value = match.groups()
    return f"{separator}{name}{equals}{MASK if _is_query_secret(name) else value}"


def _is_query_secret(name: str) -> bool:
    return name.lower() in _QUERY_NAMES or is_secret_name(name)


def _replace_values(
    text: str, name: re.Pattern[str], end_of_value: Callable[[str, re.Match[str]], tuple[int, int]]
) -> str:
    return "".join(_with_values_masked(text, name, end_of_value))


def _with_values_masked(
    text: str, name: re.Pattern[str], end_of_value: Callable[[str, re.Match[str]], tuple[int, int]]
) -> Iterator[str]:
    done = 0
    while match := name.search(text, done):
        begin, end = end_of_value(text, match)
        yield text[done:begin]
        if begin < end:
            yield MASK
        done = max(begin, end)
    yield text[done:]


def _member_end(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the value of a JSON member begins and ends, without its quotes; nothing if it is empty."""
    begin = match.end()
    if quote := _QUOTE.match(text, begin):
        return quote.end(), _string_end(text, quote)
    if text[begin] in "[{":
        end = _bracket_end(text, begin)
        return begin, begin if end - begin == 2 else end
    number = _NUMBER.match(text, begin)
    return begin, number.end() if number else begin


def _string_end(text: str, quote: re.Match[str]) -> int:
    depth, kind = len(quote[1]), quote[2]
    for other in _QUOTE.finditer(text, quote.end()):
        if other[2] == kind and _closes(len(other[1]), depth):
            # Only the backslashes of the closing quote itself stay.
            return max(quote.end(), other.end() - 1 - min(depth, len(other[1])))
    return len(text)


def _closes(backslashes: int, depth: int) -> bool:
    """Tell whether a quote after so many backslashes closes a string that a quote after `depth` of them opened."""
    while depth > 0:
        if backslashes % 2 == 0:
            return True  # the text around the string ends here
        backslashes, depth = (backslashes - 1) // 2, (depth - 1) // 2
    return backslashes % 2 == 0


def _bracket_end(text: str, begin: int) -> int:
    level, place = 0, begin
    while found := _PUNCTUATION.search(text, place):
        place = found.end()
        if quote := _QUOTE.fullmatch(found[0]):
            end = _string_end(text, _QUOTE.match(text, found.start()) or quote)
            closing = _QUOTE.match(text, end)
            place = closing.end() if closing else len(text)
            continue
        level += 1 if found[0] in "[{" else -1
        if level == 0:
            return place
    return len(text)


def _pair_end(text: str, match: re.Match[str]) -> tuple[int, int]:
    begin = match.end()
    if quote := _QUOTE.match(text, begin):
        return quote.end(), _string_end(text, quote)
    if _LIST_NAME.search(text, max(0, match.start() - 64), match.start()):
        pattern = _LIST_VALUE
    else:
        pattern = _NEXT_IN_LIST if _NEXT_IN_LIST.match(text, begin) else _UNQUOTED
    found = pattern.match(text, begin)
    return begin, found.end() if found else begin


def _header_end(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the value after ``Some-Key: ``, unless it is a word, an address or an error code: then this is prose."""
    found = _UNQUOTED.match(text, match.end())
    value = found[0].rstrip(".,:)") if found else ""
    is_prose = len(value) < 6 or value.isalpha() or "://" in value or value.startswith("AADSTS")
    return match.end(), match.end() + (0 if is_prose else len(value))
