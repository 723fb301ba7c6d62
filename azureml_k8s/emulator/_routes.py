"""Which handler answers which path and verb, and the checks of ARM's front door before it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from azureml_k8s.emulator import _computes, _ids, _reads
from azureml_k8s.emulator._answers import arm_refusal, error_body, not_emulated
from azureml_k8s.emulator._call import Call
from azureml_k8s.emulator._http import RecordedRequest, Refusal, Reply, json_reply
from azureml_k8s.emulator._versions import check_api_version

__all__ = ["Route", "find_route", "pass_front_door"]

Handler = Callable[[Call], Reply]
_ML, _RESOURCES = _ids.ML, "Microsoft.Resources"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True)
class Route:
    """A pattern of path segments, and who answers its verbs.

    Segments in braces are parameters; one written ``{name=A|B}`` takes just these values, in any letter case.
    """

    pattern: str
    handlers: Mapping[str, Handler]
    provider: str = ""
    resource_type: str = ""
    is_open: bool = False
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.pattern.split("/")))

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """Return the parameters in a path, None if the path is not of this route."""
        if len(segments) != len(self.parts):
            return None
        params: dict[str, str] = {}
        for part, given in zip(self.parts, segments, strict=True):
            name, _, choices = part.strip("{}").partition("=")
            if not part.startswith("{"):
                if part.lower() != given.lower():
                    return None
                continue
            canonical = {one.lower(): one for one in choices.split("|")} if choices else {given.lower(): given}
            if given.lower() not in canonical:
                return None
            params[name] = canonical[given.lower()]
        return params


_SUB = "subscriptions/{subscription}"
_GROUP = f"{_SUB}/resourceGroups/{{group}}"
_WS = f"{_GROUP}/providers/{_ML}/workspaces/{{workspace}}"
_COMPUTE = f"{_WS}/computes/{{compute}}"
_AKS = "{namespace=Microsoft.ContainerService}/{type=managedClusters}"
_ARC = "{namespace=Microsoft.Kubernetes}/{type=connectedClusters}"
_MSI = "{namespace=Microsoft.ManagedIdentity}/{type=userAssignedIdentities}"
_ROLES = "providers/Microsoft.Authorization/roleAssignments"


def _computes_under(prefix: str) -> list[Route]:
    one = {"GET": _computes.get, "PUT": _computes.put, "PATCH": _computes.patch, "DELETE": _computes.delete}
    if prefix:
        one = {"GET": _computes.get}  # the regional service is only read
    kind = "workspaces/computes"
    return [
        Route(f"{prefix}{_WS}", {"GET": _reads.workspace}, _ML, "workspaces"),
        Route(f"{prefix}{_WS}/computes", {"GET": _computes.list_all}, _ML, kind),
        Route(f"{prefix}{_COMPUTE}", one, _ML, kind),
    ]


def _typed(pattern: str, provider: str, kind: str) -> list[Route]:
    return [
        Route(f"{_GROUP}/providers/{pattern}/{{name}}", {"GET": _reads.resource}, provider, kind),
        Route(f"{_GROUP}/providers/{pattern}", {"GET": _reads.resources_of_group}, provider, kind),
        Route(f"{_SUB}/providers/{pattern}", {"GET": _reads.resources_of_subscription}, provider, kind),
    ]


def _extensions_under(pattern: str) -> list[Route]:
    provider = "Microsoft.KubernetesConfiguration"
    collection = f"{_GROUP}/providers/{pattern}/{{name}}/providers/{provider}/extensions"
    return [
        Route(collection, {"GET": _reads.extensions}, provider, "extensions"),
        Route(f"{collection}/{{extension}}", {"GET": _reads.extension}, provider, "extensions"),
    ]


def _roles_on(*scopes: str) -> list[Route]:
    provider = "Microsoft.Authorization"
    return [Route(f"{one}/{_ROLES}", {"GET": _reads.role_assignments}, provider, "roleAssignments") for one in scopes]


_OPERATION = f"{_SUB}/providers/{_ML}/locations/{{location}}/computeOperationsStatus/{{operation}}"
_ALL = [
    Route("metadata/endpoints", {"GET": _reads.metadata}, "Metadata", "endpoints", is_open=True),
    Route("discovery", {"GET": _reads.discovery}, is_open=True),
    *_computes_under(""),
    *_computes_under("rp/workspaces/"),
    Route(f"{_COMPUTE}/listKeys", {"POST": _computes.list_keys}, _ML, "workspaces/computes"),
    Route(f"{_COMPUTE}/listNodes", {"POST": _computes.list_nodes}, _ML, "workspaces/computes"),
    Route(_OPERATION, {"GET": _computes.operation_status}, _ML, "locations/computeOperationsStatus"),
    Route(f"{_GROUP}/providers/{_ML}/workspaces", {"GET": _reads.workspaces_of_group}, _ML, "workspaces"),
    Route(f"{_SUB}/providers/{_ML}/workspaces", {"GET": _reads.workspaces_of_subscription}, _ML, "workspaces"),
    *_typed(_AKS, "Microsoft.ContainerService", "managedClusters"),
    *_typed(_ARC, "Microsoft.Kubernetes", "connectedClusters"),
    *_typed(_MSI, "Microsoft.ManagedIdentity", "userAssignedIdentities"),
    *_extensions_under(_AKS),
    *_extensions_under(_ARC),
    *_roles_on(_SUB, _GROUP, _WS, f"{_GROUP}/providers/{_AKS}/{{name}}", f"{_GROUP}/providers/{_ARC}/{{name}}"),
    Route("subscriptions", {"GET": _reads.subscriptions}, _RESOURCES, "subscriptions"),
    Route(_SUB, {"GET": _reads.subscription}, _RESOURCES, "subscriptions"),
    Route(f"{_SUB}/resourceGroups", {"GET": _reads.groups}, _RESOURCES, "resourceGroups"),
    Route(_GROUP, {"GET": _reads.group, "HEAD": _reads.group}, _RESOURCES, "resourceGroups"),
    Route(f"{_SUB}/providers/{{namespace}}", {"GET": _reads.provider}, _RESOURCES, "providers"),
    Route(f"{_SUB}/providers/{{namespace}}/register", {"POST": _reads.register}, _RESOURCES, "providers"),
]


def find_route(request: RecordedRequest) -> tuple[Route, dict[str, str]]:
    """Return the route of a path and the parameters in it.

    Raises:
        Refusal: 501, nobody answers this path.
    """
    for route in _ALL:
        params = route.match(request.segments)
        if params is not None:
            return route, params
    raise not_emulated(request)


def pass_front_door(route: Route, call: Call) -> Handler:
    """Return the handler of a request, once ARM's own checks are passed.

    In ARM's order: the verb, the bearer token, the api-version, the subscription, the group, the registration.

    Raises:
        Refusal: The answer of the check that failed.
    """
    request, params = call.request, call.params
    if not route.is_open:
        _check_token(request)
    handler = route.handlers.get(request.method)
    if handler is None:
        raise _wrong_verb(request, route)
    if route.provider:
        check_api_version(
            request, namespace=route.provider, resource_type=route.resource_type, location=call.world.location
        )
    if "subscription" in params:
        _check_place(call)
    if "subscription" in params and route.provider.startswith("Microsoft.") and route.provider != _RESOURCES:
        _check_registration(call, route.provider)
    return handler


def _check_token(request: RecordedRequest) -> None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return
    message = "Authentication failed. The 'Authorization' header is missing or its format is invalid."
    challenge = 'Bearer authorization_uri="https://login.microsoftonline.com/", error="invalid_token"'
    refusal = arm_refusal(401, "AuthenticationFailed", message)
    raise Refusal(refusal.reply.with_headers(WWW_Authenticate=challenge))


def _wrong_verb(request: RecordedRequest, route: Route) -> Refusal:
    message = f"The requested resource does not support http method '{request.method[:20]}'."
    reply = json_reply(405, error_body("MethodNotAllowed", message))
    return Refusal(reply.with_headers(Allow=", ".join(sorted(route.handlers))))


def _check_place(call: Call) -> None:
    subscription, group = call.params["subscription"], call.params.get("group")
    if not _GUID.fullmatch(subscription):
        text = f"The provided subscription identifier '{subscription[:80]}' is malformed or invalid."
        raise arm_refusal(400, "InvalidSubscriptionId", text)
    if call.world.find(f"/subscriptions/{subscription}") is None:
        raise arm_refusal(404, "SubscriptionNotFound", f"The subscription '{subscription}' could not be found.")
    if group is not None and call.world.find(_ids.group_id(subscription, group)) is None:
        raise arm_refusal(404, "ResourceGroupNotFound", f"Resource group '{group[:90]}' could not be found.")


def _check_registration(call: Call, namespace: str) -> None:
    found = call.world.find(_ids.provider_id(call.params["subscription"], namespace))
    if found is None or found["registrationState"] == "Registered":
        return
    text = (
        f"The subscription is not registered to use namespace '{namespace}'. See https://aka.ms/rps-not-found for how "
        "to register subscriptions."
    )
    detail = {"code": "MissingSubscriptionRegistration", "target": namespace, "message": text}
    raise Refusal(json_reply(409, error_body("MissingSubscriptionRegistration", text, details=[detail])))
