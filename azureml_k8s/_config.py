"""The workspace's config file: found by azureml-core's rules, read with suspicion, written so that v1 and v2 read it.

A config file is found by walking up to the root, so whoever can write to a parent folder can write one. It may
therefore name a built-in cloud or a loopback address, and nothing else that a token could be sent to.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azureml_k8s import _arm
from azureml_k8s._secrets import get_logger
from azureml_k8s.clouds import Cloud
from azureml_k8s.exceptions import UserErrorException

_log = get_logger(__name__)
#: v1's rule: each folder is sought on the whole way up before the next one is.
_FOLDERS = (".azureml", "aml_config", "")
_FILES = ("config.json", "project.json")
_LARGEST_BYTES = 1024 * 1024
_KEYS = ("subscription_id", "resource_group", "workspace_name")


@dataclass(frozen=True)
class Config:
    """What a config file says."""

    workspace: _arm.WorkspaceId
    cloud: Cloud | None


def load(path: str | os.PathLike[str] | None, file_name: str | None, *, with_cloud: bool = True) -> Config:
    """Find and read the config file.

    Args:
        path: A file, or the folder to start from; default: the current folder.
        file_name: Sought instead of config.json and project.json.
        with_cloud: False where the caller names the cloud; what the file says of one is then not even looked at.

    Raises:
        TypeError: The path is none.
        UserErrorException: No file, or not one that names a workspace and nothing suspicious.
    """
    found = _find(path, file_name)
    _log.info("the workspace is read from %s", found)
    values = _read(found)
    return Config(_workspace_of(values, found), _cloud_of(values, found) if with_cloud else None)


def _absolute(path: str | os.PathLike[str] | None) -> Path:
    if not isinstance(path, str | os.PathLike | None):
        raise TypeError(f"path must be a str or a path, not {type(path).__name__}")
    try:
        return Path(os.path.abspath(path or "."))
    except OSError as error:
        raise UserErrorException(f"path: the current folder can't be told: {error}", target="path") from error


def _find(path: str | os.PathLike[str] | None, file_name: str | None) -> Path:
    start = _absolute(path)
    try:
        if start.is_file():
            return start
        for candidate in _candidates(start, (file_name,) if file_name else _FILES):
            if candidate.is_file():
                return candidate
    except (ValueError, OSError) as error:
        raise UserErrorException(f"path: {str(path)[:100]!r} is no readable path: {error}", target="path") from error
    if not start.exists():
        raise UserErrorException(f"path: {start} does not exist", target="path")
    raise UserErrorException(
        f"path: no config.json of a workspace in {start} or above, nor in a folder .azureml there",
        target="path",
        remedy="Download it from the workspace's page in the portal, call Workspace.write_config(), or give"
        " Workspace(subscription_id, resource_group, workspace_name).",
    )


def _candidates(start: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for folder in _FOLDERS:
        for name in names:
            for parent in (start, *start.parents):
                yield parent / folder / name


def _read(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        values = json.loads(content.decode("utf-8-sig")) if len(content) <= _LARGEST_BYTES else "over 1 MiB"
    except (OSError, ValueError, RecursionError) as error:
        raise UserErrorException(
            f"{path} is no config file of a workspace: {error}",
            target="path",
            remedy="It must be JSON with subscription_id, resource_group and workspace_name.",
        ) from error
    if not isinstance(values, dict):
        raise UserErrorException(f"{path} must hold a JSON object of at most 1 MiB", target="path")
    return values


def _workspace_of(values: Mapping[str, Any], path: Path) -> _arm.WorkspaceId:
    if not any(key in values for key in _KEYS) and values.get("Scope") is not None:
        return _arm.WorkspaceId.parse(_text(values, "Scope", path), f"Scope in {path}")
    texts = {key: _text(values, key, path) for key in _KEYS}
    return _arm.WorkspaceId(
        _arm.check_subscription(texts["subscription_id"], f"subscription_id in {path}"),
        _arm.check_part(f"resource_group in {path}", texts["resource_group"]),
        _arm.check_part(f"workspace_name in {path}", texts["workspace_name"]),
    )


def _text(values: Mapping[str, Any], key: str, path: Path) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        wrong = "is missing" if value is None else f"must be a text, not {type(value).__name__}"
        raise UserErrorException(
            f"{key} in {path} {wrong}",
            target=key,
            remedy="It must have subscription_id, resource_group and workspace_name, or Scope with a workspace's id.",
        )
    return value


def _cloud_of(values: Mapping[str, Any], path: Path) -> Cloud | None:
    named = None if values.get("cloud") is None else Cloud.named(_text(values, "cloud", path))
    if values.get("resource_manager") is None:
        return named
    there = _cloud_at(_text(values, "resource_manager", path), path)
    if named not in (None, there):
        raise UserErrorException(
            f"resource_manager in {path} leads to {there.name}, but cloud says {named.name if named else None}",
            target="resource_manager",
            remedy="Leave one of them out.",
        )
    return there


def _cloud_at(url: str, path: Path) -> Cloud:
    for name in ("AzureCloud", "AzureChinaCloud", "AzureUSGovernment"):
        cloud = Cloud.named(name)
        if cloud.owns(url):
            return cloud
    try:
        return Cloud.emulator(url)
    except UserErrorException:
        raise UserErrorException(
            f"resource_manager in {path}: {url[:200]!r} is neither Azure's nor on this machine; a file may not send"
            " tokens there",
            target="resource_manager",
            remedy="If you trust the host, name it in code: Workspace.from_config(cloud=Cloud(...)).",
        ) from None


def write(
    workspace: _arm.WorkspaceId, cloud: Cloud, path: str | os.PathLike[str] | None, file_name: str | None
) -> Path:
    """Write ``<path>/.azureml/<file_name>`` at once or not at all; the file's path."""
    values = {
        "subscription_id": workspace.subscription_id,
        "resource_group": workspace.resource_group,
        "workspace_name": workspace.name,
    }
    if cloud.is_emulator:
        values["resource_manager"] = cloud.origin
    elif cloud.name != "AzureCloud":
        values["cloud"] = cloud.name
    folder = _absolute(path) / ".azureml"
    target = folder / (file_name or _FILES[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_at_once(target, json.dumps(values, indent=2) + "\n")
    except (OSError, ValueError) as error:
        raise UserErrorException(f"path: the config file can't be written: {error}", target="path") from error
    return target


def _write_at_once(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".config-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:  # Ctrl-C too
        os.unlink(name)
        raise
