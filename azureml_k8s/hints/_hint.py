"""One row of the tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hint:
    """What a code or a piece of a message means, and what to do about it.

    Attributes:
        code: The error code that it is about, in the service's spelling; None if it goes by text alone.
        fragment: A lower-case piece of the message. With a code, both must fit.
        cause: Why this happens.
        remedy: What to do: the command, the role, the next step.
        scope: Where it is met: "attach" (attach, detach, Azure Resource Manager, sign-in), "compute", "extension"
            (its installation), "endpoint", "healthcheck" (the extension's own codes) or "job".
        verified: False if the meaning is inferred or rests on a single report.
    """

    code: str | None
    fragment: str | None
    cause: str
    remedy: str
    scope: str
    verified: bool = True
