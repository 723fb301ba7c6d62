"""Mask secrets in JSON data, by the names of its keys."""

from __future__ import annotations

from typing import Any

from azureml_k8s._secrets._names import MASK, is_secret_name
from azureml_k8s._secrets._text import mask_text


def mask_json(value: object, *, texts: bool = False) -> Any:
    """Return a deep copy of JSON data in which the values of secret keys are ``***``.

    A key is secret if `is_secret_name` says so, at any depth, inside lists too; all that stands below it is masked as
    a whole. None, booleans and empty values stay, for they give nothing away and tell whether there is a secret.

    Args:
        value: What ``json.loads`` gives; tuples become lists. Not changed, and may be nested without limit.
        texts: Mask what stands in texts, too, as `mask_text` does.
    """
    holder: list[Any] = [None]
    pending: list[tuple[Any, Any, object]] = [
        (holder, 0, value)
    ]  # a stack: recursion would end at a few hundred levels
    while pending:
        parent, place, item = pending.pop()
        if isinstance(item, dict):
            copy: Any = dict.fromkeys(item)
            pending.extend((copy, key, MASK if _is_secret(key, member) else member) for key, member in item.items())
        elif isinstance(item, (list, tuple)):
            copy = [None] * len(item)
            pending.extend((copy, index, member) for index, member in enumerate(item))
        else:
            copy = mask_text(item) if texts and isinstance(item, str) else item
        parent[place] = copy
    return holder[0]


def _is_secret(key: object, value: object) -> bool:
    if value is None or isinstance(value, bool) or value in ("", [], {}, ()):
        return False
    return is_secret_name(str(key))
