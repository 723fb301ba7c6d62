"""The service's time: moves with the clock that the emulator was given, and is written with seven digits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

__all__ = ["ServiceTime"]


class ServiceTime:
    """Wall time that starts now and advances as ``clock`` (seconds) does, so a fake clock moves it too."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._began, self._clock_began = datetime.now(UTC), clock()

    def now(self) -> datetime:
        """Return the present time, in UTC."""
        return self._began + timedelta(seconds=self.clock() - self._clock_began)

    def stamp(self) -> str:
        """Return the time as computes carry it: seven fractional digits, trailing zeros trimmed, +00:00."""
        now = self.now()
        digits = f"{now.microsecond:06d}{_hundred_ns(now)}".rstrip("0") or "0"
        return f"{now:%Y-%m-%dT%H:%M:%S}.{digits}+00:00"

    def http_date(self) -> str:
        """Return the time for a Date header."""
        return format_datetime(self.now(), usegmt=True)

    def ticks(self) -> int:
        """Return 100-nanosecond steps since year 1, which operation URLs carry."""
        since = self.now() - datetime(1, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 10_000_000 + since.microseconds * 10


def _hundred_ns(now: datetime) -> int:
    # datetime ends at microseconds; the service's seventh digit is invented, so that clients meet seven.
    return 1 + now.microsecond % 9
