"""The verbs of workspace computes, and the reads of their operations."""

from __future__ import annotations

from copy import deepcopy
from urllib.parse import quote, urlencode

from azureml_k8s.emulator import _compute_body
from azureml_k8s.emulator._answers import arm_refusal, not_emulated
from azureml_k8s.emulator._call import Call
from azureml_k8s.emulator._http import Json, Reply, json_reply
from azureml_k8s.emulator._operations import is_same_query

__all__ = ["delete", "get", "list_all", "list_keys", "list_nodes", "operation_status", "patch", "put"]

_WITH_SECRETS = ("AKS", "Databricks", "VirtualMachine")


def get(call: Call) -> Reply:
    """GET a compute; while an operation goes on on it, this counts as one look at the operation."""
    compute = _existing(call)
    call.operations.read(call.operations.running_on(compute["id"]))
    return json_reply(200, _existing(call))


def list_all(call: Call) -> Reply:
    """GET one page of the computes, in the order of creation."""
    collection = f"{call.workspace['id']}/computes"
    after = _after(call)
    for _, compute in list(call.world.children(collection)):
        call.operations.read(call.operations.running_on(compute["id"]))
    left = [(place, body) for place, body in call.world.children(collection) if place > after]
    page = left[: call.pace.page_size]
    answer: Json = {"value": [body for _, body in page]}
    if len(left) > len(page):
        query = urlencode({"api-version": call.request.api_version() or "", "$skip": str(page[-1][0])})
        answer["nextLink"] = f"{call.request.base}{quote(call.request.path)}?{query}"
    return json_reply(200, answer)


def put(call: Call) -> Reply:
    """PUT a compute: accepted with 201 and state Creating, whether it exists or not."""
    workspace = call.workspace
    asked = _asked(call)
    resource_id = f"{workspace['id']}/computes/{call.params['compute']}"
    old = call.world.find(resource_id)
    try:
        _compute_body.check_name(call.params["compute"])
        _compute_body.check_body(asked)
    except _compute_body.BodyError as error:
        raise call.refusal(400, "UserError", str(error)) from None
    _refuse_if_busy(call, resource_id)
    if old is not None:
        _check_against(call, asked, old)
        resource_id = str(old["id"])
    _refuse_if_ordered(call)
    stamp = call.time.stamp()
    body = _compute_body.accepted_body(asked, resource_id=resource_id, workspace=workspace, stamp=stamp, old=old)
    call.world.put(body)
    operation = call.start("attach", body)
    return json_reply(201, body, **call.operation_headers(operation))


def patch(call: Call) -> Reply:
    """PATCH the scale settings of an AmlCompute: accepted with 202, a body, and state Updating."""
    compute = _existing(call)
    asked = _asked(call)
    kind = compute["properties"]["computeType"]
    if kind != "AmlCompute":
        raise call.refusal(400, "UserError", f"{kind} computes cannot be updated by PATCH; only AmlCompute can.")
    inner = (asked.get("properties") or {}) if isinstance(asked.get("properties"), dict) else {}
    settings = (inner.get("properties") or {}) if isinstance(inner.get("properties"), dict) else {}
    if not isinstance(settings.get("scaleSettings"), dict):
        raise call.refusal(400, "UserError", "The member 'properties.properties.scaleSettings' must be an object.")
    _refuse_if_busy(call, compute["id"])
    _refuse_if_ordered(call)
    properties = compute["properties"]
    properties |= {"provisioningState": "Updating", "modifiedOn": call.time.stamp()}
    properties["properties"] = {
        **(properties["properties"] or {}),
        "scaleSettings": deepcopy(settings["scaleSettings"]),
    }
    operation = call.start("update", compute)
    return json_reply(202, compute, **call.operation_headers(operation))


def delete(call: Call) -> Reply:
    """DELETE a compute: accepted with 202 and no body; 204 if it does not exist. No cluster is ever deleted."""
    action = (call.request.parameter("underlyingResourceAction") or "").lower()
    workspace = call.workspace
    if action not in ("delete", "detach"):
        text = "The parameter underlyingResourceAction is required and must be Delete or Detach."
        raise call.refusal(400, "UserError", text)
    compute = call.world.find(f"{workspace['id']}/computes/{call.params['compute']}")
    if compute is None:
        return Reply(204)
    _refuse_if_busy(call, compute["id"])
    _refuse_if_ordered(call)
    compute["properties"] |= {"provisioningState": "Deleting", "modifiedOn": call.time.stamp()}
    operation = call.start("detach", compute)
    return Reply(202, call.operation_headers(operation))


def list_keys(call: Call) -> Reply:
    """POST listKeys: refused for types without secrets, Kubernetes among them."""
    kind = _existing(call)["properties"]["computeType"]
    if kind in _WITH_SECRETS:
        raise not_emulated(call.request)
    text = f"{kind} computes do not have any secrets associated with them. This operation is not supported."
    raise call.refusal(400, "UserError", text)


def list_nodes(call: Call) -> Reply:
    """POST listNodes: the (no) nodes of an AmlCompute, refused for every other type."""
    kind = _existing(call)["properties"]["computeType"]
    if kind == "AmlCompute":
        return json_reply(200, {"nodes": []})
    text = f"{kind} computes do not have any nodes associated with them. This operation is not supported."
    raise call.refusal(400, "UserError", text)


def operation_status(call: Call) -> Reply:
    """GET the state of an operation, by the URL that its request was answered with."""
    operation = call.operations.find(call.params["operation"], call.params["location"])
    if operation is None or f"/{call.params['subscription']}/".lower() not in operation.resource_id.lower():
        text = f"The operation '{call.params['operation'][:80]}' was not found."
        raise arm_refusal(404, "NotFound", text)
    if not is_same_query(operation, call.request.target.partition("?")[2]):
        text = "The operation URL is not the one that was issued; use it as it was given, with its signature."
        raise arm_refusal(400, "InvalidOperationUrl", text)
    call.operations.read(operation)
    return json_reply(200, operation.body(), **({} if operation.is_over else call.pace_headers()))


def _existing(call: Call) -> Json:
    name = call.params["compute"]
    compute = call.world.find(f"{call.workspace['id']}/computes/{name}")
    if compute is None:
        raise call.refusal(404, "ComputeNotFound", f"The compute '{name[:80]}' was not found.")
    return compute


def _asked(call: Call) -> Json:
    asked = call.request.json
    if isinstance(asked, dict):
        return asked
    text = "The request content was invalid and could not be deserialized: it is not a JSON object."
    raise arm_refusal(400, "InvalidRequestContent", text)


def _after(call: Call) -> int:
    token = call.request.parameter("$skip")
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) < 19):
        raise call.refusal(400, "UserError", "The continuation token in $skip is invalid.")
    return int(token)


def _refuse_if_busy(call: Call, resource_id: str) -> None:
    operation = call.operations.running_on(resource_id)
    if operation is not None:
        name = resource_id.rsplit("/", 1)[-1]
        text = f"The compute '{name}' has an operation in progress ({operation.kind}). Try again when it is over."
        raise call.refusal(409, "Conflict", text)


def _check_against(call: Call, asked: Json, old: Json) -> None:
    properties, was = asked["properties"], old["properties"]
    kind, was_kind = str(properties["computeType"]), str(was["computeType"])
    if kind.lower() != was_kind.lower():
        raise call.refusal(
            400, "UserError", f"The compute '{old['name']}' exists with the type {was_kind}, not {kind}."
        )
    state = properties.get("provisioningState")
    if state is not None and state != was["provisioningState"]:
        raise call.refusal(400, "UserError", "The member 'provisioningState' is read-only.")
    asked_id, was_id = str(properties.get("resourceId")).lower(), str(was.get("resourceId")).lower()
    if was["provisioningState"] in ("Failed", "Canceled") and asked_id.rstrip("/") != was_id.rstrip("/"):
        text = (
            f"The compute '{old['name']}' is in the state {was['provisioningState']} with another cluster. Detach it."
        )
        raise call.refusal(400, "UserError", text)


def _refuse_if_ordered(call: Call) -> None:
    if call.pace.refusals:
        failure = call.pace.refusals.pop(0)
        raise call.refusal(failure.status_code, failure.code, failure.message)
