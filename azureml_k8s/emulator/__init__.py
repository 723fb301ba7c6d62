"""Azure's side of the attach of a cluster, on this machine: for tests, for trying things out, for other clients.

It shares no code with the client, so that one mistake cannot hide in both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azureml_k8s.emulator._http import RecordedRequest as RecordedRequest
    from azureml_k8s.emulator._http import Reply as Reply
    from azureml_k8s.emulator.adapter import EmulatorAdapter as EmulatorAdapter
    from azureml_k8s.emulator.clock import FakeClock as FakeClock
    from azureml_k8s.emulator.errors import EmulatorError as EmulatorError
    from azureml_k8s.emulator.faults import Fault as Fault
    from azureml_k8s.emulator.faults import Faults as Faults
    from azureml_k8s.emulator.server import EmulatorServer as EmulatorServer
    from azureml_k8s.emulator.service import Emulator as Emulator
    from azureml_k8s.emulator.world import World as World

_HOME = {
    "Emulator": "service",
    "EmulatorAdapter": "adapter",
    "EmulatorError": "errors",
    "EmulatorServer": "server",
    "FakeClock": "clock",
    "Fault": "faults",
    "Faults": "faults",
    "RecordedRequest": "_http",
    "Reply": "_http",
    "World": "world",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
