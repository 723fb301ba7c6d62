"""Error answers in the two shapes that clients meet (ARM's and the provider's), and the headers of every answer."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from azureml_k8s.emulator._http import Json, RecordedRequest, Refusal, Reply, json_reply
from azureml_k8s.emulator._times import ServiceTime

__all__ = ["arm_refusal", "error_body", "not_emulated", "provider_refusal", "standard_headers"]

_TENANT = "00000000-0000-0000-0000-000000000000"
_HELP = (
    "docs/emulator.md lists what is emulated; ask for more in the issue tracker of azureml-k8s, naming this method "
    "and path."
)


def error_body(code: str, message: str, *, target: str | None = None, details: Sequence[Json] = ()) -> Json:
    """Return an error in ARM's shape; members that are not set are left out."""
    body: Json = {"code": code}
    if target is not None:
        body["target"] = target
    body["message"] = message
    if details:
        body["details"] = list(details)
    return {"error": body}


def arm_refusal(status: int, code: str, message: str, **headers: str) -> Refusal:
    """Return a refusal by ARM's front door."""
    return Refusal(json_reply(status, error_body(code, message), **headers))


def provider_refusal(status: int, code: str, message: str, *, location: str, time: str) -> Refusal:
    """Return a refusal by the Azure ML compute provider: its members that are not set are null."""
    unset = ("referenceCode", "detailsUri", "target")
    error: Json = {"code": code, "severity": None, "message": message, "messageFormat": None}
    error |= {"messageParameters": None, **dict.fromkeys(unset), "details": []}
    error |= {"innerError": None, "debugInfo": None, "additionalInfo": None}
    body: Json = {
        "error": error,
        "correlation": {"operation": uuid.uuid4().hex, "request": uuid.uuid4().hex[:16]},
        "environment": location,
        "location": location,
        "time": time,
        "componentName": "machinelearningcompute",
    }
    return Refusal(json_reply(status, body))


def not_emulated(request: RecordedRequest) -> Refusal:
    """Return the answer to whatever the emulator does not know."""
    return arm_refusal(501, "NotEmulated", f"{request.method} {request.path} is not emulated. {_HELP}")


def standard_headers(request: RecordedRequest, reply: Reply, *, time: ServiceTime, region: str) -> dict[str, str]:
    """Return the headers that ARM and the provider put on every answer, the reply's own included."""
    request_id = str(uuid.uuid4())
    headers = {
        "Cache-Control": "no-cache",
        "Pragma": "no-cache",
        "Expires": "-1",
        "Date": time.http_date(),
        "Request-Context": f"appId=cid-v1:{_TENANT}",
        "x-ms-response-type": "error" if reply.status >= 400 else "standard",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "X-Content-Type-Options": "nosniff",
        "azureml-served-by-cluster": f"emulator-{region}-01",
        "x-request-time": "0.005",
        "x-ms-request-id": request_id,
        "x-ms-correlation-request-id": _guid(request.headers.get("x-ms-correlation-request-id")) or request_id,
        "x-ms-routing-request-id": f"{region.upper()}:{time.now():%Y%m%dT%H%M%SZ}:{uuid.uuid4()}",
        "x-ms-operation-identifier": f"tenantId={_TENANT},objectId={_TENANT}/{region}/{uuid.uuid4()}",
    }
    headers |= _remaining(request.method)
    client_id = _guid(request.headers.get("x-ms-client-request-id"))
    if client_id and request.headers.get("x-ms-return-client-request-id", "").lower() == "true":
        headers["x-ms-client-request-id"] = client_id
    return {**headers, **reply.headers}


def _remaining(method: str) -> dict[str, str]:
    # The figures of a fresh subscription in 2025; the emulator does not count them down.
    kind, left, everywhere = {"GET": ("reads", 249, 3749), "HEAD": ("reads", 249, 3749)}.get(
        method, ("deletes", 199, 2999) if method == "DELETE" else ("writes", 199, 2999)
    )
    prefix = "x-ms-ratelimit-remaining-subscription"
    return {f"{prefix}-{kind}": str(left), f"{prefix}-global-{kind}": str(everywhere)}


def _guid(text: str | None) -> str | None:
    try:
        return str(uuid.UUID(text)) if text else None
    except ValueError:
        return None
