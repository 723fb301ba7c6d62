"""Try again? After how many seconds? Pure functions, but for the jitter that callers draw; every request goes by them.

The statuses that are worth repeating, and what Retry-After means, are those of the Azure resource-provider contract:
408, 429, 500, 502, 503, 504, and connections that break.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

REPEATED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
#: Repeats after the first try of one request.
MAX_REPEATS = 5
#: Repeats after an answer that was not in time: each costs the whole time-out.
MAX_READ_TIMEOUT_REPEATS = 1
#: Seconds of our own pauses in one call outside a wait.
OWN_PAUSES_S = 30.0
#: Seconds of one pause of our own, at the most.
LONGEST_OWN_PAUSE_S = 30.0


class Fault(Enum):
    """How one request went wrong."""

    STATUS = "the service answered with an error"
    BROKEN = "the connection broke"  # resets, truncated bodies
    SLOW = "no answer in time"
    CERTIFICATE = "the certificate was not accepted"
    FOREIGN = "the answer is not the service's"  # a login page, a redirect, an answer too large


@dataclass(frozen=True)
class Outcome:
    """One request's bad end, as far as the policy cares.

    Attributes:
        fault: What went wrong.
        status: HTTP status, if an answer came.
        retry_after_s: Seconds that the service asked for; None or 0: it asked for none.
    """

    fault: Fault
    status: int | None = None
    retry_after_s: float | None = None

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        if self.fault is Fault.STATUS:
            return self.status in REPEATED_STATUSES
        return self.fault in (Fault.BROKEN, Fault.SLOW)

    @property
    def is_refusal(self) -> bool:
        """Whether the service certainly did not do what was asked, so that a PUT or DELETE may be sent again."""
        return self.status == 429 or (self.status == 503 and bool(self.retry_after_s))


@dataclass
class Purse:
    """Seconds of pauses that one call has made, by our own choice and because the service asked; see `Tries`."""

    own_s: float = 0.0
    asked_s: float = 0.0

    def pay(self, outcome: Outcome, pause_s: float) -> None:
        """Count a pause after this outcome."""
        if outcome.retry_after_s:
            self.asked_s += pause_s
        else:
            self.own_s += pause_s


@dataclass(frozen=True)
class Tries:
    """What one request has spent: repeats, of those read time-outs; the purse is shared by all requests of its call."""

    repeats: int = 0
    slow: int = 0
    purse: Purse = field(default_factory=Purse)

    def after(self, outcome: Outcome, pause_s: float) -> Tries:
        """The tally after one more failure and the pause that follows, which the purse pays."""
        self.purse.pay(outcome, pause_s)
        return replace(self, repeats=self.repeats + 1, slow=self.slow + (outcome.fault is Fault.SLOW))


def pause_s(
    outcome: Outcome, tries: Tries, *, time_left_s: float | None, max_wait_s: float, jitter: float
) -> float | None:
    """Seconds to sleep before the request is sent again, or None to stop.

    Args:
        outcome: The last failure.
        tries: What the call has spent before it.
        time_left_s: Seconds to the caller's deadline; None: no deadline.
        max_wait_s: Seconds of pauses asked for by the service, in all, that are obeyed.
        jitter: 0.8 to 1.0, drawn by the caller.
    """
    if not outcome.is_passing or tries.repeats >= MAX_REPEATS:
        return None
    if outcome.fault is Fault.SLOW and tries.slow >= MAX_READ_TIMEOUT_REPEATS:
        return None
    if outcome.retry_after_s:
        pause = outcome.retry_after_s
        allowed_s = max_wait_s - tries.purse.asked_s
    else:
        pause = backoff_s(tries.repeats, jitter=jitter)
        allowed_s = OWN_PAUSES_S - tries.purse.own_s
    if time_left_s is not None:
        allowed_s = min(allowed_s, time_left_s)
    return pause if pause <= allowed_s else None


def draw_jitter() -> float:
    """0.8 to 1.0, so that many clients do not beat in step."""
    return random.uniform(0.8, 1.0)  # noqa: S311 - spreads load, guards nothing


def backoff_s(repeats: int, *, jitter: float) -> float:
    """Seconds of our own pause after so many repeats: 1, 2, 4, ... up to 30, times the jitter."""
    return min(LONGEST_OWN_PAUSE_S, 2.0 ** min(repeats, 10)) * jitter


def poll_pause_s(*, elapsed_s: float, retry_after_s: float | None, jitter: float) -> float:
    """Seconds to the next look at an operation: a tenth of the elapsed time, 1 to 30, never under Retry-After."""
    own_s = min(30.0, max(1.0, max(1.0, elapsed_s / 10) * jitter))
    return max(own_s, retry_after_s or 0.0)


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds that an answer asks to wait, in any form that servers send; None when it asks for none or nonsense.

    Args:
        headers: The answer's; names are looked up in lower case.
        now: The time that an HTTP date is compared with; default: the answer's Date, else the machine's clock.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("x-ms-retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (seconds := _number(headers.get(name))) is not None:
            return seconds * unit_s
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    now = now or _date(headers.get("date")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str | None) -> datetime | None:
    try:
        value = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
