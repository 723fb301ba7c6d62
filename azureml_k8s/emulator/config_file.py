"""The config file by which clients find an emulator."""

from __future__ import annotations

import json
from pathlib import Path

from azureml_k8s.emulator._state import write_atomically
from azureml_k8s.emulator.errors import EmulatorError
from azureml_k8s.emulator.service import Emulator

__all__ = ["write_config_file"]


def write_config_file(folder: str | Path, emulator: Emulator, url: str) -> Path:
    """Write ``config.json`` into a folder, as a whole or not at all, and return its path.

    ``Workspace.from_config(folder)`` opens the emulator's default workspace with it. Write it once the server listens,
    so that whoever waits for the file finds a server.

    Args:
        folder: Where to; made if it is absent.
        emulator: Whose default workspace.
        url: Where the emulator answers.

    Raises:
        EmulatorError: The folder cannot be written.
    """
    content = {
        "subscription_id": emulator.subscription_id,
        "resource_group": emulator.resource_group,
        "workspace_name": emulator.workspace_name,
        "resource_manager": url,
    }
    path = Path(folder) / "config.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(content, indent=2) + "\n", mode=0o644)
    except OSError as error:
        raise EmulatorError(f"the config file {path} cannot be written: {error}") from error
    return path
