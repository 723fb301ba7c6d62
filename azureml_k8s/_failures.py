"""From what went wrong with a request or an operation to the public error, with cause and remedy."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from azureml_k8s import hints
from azureml_k8s._error_body import read_error, read_error_value, report_text
from azureml_k8s._retry import Fault, Outcome
from azureml_k8s._secrets import mask_json
from azureml_k8s.exceptions import (
    AuthenticationException,
    ComputeTargetException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
    OperationFailedException,
    ProjectSystemException,
    ServiceException,
    ServiceReport,
    ThrottledException,
    UnreachableException,
)

if TYPE_CHECKING:
    from azureml_k8s._transport import Answer, ExchangeError
    from azureml_k8s.clouds import Cloud

_BY_STATUS: dict[int, type[ComputeTargetException]] = {
    401: AuthenticationException,
    403: ForbiddenException,
    404: NotFoundException,
    409: ConflictException,
    410: NotFoundException,
    429: ThrottledException,
}
#: 404 with one of these codes says that something above the compute is absent.
_PARENT_CODES = frozenset(
    {"resourcegroupnotfound", "subscriptionnotfound", "parentresourcenotfound", "invalidsubscriptionid"}
)
#: A 409 that no waiting mends, and that is about the subscription, not the compute.
_NO_CONFLICT = frozenset({"missingsubscriptionregistration"})
#: ARM's sentence for a missing resource names it; here, a workspace and nothing below it.
_WORKSPACE_ABSENT = re.compile(
    r"microsoft\.machinelearningservices/workspaces/[^/'\s]+'|^(the )?workspace\b[^/]{0,100}\bnot found\b",
    re.IGNORECASE,
)
_LONGEST_HOST = 260
#: So many provisioning errors are told; the others are in the error's attribute.
_MOST_ERRORS = 30
_CLAIMS = re.compile(r'claims="?([A-Za-z0-9+/=_-]+)"?', re.IGNORECASE)


class RequestFailed(Exception):
    """One request did not succeed. Internal: the policy decides by `outcome`, users see `error`."""

    def __init__(self, outcome: Outcome, error: ComputeTargetException) -> None:
        super().__init__(str(error))
        self.outcome, self.error = outcome, error


def refused(answer: Answer, cloud: Cloud) -> RequestFailed:
    """The service (or something before it) answered with another status than 2xx."""
    if 300 <= answer.status < 400:
        return _redirected(answer, cloud)
    report, outcome = _report_of(answer), Outcome(Fault.STATUS, answer.status, answer.retry_after_s)
    kind = _class_for(report)
    if outcome.is_refusal:
        kind = ThrottledException
    elif kind is NotFoundException and "html" in answer.content_type:
        # A proxy's page says nothing of the compute, and gone may mean done.
        kind, outcome = ServiceException, Outcome(Fault.FOREIGN, answer.status)
    error = kind(report_text(report), report=report, remedy=remedy_for(report), retry_after_s=answer.retry_after_s)
    return RequestFailed(outcome, error)


def _redirected(answer: Answer, cloud: Cloud) -> RequestFailed:
    where = host_of(answer.headers.get("location", ""))
    error = UnreachableException(
        f"{cloud.host} redirects to {where}; redirects are not followed, since they could take the token elsewhere",
        report=_report_of(answer),
        remedy="Check cloud= and whether a proxy stands between you and Azure.",
    )
    return RequestFailed(Outcome(Fault.FOREIGN, answer.status), error)


def unauthorized(answer: Answer) -> AuthenticationException:
    """The service did not accept the token, nor a new one."""
    report = _report_of(answer)
    return AuthenticationException(
        f"the service does not accept the token: {report_text(report)}", report=report, remedy=remedy_for(report)
    )


def not_json(answer: Answer) -> RequestFailed:
    """A success whose body is not JSON: cut short where it says that it is JSON, else somebody else's page."""
    claims_json = "json" in answer.content_type or not answer.content_type
    kind = answer.content_type or "none"
    error = UnreachableException(
        "the answer is no valid JSON"
        if claims_json
        else f"unexpected content type {kind}: the answer is not the service's",
        report=_report_of(answer),
        remedy=None
        if claims_json
        else "A proxy's login page often looks so; sign in to it, or set NO_PROXY or HTTPS_PROXY.",
    )
    return RequestFailed(Outcome(Fault.BROKEN if claims_json else Fault.FOREIGN, answer.status), error)


def no_compute(name: str) -> UnreachableException:
    """A success whose JSON describes no compute."""
    return UnreachableException(
        f"the service's answer about compute {name} describes no compute: it has no object named properties",
        target=name,
    )


def unreachable(error: ExchangeError, client_request_id: str) -> RequestFailed:
    """No whole answer came."""
    report = ServiceReport(client_request_id=client_request_id)
    remedy = None
    if error.outcome.fault in (Fault.BROKEN, Fault.SLOW):
        remedy = "Check the network, HTTPS_PROXY and NO_PROXY, and run it again."
    public = UnreachableException(error.message, error.cause, report=report, remedy=remedy)
    public.__cause__ = error.cause
    return RequestFailed(error.outcome, public)


def with_report(error: ComputeTargetException, answer: Answer) -> ComputeTargetException:
    """The same error, with what the service said added where nothing was known of it."""
    error.report = error.report or _report_of(answer)
    error.remedy = error.remedy or remedy_for(error.report)
    return error


def operation_failed(
    name: str, state: str, error: Any, *, provisioning_errors: Sequence[Any] | None, headers: Mapping[str, str]
) -> OperationFailedException:
    """The operation on compute `name` ended in `state` (Failed or Canceled).

    Args:
        name: The compute.
        state: The end state.
        error: The ``error`` member of the operation's body, if any.
        provisioning_errors: The compute's, as the service sent them.
        headers: Of the answer that told the end: request ids.
    """
    reports = [read_error_value(one) for one in [error, *(provisioning_errors or ())[:_MOST_ERRORS]] if one]
    first = next((report for report in reports if report.message), ServiceReport())
    told = [f"{report.codes[-1]}: {report_text(report)}" if report.codes else report_text(report) for report in reports]
    details = list(dict.fromkeys([*first.details, *(text for text in told if (first.message or text) not in text)]))
    codes = tuple(dict.fromkeys(code for report in reports for code in report.codes))
    report = replace(
        first,
        codes=codes,
        details=tuple(details),
        request_id=headers.get("x-ms-request-id"),
        correlation_id=headers.get("x-ms-correlation-request-id"),
        client_request_id=headers.get("x-ms-client-request-id"),
    )
    reason = first.message or ", ".join(codes) or "the service gave no reason"
    return OperationFailedException(
        f"{state}: {reason}",
        target=name,
        report=report,
        remedy=remedy_for(report),
        provisioning_errors=mask_json(provisioning_errors, texts=True),
        last_state=state,
        operation_may_run=False,
    )


def advised(error: ComputeTargetException, advice: str) -> ComputeTargetException:
    """The same error, its remedy followed by one more piece of advice."""
    error.remedy = f"{error.remedy} {advice}" if error.remedy else advice
    return error


def remedy_for(report: ServiceReport) -> str | None:
    """What the reader can do about it, if the table knows."""
    hint = hints.find(report.codes, " ".join([report.message or "", *report.details, report.body]), scope="attach")
    return hint.remedy if hint else None


def claims_of(answer: Answer) -> str | None:
    """The claims challenge of a 401, decoded; None without one (Microsoft identity platform, claims challenges)."""
    found = _CLAIMS.search(answer.headers.get("www-authenticate", ""))
    if not found:
        return None
    text = found[1].rstrip("=")
    try:
        return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return None


def host_of(url: str) -> str:
    """The host that a URL names, for messages; never user info, path or query."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return "an unreadable address"
    return ascii(host[:_LONGEST_HOST])[1:-1] or "an address without a host"


def _class_for(report: ServiceReport) -> type[ComputeTargetException]:
    codes = {code.casefold() for code in report.codes}
    if report.status == 404 and (codes & _PARENT_CODES or _WORKSPACE_ABSENT.search(report.message or "")):
        return ProjectSystemException
    if report.status == 409 and codes & _NO_CONFLICT:
        return ServiceException
    return _BY_STATUS.get(report.status or 0, ServiceException)


def _report_of(answer: Answer) -> ServiceReport:
    return read_error(answer.status, answer.headers, answer.body, client_request_id=answer.client_request_id)
