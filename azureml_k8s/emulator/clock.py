"""A clock for tests: it moves when somebody sleeps on it, and never by itself."""

from __future__ import annotations

import threading

__all__ = ["FakeClock"]


class FakeClock:
    """Seconds that pass only by `sleep`. Call it to read it; safe to use from many threads.

    Args:
        now_s: What it shows at first.

    Attributes:
        naps_s: Every sleep so far, in seconds.
    """

    def __init__(self, now_s: float = 1_000.0) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self.naps_s: list[float] = []

    def __call__(self) -> float:
        """Return the time, in seconds."""
        with self._lock:
            return self._now_s

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass at once, and note them."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")  # as time.sleep does
        with self._lock:
            self._now_s += seconds
            self.naps_s.append(seconds)
