"""The emulated service as a whole: a request goes in, a reply comes out; no socket, no thread, the clock passed in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from azureml_k8s.emulator import _attach_rules
from azureml_k8s.emulator._answers import arm_refusal, standard_headers
from azureml_k8s.emulator._call import Call, Pace
from azureml_k8s.emulator._http import RecordedRequest, Refusal, Reply, parse_request
from azureml_k8s.emulator._operations import Failure, Operations
from azureml_k8s.emulator._routes import find_route, pass_front_door
from azureml_k8s.emulator._seed import Seed, world_of
from azureml_k8s.emulator._state import StateFile
from azureml_k8s.emulator._times import ServiceTime
from azureml_k8s.emulator.errors import EmulatorError
from azureml_k8s.emulator.faults import Faults

__all__ = ["MAX_BODY_BYTES", "Emulator"]

MAX_BODY_BYTES = 4 * 1024 * 1024  # ARM refuses longer requests
_MAX_RECORDED = 100_000


class Emulator:
    """Azure Resource Manager and the Azure ML compute provider, as far as the attach of a cluster touches them.

    Safe to use from many threads: requests are answered one after another.

    Args:
        seed: What exists at the start: a mapping, or the path of a JSON or YAML file (docs/emulator.md shows the
            form). Default: subscription 00000000-0000-0000-0000-000000000000, group ``rg``, workspace ``ws`` in
            westeurope, AKS cluster ``aks1`` and Arc cluster ``arc1`` with the extension, identity ``id1``.
        polls: Reads of an operation, or of its compute, until it is over; 0 ends it at once.
        provisioning_seconds: Seconds until an operation is over, instead of reads.
        retry_after_s: The Retry-After of accepted writes and of reads of running operations; None sends none, as the
            recorded service does.
        clock: The clock that state and times follow, in seconds.
        page_size: Computes on one page of a list.
        state: A file in which the world is kept over restarts; what it holds replaces the seed.

    Raises:
        EmulatorError: The seed or the state file cannot be read, and the file is left as it is; or the state file
            cannot be written.
    """

    def __init__(
        self,
        *,
        seed: Seed | None = None,
        polls: int = 2,
        provisioning_seconds: float | None = None,
        retry_after_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        page_size: int = 100,
        state: str | Path | None = None,
    ) -> None:
        self._time = ServiceTime(clock)
        self._state = StateFile(Path(state)) if state is not None else None
        self._lock = threading.RLock()
        kept = self._state.load() if self._state else None
        self.world = kept.world() if kept else world_of(seed)
        self.pace = Pace(polls, provisioning_seconds, retry_after_s, page_size)
        self._operations = Operations(self.world, self._time, self._verdict)
        if kept:
            self._operations.load(kept.operations)
        self.faults = Faults(self.pace, self._operations, clock)
        self.requests: list[RecordedRequest] = []
        if self._state:
            self._state.save(self.world, self._operations)  # now, so that nobody learns only later that it cannot be

    @property
    def subscription_id(self) -> str:
        """The subscription of the default workspace."""
        return self.world.subscription_id

    @property
    def resource_group(self) -> str:
        """The resource group of the default workspace."""
        return self.world.resource_group

    @property
    def workspace_name(self) -> str:
        """The name of the default workspace."""
        return self.world.workspace_name

    @property
    def aks_id(self) -> str:
        """The id of the first AKS cluster in the default subscription."""
        return self._first("Microsoft.ContainerService/managedClusters")

    @property
    def arc_id(self) -> str:
        """The id of the first Arc cluster in the default subscription."""
        return self._first("Microsoft.Kubernetes/connectedClusters")

    @property
    def identity_id(self) -> str:
        """The id of the first user-assigned identity in the default subscription."""
        return self._first("Microsoft.ManagedIdentity/userAssignedIdentities")

    @property
    def polls(self) -> int:
        """Reads until an operation is over; holds for operations that begin later."""
        return self.pace.polls

    @polls.setter
    def polls(self, polls: int) -> None:
        self.pace.polls = polls

    @property
    def retry_after_s(self) -> float | None:
        """The Retry-After of accepted writes and of reads of running operations; None sends none."""
        return self.pace.retry_after_s

    @retry_after_s.setter
    def retry_after_s(self, retry_after_s: float | None) -> None:
        self.pace.retry_after_s = retry_after_s

    def handle(self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Reply:
        """Answer one request. Never raises because of what was sent.

        Args:
            method: The verb.
            url: A whole URL, or path and query; links in the answer lead back to its host, or to the Host header's.
            headers: The request's headers.
            body: The request's body.
        """
        request = parse_request(method, url, headers or {}, body)
        with self._lock:
            self._record(request)
            reply = self._answered(request)
            return self._kept(reply)

    def fail_next(self, code: str, message: str = "The emulator was told to fail.", *, operation: bool = True) -> None:
        """Let the next accepted write end as Failed, or refuse it; `Faults.fail_next` has more."""
        self.faults.fail_next(code, message, operation=operation)

    def provisioning(self, *, polls: int | None = None, seconds: float | None = None) -> None:
        """Set how long the operations to come take: reads until they are over, or seconds."""
        self.faults.provisioning(polls=polls, seconds=seconds)

    def _kept(self, reply: Reply) -> Reply:
        if self._state is None:
            return reply
        try:
            self._state.save(self.world, self._operations)
        except EmulatorError as error:
            return arm_refusal(500, "StateFileNotWritten", f"{error}.").reply
        return reply

    def _answered(self, request: RecordedRequest) -> Reply:
        striking = self.faults.striking(request)
        is_kept_away = any(one.replaces and not one.after for one in striking)
        reply = Reply(500) if is_kept_away else self._served(request)
        reply = replace(reply, headers=standard_headers(request, reply, time=self._time, region=self.world.location))
        for fault in striking:
            changed = fault.change(request, reply)
            is_new = changed.status != reply.status
            reply = changed
            if is_new:
                headers = standard_headers(request, reply, time=self._time, region=self.world.location)
                reply = replace(reply, headers=headers)
        return replace(reply, body=b"") if request.method == "HEAD" or reply.status in (204, 304) else reply

    def _served(self, request: RecordedRequest) -> Reply:
        self._operations.settle()
        try:
            if len(request.body) > MAX_BODY_BYTES:
                raise arm_refusal(413, "RequestEntityTooLarge", f"The request is longer than {MAX_BODY_BYTES} bytes.")
            route, params = find_route(request)
            call = Call(request, params, self.world, self._operations, self._time, self.pace)
            reply = pass_front_door(route, call)(call)
        except Refusal as refusal:
            return refusal.reply
        self._operations.settle()
        return reply

    def _record(self, request: RecordedRequest) -> None:
        self.requests.append(request)
        if len(self.requests) > _MAX_RECORDED:
            del self.requests[: _MAX_RECORDED // 10]

    def _first(self, resource_type: str) -> str:
        scope = f"/subscriptions/{self.subscription_id}"
        found = next(iter(self.world.under(scope, resource_type)), None)
        if found is None:
            raise LookupError(f"this world has no {resource_type} in its default subscription")
        return str(found["id"])

    def _verdict(self, compute: dict[str, object]) -> Failure | None:
        return _attach_rules.verdict(self.world, compute)
