"""Progress of a wait, written for people: lines, never carriage returns, so that logs and pipes stay readable."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azureml_k8s._operation import Progress

#: Seconds between two lines while nothing changes.
_HEARTBEAT_S = 30.0


class Printer:
    """Writes the state's changes, a heartbeat, and the end of a wait to stdout."""

    def __init__(self) -> None:
        self._state: str | None = None
        self._last_line_s = 0.0

    def __call__(self, progress: Progress) -> None:
        """Write a line if there is something to tell."""
        if progress.problem:
            self._line(f"{progress.name}: {progress.problem}; going on", progress.elapsed_s)
        elif progress.state != self._state or progress.elapsed_s - self._last_line_s >= _HEARTBEAT_S:
            self._line(progress.state, progress.elapsed_s)
            self._state = progress.state

    def _line(self, text: str, elapsed_s: float) -> None:
        self._last_line_s = elapsed_s
        _write(f"{text} ({elapsed_s:.0f} s)")

    def end(self, state: str) -> None:
        """Write azureml-core's last line."""
        _write(f'Provisioning operation finished, operation "{state}"')


def _write(line: str) -> None:
    """A line to stdout; nothing where there is none, as under pythonw. What it can't show never ends a wait."""
    if sys.stdout is None:
        return
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    sys.stdout.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()
