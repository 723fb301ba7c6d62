"""What exists at the start: the default world, or one that a mapping or a JSON or YAML file describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from azureml_k8s.emulator.errors import EmulatorError
from azureml_k8s.emulator.world import World

__all__ = ["Seed", "world_of"]

Seed = Mapping[str, Any] | str | Path
_PLACE = {"subscription_id", "resource_group", "workspace_name", "location"}
_LISTS = ("resource_groups", "workspaces", "aks", "arc", "identities", "role_assignments", "computes", "resources")


def world_of(seed: Seed | None) -> World:
    """Return the world that a seed describes; a seed of None is the default world.

    Raises:
        EmulatorError: The seed cannot be read, or says something that is not understood.
    """
    if seed is None:
        return _default(World())
    source, description = _described(seed)
    try:
        return _built(description)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, EmulatorError):
            raise EmulatorError(f"{source}: {error}") from None
        raise EmulatorError(f"{source}: {type(error).__name__}: {error}") from error


def _default(world: World) -> World:
    world.add_workspace("ws")
    world.add_aks("aks1")
    world.add_arc("arc1")
    world.add_identity("id1")
    return world


def _described(seed: Seed) -> tuple[str, Mapping[str, Any]]:
    if isinstance(seed, Mapping):
        return "seed", seed
    path = Path(seed)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EmulatorError(f"the seed file {path} cannot be read: {error}") from error
    description = _parsed(path, text)
    if not isinstance(description, dict):
        raise EmulatorError(f"the seed file {path} must hold one mapping")
    return f"seed file {path}", description


def _parsed(path: Path, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() == ".json":
            raise EmulatorError(f"the seed file {path} is no JSON: {error}") from error
    try:
        import yaml
    except ImportError:
        raise EmulatorError(f"reading {path} needs PyYAML: pip install 'azureml-k8s[cli]', or write JSON") from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise EmulatorError(f"the seed file {path} is neither JSON nor YAML: {error}") from error


def _built(seed: Mapping[str, Any]) -> World:
    unknown = set(seed) - _PLACE - set(_LISTS) - {"providers"}
    if unknown:
        known = ", ".join(sorted({*_PLACE, *_LISTS, "providers"}))
        raise EmulatorError(f"unknown: {', '.join(sorted(map(str, unknown)))}; known: {known}")
    named = {name: _text(name, seed[name]) for name in _PLACE if name in seed}
    world = World(
        named.get("subscription_id", "00000000-0000-0000-0000-000000000000"),
        named.get("resource_group", "rg"),
        location=named.get("location", "westeurope"),
    )
    world.workspace_name = named.get("workspace_name", "ws")
    if not any(key in seed for key in _LISTS):
        _default(world)
    if world.find(world.workspace_id) is None:
        world.add_workspace(world.workspace_name)
    for kind in _LISTS:
        for item in _items(kind, seed.get(kind) or []):
            _add(world, kind, item)
    for namespace, state in (seed.get("providers") or {}).items():
        world.set_provider(namespace, _text(f"providers.{namespace}", state))
    return world


def _items(kind: str, items: object) -> list[dict[str, Any]]:
    if not isinstance(items, list):
        raise EmulatorError(f"{kind} must be a list")
    found = [{"name": item} if isinstance(item, str) else item for item in items]
    if not all(isinstance(item, dict) for item in found):
        raise EmulatorError(f"{kind}: every item must be a name or a mapping")
    return found


def _add(world: World, kind: str, item: dict[str, Any]) -> None:
    adders: dict[str, Callable[..., object]] = {
        "resource_groups": world.add_resource_group,
        "workspaces": world.add_workspace,
        "aks": _add_cluster(world, world.add_aks),
        "arc": _add_cluster(world, world.add_arc),
        "identities": world.add_identity,
        "role_assignments": world.add_role_assignment,
        "computes": _add_compute(world),
        "resources": _add_resource(world),
    }
    try:
        adders[kind](**item)
    except (TypeError, KeyError, ValueError) as error:
        raise EmulatorError(f"{kind}, item {item.get('name', item.get('id', item))!r}: {error}") from error


def _add_cluster(world: World, add: Callable[..., str]) -> Callable[..., str]:
    def build(*, name: str, extension: object = True, **changes: Any) -> str:
        if not isinstance(extension, dict):
            return add(name, extension=bool(extension), **changes)
        cluster_id = add(name, extension=False, **changes)
        world.add_extension(cluster_id, **extension)
        return cluster_id

    return build


def _add_compute(world: World) -> Callable[..., str]:
    def build(*, name: str, type: str = "AmlCompute", **changes: Any) -> str:
        return world.add_compute(name, type, **changes)

    return build


def _add_resource(world: World) -> Callable[..., str]:
    def build(**body: Any) -> str:
        return world.put(body)

    return build


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise EmulatorError(f"{name} must be a text")
    return value
