"""States of computes and operations: their spelling, and which are ends."""

from __future__ import annotations

SUCCEEDED = "Succeeded"
IN_PROGRESS = "InProgress"
UNKNOWN = "Unknown"
FAILED = frozenset({"Failed", "Canceled"})
#: The states that the published specification lists for a compute.
STATES = ("Unknown", "Updating", "Creating", "Deleting", "Succeeded", "Failed", "Canceled")
#: Words with which services say that an operation runs.
RUNNING = frozenset(
    {"InProgress", "Running", "Accepted", "Creating", "Updating", "Deleting", "Provisioning", "Pending", "NotStarted"}
)
_SPELLING = {word.casefold(): word for word in (*STATES, *RUNNING)} | {"cancelled": "Canceled"}


def canonical(state: object) -> str:
    """A state in its known spelling; unknown words unchanged; Unknown for missing, null, blank or no text."""
    if not isinstance(state, str) or not state.strip():
        return UNKNOWN
    return _SPELLING.get(state.strip().casefold(), state.strip())


def is_end(state: object) -> bool:
    """Whether a resource in this state is at rest; a resource without a state counts as Succeeded."""
    return state is None or canonical(state) in FAILED | {SUCCEEDED}
