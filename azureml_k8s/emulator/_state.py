"""The world in a file, so that an emulator goes on after a restart."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from azureml_k8s.emulator._http import Json
from azureml_k8s.emulator._operations import Operations, operation_of
from azureml_k8s.emulator.errors import EmulatorError
from azureml_k8s.emulator.world import World

__all__ = ["Kept", "StateFile", "write_atomically"]

_FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """What a state file held."""

    dumped: Json
    operations: list[Json]

    def world(self) -> World:
        """Return the world as it was."""
        return World.load(self.dumped)


class StateFile:
    """One state file; every write replaces it as a whole, so a crash leaves the old or the new one.

    Args:
        path: Where it is; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = ""

    def load(self) -> Kept | None:
        """Return what the file holds, None if there is no file.

        Raises:
            EmulatorError: It cannot be read, or is no state file of this version.
        """
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise EmulatorError(f"the state file {self._path} cannot be read: {error}") from error
        try:
            return _kept(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            text = f"the state file {self._path} is damaged ({error}); it was left as it is. Move it away to start anew"
            raise EmulatorError(text) from error

    def save(self, world: World, operations: Operations) -> None:
        """Write the world, if it differs from what was written last.

        Raises:
            EmulatorError: It cannot be written; the file is as it was.
        """
        text = json.dumps({"format": _FORMAT, "world": world.dump(), "operations": operations.dump()}, indent=1)
        if text == self._last:
            return
        try:
            write_atomically(self._path, text)
        except OSError as error:
            raise EmulatorError(f"the state file {self._path} cannot be written: {error}") from error
        self._last = text


def _kept(found: Json) -> Kept:
    if found["format"] != _FORMAT:
        raise ValueError(f"format {found['format']!r}, expected {_FORMAT}")
    kept = Kept(found["world"], list(found["operations"]))
    kept.world()
    for operation in kept.operations:
        operation_of(operation, now_s=0)
    return kept


def write_atomically(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Write a file so that readers see the old or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
