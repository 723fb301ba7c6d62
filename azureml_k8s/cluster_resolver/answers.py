"""What went wrong with one request: for people as a sentence, for the retry policy as an outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from azureml_k8s import _retry
from azureml_k8s.cluster_resolver.connection import api_exception, transport_error
from azureml_k8s.cluster_resolver.errors import KubernetesApiError

__all__ = ["clipped", "explain", "foreign"]

_LONGEST_TEXT = 300


def explain(error: Exception, namespace: str | None) -> tuple[KubernetesApiError, _retry.Outcome]:
    """Return our error for one of the kubernetes package, and what the retry policy wants to know of it.

    Args:
        error: What the request ended with; one that is no answer and no broken connection is raised again.
        namespace: The namespace that was searched, None for all.
    """
    if isinstance(error, KubernetesApiError):
        return error, _retry.Outcome(_retry.Fault.FOREIGN, status=error.status)
    if isinstance(error, transport_error()):
        return _unreachable(error), _retry.Outcome(_fault(error))
    if not isinstance(error, api_exception()):
        raise error
    status: int = getattr(error, "status", None) or 0
    if not status:  # the package's way of reporting a TLS failure
        return _unreachable(error), _retry.Outcome(_retry.Fault.CERTIFICATE)
    retry_after_s = _retry.retry_after_s(getattr(error, "headers", None) or {})
    failure = KubernetesApiError(
        _sentence(status, _message(getattr(error, "body", None)), namespace), status=status, retry_after_s=retry_after_s
    )
    return failure, _retry.Outcome(_retry.Fault.STATUS, status=status, retry_after_s=retry_after_s)


def foreign(status: int | None, what: str) -> KubernetesApiError:
    """Return the error for an answer that cannot be the API server's."""
    return KubernetesApiError(f"the API server's answer to a list of pods cannot be read: {what}", status=status)


def clipped(value: bytes | str) -> str:
    """Return the text on one line, and not more than its beginning."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}..."


def status_error(status: Mapping[str, Any], namespace: str | None) -> KubernetesApiError:
    """Return the error for a Status object, as a watch sends it."""
    code = status.get("code")
    number = code if isinstance(code, int) else None
    return KubernetesApiError(_sentence(number, clipped(str(status.get("message", ""))), namespace), status=number)


def _message(body: object) -> str:
    """Return what a Status says, or the beginning of a body that is none; gateways answer in plain text."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else body if isinstance(body, str) else ""
    try:
        status = json.loads(text)
    except ValueError:
        return clipped(text)
    message = status.get("message") if isinstance(status, dict) else None
    return clipped(message if isinstance(message, str) else text)


def _sentence(status: int | None, message: str, namespace: str | None) -> str:
    where = "in all namespaces" if namespace is None else f"in namespace {namespace!r}"
    said = f"asking for the pods {where} failed with HTTP {status}{f': {message}' if message else ''}"
    return "; ".join([said, *_hints(status, namespace)])


def _hints(status: int | None, namespace: str | None) -> list[str]:
    if status == 401:
        return ["the credentials are not accepted; they were read again and tried once more"]
    if status != 403:
        return []
    verbs = "the verbs list and watch on pods"
    if namespace is None:
        return [f"give namespace=... to search where you may, or get a ClusterRole with {verbs}"]
    return [f"get a Role in that namespace with {verbs}"]


def _unreachable(error: Exception) -> KubernetesApiError:
    reason = getattr(error, "reason", None) or error
    return KubernetesApiError(f"the API server cannot be reached: {type(error).__name__}: {clipped(str(reason))}")


def _fault(error: Exception) -> _retry.Fault:
    name = type(error).__name__
    if name == "SSLError":
        return _retry.Fault.CERTIFICATE
    return _retry.Fault.SLOW if name == "ReadTimeoutError" else _retry.Fault.BROKEN
