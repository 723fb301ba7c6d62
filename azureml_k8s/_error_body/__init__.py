"""One reader for every shape in which a service, or something in front of it, tells of an error.

``read_error`` takes an HTTP answer, ``read_error_value`` the JSON inside an operation's or a compute's body. Both give
a `ServiceReport` with secrets masked, whatever they are given; neither raises.
"""

from __future__ import annotations

from collections.abc import Mapping

from azureml_k8s._error_body._page import is_page, read_page
from azureml_k8s._error_body._said import Said, read_ids, read_said, read_text
from azureml_k8s._error_body._summary import codes_in, details_in, message_in
from azureml_k8s._error_body._text import NOT_JSON, as_text, decode, parse, tidy
from azureml_k8s.exceptions import ServiceReport

__all__ = ["read_error", "read_error_value", "report_text"]

_BODY_LENGTH = 500
_ID_LENGTH = 200
_TARGET_LENGTH = 1_000


def read_error(
    status: int, headers: Mapping[str, str], body: bytes, *, client_request_id: str | None = None
) -> ServiceReport:
    """Read the answer to a request that failed.

    Understood are Azure Resource Manager's error object, Azure ML's envelope with null members, OData, Entra ID's
    ``error_description``, problem details, XML, HTML and plain text, in any nesting, letter case and mixture.

    Args:
        status: HTTP status.
        headers: Response headers; the letter case of their names does not count.
        body: Response body as it came, decompressed.
        client_request_id: The ``x-ms-client-request-id`` that the request carried.

    Returns:
        What was found. `message` is the innermost message that says something, of several details the first; without
        any it is None, and `body` has the first 500 characters of the text.
    """
    known = {str(name).lower(): str(value) for name, value in headers.items()}
    content_type = known.get("content-type", "")
    text = decode(body, content_type=content_type)
    value = parse(text)
    if value is not NOT_JSON:
        said, text = read_said(value), as_text(value) or text
    elif is_page(text, content_type=content_type):
        said, text = read_page(text)
    else:
        said = read_text(text)
        said = said if said.children else Said()  # text that holds no JSON is shown as the body it is
    said.codes.extend(filter(None, [known.get("x-ms-error-code")]))
    request_id, correlation_id = read_ids(value)
    return _report(
        said,
        text,
        status=status,
        request_id=known.get("x-ms-request-id") or request_id,
        correlation_id=known.get("x-ms-correlation-request-id") or correlation_id,
        client_request_id=client_request_id,
    )


def read_error_value(value: object) -> ServiceReport:
    """Read an error out of JSON: an operation's ``error``, or an item of a compute's ``provisioningErrors``.

    Args:
        value: What ``json.loads`` gave: an object in any of the shapes that `read_error` knows, a list, a text, None.

    Returns:
        The same as from `read_error`, without a status: the HTTP request that brought this had succeeded.
    """
    request_id, correlation_id = read_ids(value)
    text = "" if value is None else as_text(value)
    return _report(read_said(value), text, request_id=request_id, correlation_id=correlation_id)


def report_text(report: ServiceReport) -> str:
    """Return one line that says what happened: the message, else the innermost code, else the body, else the status."""
    said = report.message or (report.codes[-1] if report.codes else "") or report.body
    if line := " ".join(said.split()):
        return line
    return "the service gave no reason" if report.status is None else f"HTTP {report.status} without a body"


def _report(
    said: Said,
    text: str,
    *,
    status: int | None = None,
    request_id: str | None = None,
    correlation_id: str | None = None,
    client_request_id: str | None = None,
) -> ServiceReport:
    message = message_in(said)
    return ServiceReport(
        status=status,
        codes=codes_in(said),
        message=message,
        details=details_in(said, message),
        target=tidy(said.find_target(), _TARGET_LENGTH) or None,
        request_id=tidy(request_id, _ID_LENGTH) or None,
        correlation_id=tidy(correlation_id, _ID_LENGTH) or None,
        client_request_id=tidy(client_request_id, _ID_LENGTH) or None,
        body=tidy(text, _BODY_LENGTH),
    )
