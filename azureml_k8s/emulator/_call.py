"""What every handler of a route gets: the request, the parts of its path, and the service behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from azureml_k8s.emulator import _ids
from azureml_k8s.emulator._answers import arm_refusal, provider_refusal
from azureml_k8s.emulator._http import Json, RecordedRequest, Refusal
from azureml_k8s.emulator._operations import Failure, Kind, Operation, Operations
from azureml_k8s.emulator.world import World

if TYPE_CHECKING:
    from azureml_k8s.emulator._times import ServiceTime

__all__ = ["Call", "Pace"]


@dataclass
class Pace:
    """How fast operations end, and how lists are cut.

    Attributes:
        polls: Reads of an operation or its compute until it is over.
        provisioning_seconds: Seconds until it is over; None lets reads count instead.
        retry_after_s: The Retry-After of accepted requests and of reads of running operations; None sends none.
        page_size: Computes on one page of a list.
        planned: Failures for the operations to come, the next one first.
        refusals: Refusals for the writes to come, the next one first.
        registering: Reads left until a provider's registration is over, by its id.
    """

    polls: int
    provisioning_seconds: float | None
    retry_after_s: float | None
    page_size: int
    planned: list[Failure] = field(default_factory=list)
    refusals: list[Failure] = field(default_factory=list)
    registering: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One request on its way through a route."""

    request: RecordedRequest
    params: Mapping[str, str]
    world: World
    operations: Operations
    time: ServiceTime
    pace: Pace

    @property
    def workspace_id(self) -> str:
        """The id of the workspace that the path names."""
        return _ids.workspace_id(self.params["subscription"], self.params["group"], self.params["workspace"])

    @property
    def workspace(self) -> Json:
        """The workspace that the path names.

        Raises:
            Refusal: It does not exist: one answer for writes under it, another for everything else.
        """
        found = self.world.find(self.workspace_id)
        if found is not None:
            return found
        if self.request.method == "PUT":
            text = "Failed to perform 'write' on resource(s) of type 'workspaces/computes', because the parent resource"
            raise arm_refusal(404, "ParentResourceNotFound", f"{text} '{self.workspace_id}' could not be found.")
        raise self.not_found(f"{_ids.ML}/workspaces/{self.params['workspace']}")

    def not_found(self, resource: str) -> Refusal:
        """Return ARM's answer for a resource (type and name) that does not exist."""
        return arm_refusal(
            404,
            "ResourceNotFound",
            f"The Resource '{resource}' under resource group '{self.params['group']}' was not found. For more details "
            "please go to https://aka.ms/ARMResourceNotFoundFix",
        )

    def refusal(self, status: int, code: str, message: str) -> Refusal:
        """Return a refusal by the compute provider."""
        location = str(self.workspace["location"])
        return provider_refusal(status, code, message, location=location, time=self.time.stamp())

    def start(self, kind: Kind, compute: Json) -> Operation:
        """Begin an operation on a compute."""
        return self.operations.start(
            kind,
            compute,
            location=str(self.workspace["location"]),  # the workspace's, whatever the compute's body says
            api_version=self.request.api_version() or "",
            reads=self.pace.polls,
            seconds=self.pace.provisioning_seconds,
            planned=self.pace.planned.pop(0) if self.pace.planned else None,
        )

    def pace_headers(self) -> dict[str, str]:
        """Return the Retry-After header, if one was ordered."""
        delay_s = self.pace.retry_after_s
        return {} if delay_s is None else {"Retry-After": f"{delay_s:g}"}

    def operation_headers(self, operation: Operation) -> dict[str, str]:
        """Return the headers of an accepted request whose work goes on."""
        subscription = self.workspace_id.split("/")[2]
        path = f"/subscriptions/{subscription}/providers/{_ids.ML}/locations/{operation.location}"
        url = f"{self.request.base}{path}/computeOperationsStatus/{operation.id}?{operation.query}"
        return {"Azure-AsyncOperation": url, **self.pace_headers()}
