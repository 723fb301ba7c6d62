"""The fault script: what goes wrong, on which requests, before or after they take effect."""

from __future__ import annotations

import base64
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from azureml_k8s.emulator._call import Pace
from azureml_k8s.emulator._fault import (
    Fault,
    Match,
    answer,
    changed,
    content,
    holds,
    is_list,
    is_write,
    moved_header,
    moved_link,
    told_to_wait,
)
from azureml_k8s.emulator._http import RecordedRequest, Reply
from azureml_k8s.emulator._operations import Failure, Operations

__all__ = ["Fault", "Faults", "Match"]

_OPERATIONS = "/computeOperationsStatus/"


@dataclass
class Faults:
    """The script of one emulator. Lines are looked at in the order in which they were added; all that strike apply.

    Used by the in-process adapter and by the HTTP server alike. Times are seconds.
    """

    pace: Pace
    operations: Operations
    clock: Callable[[], float]
    _script: list[Fault] = field(default_factory=list)

    def add(
        self,
        match: Match = None,
        *,
        method: str | None = None,
        nth: int | None = None,
        every: int | None = None,
        chance: float | None = None,
        times: int | None = None,
        after: bool = False,
        status: int | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: bytes | str | Mapping[str, Any] | Sequence[Any] | None = None,
        html: bool = False,
        delay_s: float = 0.0,
        drip_s: float = 0.0,
        reset: bool = False,
        truncate: bool = False,
        edit: Callable[[Reply], Reply] | None = None,
        seed: int = 0,
    ) -> Fault:
        """Add one line to the script and return it.

        Without ``nth``, ``every`` or ``chance`` the next matching request is struck, once.

        Args:
            match: A part of the path and query, in any letter case, or a function of the request; None matches all.
            method: Only this verb.
            nth: The first matching request that is struck, counted from 1.
            every: Every so manieth matching request is struck (1: each).
            chance: The probability, 0 to 1, that a matching request is struck; ``seed`` makes it repeatable.
            times: How many requests are struck at most. Default: 1, but without limit for ``every`` and ``chance``.
            after: The request takes effect, and only then its answer is lost or replaced. By default, ``status``,
                ``html`` and ``reset`` keep the request from the service.
            status: The status of the answer, with ARM's error body unless ``body`` says otherwise.
            headers: Headers to set; None as a value removes one.
            body: Replaces the body: bytes or text as they are, anything else as JSON.
            html: The answer is a proxy's HTML page (with ``status``, else 200).
            delay_s: Seconds before the answer.
            drip_s: Seconds before each piece of the body.
            reset: The connection is reset instead of an answer.
            truncate: The body stops half-way, then the connection closes.
            edit: Changes the reply as a whole, after all the others.
            seed: For ``chance``.
        """
        new_body = content(body)

        def change(request: RecordedRequest, reply: Reply) -> Reply:
            if status is not None or html:
                reply = answer(request, status or 200, html=html)
            if new_body is not None:
                reply = replace(reply, body=new_body)
            reply = replace(reply, headers=changed(reply.headers, headers or {}))
            reply = replace(reply, delay_s=reply.delay_s + delay_s, drip_s=drip_s or reply.drip_s)
            reply = replace(reply, reset=reset or reply.reset, truncate=truncate or reply.truncate)
            return edit(reply) if edit else reply

        is_open = every is not None or chance is not None
        fault = Fault(
            match,
            method.upper() if method else None,
            nth,
            every,
            chance,
            times if times is not None or is_open else 1,
            after,
            change,
            replaces=status is not None or html or reset,
            dice=random.Random(seed),  # noqa: S311 - repeatable, nothing to protect
        )
        self._script.append(fault)
        return fault

    def clear(self) -> None:
        """Take every line out of the script, and let stuck operations go on."""
        self._script.clear()
        self.pace.planned.clear()
        self.pace.refusals.clear()
        self.operations.is_stuck = False

    def striking(self, request: RecordedRequest) -> list[Fault]:
        """Return the lines that strike a request, and count it."""
        return [one for one in list(self._script) if one.strikes(request)]

    def throttle(self, match: Match = None, *, retry_after_s: float = 10, times: int = 1) -> Fault:
        """Answer the next ``times`` requests with 429 and this Retry-After."""
        return self.add(match, times=times, status=429, edit=lambda reply: told_to_wait(reply, f"{retry_after_s:g}"))

    def throttle_for(self, seconds: float, match: Match = None) -> Fault:
        """Answer 429 until so many seconds have passed on the service's clock; Retry-After says what is left."""
        ends_s = self.clock() + seconds

        def is_early(request: RecordedRequest) -> bool:
            return self.clock() < ends_s and (match(request) if callable(match) else holds(match, request))

        def tell(reply: Reply) -> Reply:
            left_s = max(1, math.ceil(ends_s - self.clock()))
            return told_to_wait(reply, str(left_s))

        return self.add(is_early, every=1, status=429, edit=tell)

    def unauthorized_once(self, match: Match = None, *, claims: str | None = None) -> Fault:
        """Refuse the next token, with a claims challenge if ``claims`` (JSON) is given."""
        challenge = 'Bearer authorization_uri="https://login.microsoftonline.com/", error="invalid_token"'
        if claims is not None:
            encoded = base64.b64encode(claims.encode()).decode()
            challenge = f'Bearer realm="", error="insufficient_claims", claims="{encoded}"'
        return self.add(match, status=401, headers={"WWW-Authenticate": challenge})

    def reset_before(self, match: Match = None, *, method: str | None = None, times: int = 1) -> Fault:
        """Reset the connection before the request reaches the service."""
        return self.add(match, method=method, times=times, reset=True)

    def reset_after_accept(self, match: Match = None, *, method: str | None = None, times: int = 1) -> Fault:
        """Let the request take effect, then reset the connection: the client cannot know that it was accepted."""
        return self.add(match, method=method, times=times, reset=True, after=True)

    def stuck_operation(self) -> None:
        """Let no operation end until `clear` is called."""
        self.operations.is_stuck = True

    def vanishing_operation_url(self, *, after_reads: int = 0) -> Fault:
        """Answer reads of operations with 404 from now on, after so many good ones. The computes go on."""
        return self.add(_OPERATIONS, nth=after_reads + 1, times=2**31, status=404)

    def forbidden_operation_url(self) -> Fault:
        """Answer reads of operations with 403 from now on, as for a caller with rights on the workspace only."""
        return self.add(_OPERATIONS, every=1, status=403)

    def foreign_operation_url(self, host: str = "evil.example", *, method: str | None = None) -> Fault:
        """Let the operation URL of the next accepted request point to another host."""
        return self.add(is_write, method=method, edit=lambda reply: moved_header(reply, host))

    def foreign_next_link(self, host: str = "evil.example") -> Fault:
        """Let the next page link of the next list that has one point to another host."""
        return self.add(is_list, every=1, times=1, edit=lambda reply: moved_link(reply, host))

    def fail_next(
        self,
        code: str,
        message: str = "The emulator was told to fail.",
        *,
        operation: bool = True,
        status: int = 400,
        state: Literal["Failed", "Canceled"] = "Failed",
        details: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Let the next accepted write end as Failed, or refuse the next write.

        Args:
            code: The error code.
            message: The error's message.
            operation: True: the request is accepted and its operation ends so. False: it is refused.
            status: HTTP status of a refusal, ``statusCode`` of a failed operation.
            state: How the operation ends.
            details: Further errors, as code and message.
        """
        failure = Failure(code, message, status, tuple(details), state)
        (self.pace.planned if operation else self.pace.refusals).append(failure)

    def provisioning(self, *, polls: int | None = None, seconds: float | None = None) -> None:
        """Set how long the operations to come take: reads until they are over, or seconds."""
        if polls is not None:
            self.pace.polls, self.pace.provisioning_seconds = polls, None
        if seconds is not None:
            self.pace.provisioning_seconds = seconds
