"""Label and field selectors, as an API server understands them."""

import re

SUPPORTED_FIELDS = {
    "metadata.name": lambda pod: pod["metadata"]["name"],
    "metadata.namespace": lambda pod: pod["metadata"]["namespace"],
    "spec.nodeName": lambda pod: pod.get("spec", {}).get("nodeName", ""),
    "status.phase": lambda pod: pod.get("status", {}).get("phase", ""),
    "status.podIP": lambda pod: pod.get("status", {}).get("podIP", ""),
}

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?|"
_EQUALITY = re.compile(rf"({_KEY})\s*(==|=|!=)\s*({_VALUE})")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EXISTS = re.compile(rf"(!?)\s*({_KEY})")


class BadSelector(ValueError):
    """The selector cannot be parsed."""


def parse_labels(selector):
    """Return a function of labels that tells whether they fit; BadSelector if the selector is none."""
    requirements = [_requirement(part.strip()) for part in _parts(selector)]
    return lambda labels: all(fits(labels) for fits in requirements)


def _parts(selector):
    """Split at the commas that stand outside parentheses."""
    return re.split(r",(?![^(]*\))", selector) if selector else []


def _requirement(text):
    if match := _EQUALITY.fullmatch(text):
        key, operator, value = match.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _SET.fullmatch(text):
        key, operator, values = match[1], match[2], {value.strip() for value in match[3].split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EXISTS.fullmatch(text):
        absent, key = match.groups()
        return lambda labels: (key in labels) is not bool(absent)
    raise BadSelector(f"unable to parse requirement: found '{text}', expected: identifier")


def parse_fields(selector):
    """Return a function of a pod that tells whether it fits; BadSelector for a field that pods have no selector for."""
    requirements = []
    for part in filter(None, (selector or "").split(",")):
        match = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part)
        if not match:
            raise BadSelector(f"invalid selector: '{part}'; can't understand '{part}'")
        if match[1] not in SUPPORTED_FIELDS:
            raise BadSelector(f"field label not supported: {match[1]}")
        requirements.append((SUPPORTED_FIELDS[match[1]], match[2] != "!=", match[3]))
    return lambda pod: all((read(pod) == value) is wanted for read, wanted, value in requirements)
