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
_LONGEST_WORD = 100
_SPELLING = {word.casefold(): word for word in (*STATES, *RUNNING)} | {"cancelled": "Canceled"}


def canonical(state: object) -> str:
    """A state in its known spelling; unknown words as they are; Unknown for missing, null, blank or no text."""
    shown = word(state) if isinstance(state, str) else ""
    return _SPELLING.get(shown.casefold(), shown) or UNKNOWN


def word(value: object) -> str:
    """A word of the service, fit for logs and terminals: no longer than one line, without strange characters."""
    text = value if isinstance(value, str) else type(value).__name__ if value is not None else "None"
    return "".join(letter if letter.isprintable() else " " for letter in text[:_LONGEST_WORD]).strip()


def is_end(state: object) -> bool:
    """Whether a resource in this state is at rest; a resource without a state counts as Succeeded."""
    return state is None or canonical(state) in FAILED | {SUCCEEDED}
