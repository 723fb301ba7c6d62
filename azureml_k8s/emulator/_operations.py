"""Operations that go on after their request was accepted: the state machine of the emulated service."""

from __future__ import annotations

import base64
import secrets
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from azureml_k8s.emulator import _ids
from azureml_k8s.emulator._http import Json
from azureml_k8s.emulator._times import ServiceTime
from azureml_k8s.emulator.world import World

__all__ = ["Failure", "Kind", "Operation", "Operations"]

_MAX_KEPT = 10_000
Kind = Literal["attach", "update", "detach"]


@dataclass(frozen=True)
class Failure:
    """How an operation ends when it does not succeed.

    Attributes:
        code: The error code.
        message: The error's message.
        status_code: The ``statusCode`` beside them.
        details: Further errors, as code and message.
        state: "Failed" or "Canceled".
    """

    code: str
    message: str
    status_code: int = 400
    details: tuple[tuple[str, str], ...] = ()
    state: Literal["Failed", "Canceled"] = "Failed"

    def error(self) -> Json:
        """Return the error as the service writes it."""
        details = [{"code": code, "message": message} for code, message in self.details]
        return {"code": self.code, "statusCode": self.status_code, "message": self.message, "details": details}


@dataclass
class Operation:
    """One accepted request whose work goes on.

    Attributes:
        id: The GUID in the operation's URL.
        kind: What is done.
        resource_id: The compute that it is done to.
        location: The region in the operation's URL.
        reads_left: Reads until the end, where state moves per read; None where it moves per second.
        ends_at_s: When it ends on the service's clock, where state moves per second.
        planned: A failure that was ordered beforehand.
        status: "InProgress" or how it ended.
        failure: Why it did not succeed.
        query: The query of the operation's URL; a signature is part of it.
    """

    kind: Kind
    resource_id: str
    location: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    reads_left: int | None = None
    ends_at_s: float | None = None
    planned: Failure | None = None
    status: str = "InProgress"
    failure: Failure | None = None
    query: str = field(default="", repr=False)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status != "InProgress"

    def body(self) -> Json:
        """Return the answer of the operation's URL."""
        if self.failure is not None:
            return {"status": self.status, "error": self.failure.error()}
        return {"status": self.status, "percentComplete": 100.0} if self.is_over else {"status": self.status}


class Operations:
    """Every operation of a world, and how they move on.

    Args:
        world: What they change.
        time: The service's time.
        verdict: Called when an attach is about to succeed; returns why it does not, or None.
    """

    def __init__(self, world: World, time: ServiceTime, verdict: Callable[[Json], Failure | None]) -> None:
        self._world, self._time, self._verdict = world, time, verdict
        self._all: dict[str, Operation] = {}
        self._running: dict[str, Operation] = {}  # by the compute's id; one at a time
        self.is_stuck = False

    def start(
        self,
        kind: Kind,
        compute: Json,
        *,
        location: str,
        api_version: str,
        reads: int,
        seconds: float | None,
        planned: Failure | None = None,
    ) -> Operation:
        """Begin an operation on a compute. A finished one stays readable."""
        operation = Operation(kind, str(compute["id"]), location.replace(" ", "").lower())
        operation.query = urlencode({"api-version": api_version, "service": "new", **_signature(self._time.ticks())})
        operation.planned = planned
        if seconds is None:
            operation.reads_left = reads
        else:
            operation.ends_at_s = self._time.clock() + seconds
        self._add(operation)
        return operation

    def running_on(self, resource_id: str) -> Operation | None:
        """Return the operation that is going on on a compute, if there is one."""
        return self._running.get(_ids.key(resource_id))

    def find(self, operation_id: str, location: str) -> Operation | None:
        """Return an operation by the parts of its URL, None if there is no such."""
        operation = self._all.get(operation_id.lower())
        return operation if operation and _ids.same_region(operation.location, location) else None

    def settle(self) -> None:
        """End what is due: by the clock, or because no read is left to wait for."""
        for operation in [] if self.is_stuck else list(self._running.values()):
            is_late = operation.ends_at_s is not None and self._time.clock() >= operation.ends_at_s
            if is_late or (operation.reads_left is not None and operation.reads_left <= 0):
                self._end(operation)

    def read(self, operation: Operation | None) -> None:
        """Count one read of an operation, or of the compute that it changes."""
        if operation is not None and operation.reads_left is not None and not self.is_stuck:
            operation.reads_left -= 1
        self.settle()

    def dump(self) -> list[Json]:
        """Return what must be kept over a restart; seconds are counted from now."""
        now_s = self._time.clock()
        dumped = [asdict(one) for one in self._all.values()]
        for one in dumped:
            one["seconds_left"] = None if one["ends_at_s"] is None else max(0.0, one["ends_at_s"] - now_s)
            del one["ends_at_s"]
        return dumped

    def load(self, dumped: list[Json]) -> None:
        """Take over what `dump` returned."""
        for one in dumped:
            self._add(operation_of(one, now_s=self._time.clock()))

    def _add(self, operation: Operation) -> None:
        self._all[operation.id] = operation
        if not operation.is_over:
            self._running[_ids.key(operation.resource_id)] = operation
        if len(self._all) > _MAX_KEPT:
            oldest = next(iter(self._all))
            if self._all[oldest].is_over:
                del self._all[oldest]

    def _end(self, operation: Operation) -> None:
        del self._running[_ids.key(operation.resource_id)]
        compute = self._world.find(operation.resource_id)
        failure = operation.planned
        if failure is None and operation.kind == "attach" and compute is not None:
            failure = self._verdict(compute)
        operation.failure = failure
        operation.status = failure.state if failure else "Succeeded"
        if operation.kind == "detach" and failure is None:
            self._world.remove(operation.resource_id)
        elif compute is not None:
            self._settle_compute(compute, operation)

    def _settle_compute(self, compute: Json, operation: Operation) -> None:
        properties = compute["properties"]
        properties["provisioningState"] = operation.status
        properties["modifiedOn"] = self._time.stamp()
        properties["provisioningErrors"] = [{"error": operation.failure.error()}] if operation.failure else None
        properties["provisioningWarnings"] = {}
        properties.setdefault("computeLocation", compute["location"])
        compute["tags"] = compute.get("tags") or {}


def operation_of(dumped: Json, *, now_s: float) -> Operation:
    """Return an operation from what `Operations.dump` made of it.

    Raises:
        TypeError, KeyError, ValueError: That is not what it made.
    """
    members = dict(dumped)
    seconds_left = members.pop("seconds_left")
    members["ends_at_s"] = None if seconds_left is None else now_s + float(seconds_left)
    for name in ("planned", "failure"):
        members[name] = _failure(members[name])
    if not all(isinstance(members[name], str) for name in ("id", "kind", "resource_id", "location", "status", "query")):
        raise TypeError("an operation has a member of a wrong type")
    if not isinstance(members["reads_left"], int | None):
        raise TypeError("an operation's reads_left is no number")
    return Operation(**members)


def is_same_query(operation: Operation, query: str) -> bool:
    """Tell whether a read used the operation's URL as it was given, however the escapes are written."""
    return sorted(parse_qsl(query)) == sorted(parse_qsl(operation.query))


def _signature(ticks: int) -> dict[str, str]:
    # Sizes as seen since 2024: the whole URL is about 3 KB. The values are random and sign nothing.
    certificate, signature = secrets.token_bytes(1_800), secrets.token_bytes(256)
    parts = {"c": certificate, "s": signature, "h": secrets.token_bytes(32)}
    return {
        "t": str(ticks),
        **{name: base64.urlsafe_b64encode(one).decode().rstrip("=") for name, one in parts.items()},
    }


def _failure(dumped: Json | None) -> Failure | None:
    if dumped is None:
        return None
    return Failure(**{**dumped, "details": tuple((code, message) for code, message in dumped["details"])})
