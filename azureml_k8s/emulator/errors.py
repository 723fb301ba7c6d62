"""What goes wrong with an emulator before it runs."""

from __future__ import annotations

__all__ = ["EmulatorError"]


class EmulatorError(ValueError):
    """A seed, a state file or a folder cannot be used; the text says which and why. The file is left as it is."""
