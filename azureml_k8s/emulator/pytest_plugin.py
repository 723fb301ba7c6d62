"""Fixtures for people who test their own scripts: an emulated workspace, in this process or behind HTTP.

Loading this file loads nothing but itself and pytest; a run that uses no fixture of it pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from azureml_k8s.emulator.fixtures import HttpEmulator, InProcessEmulator

__all__ = ["azureml_emulator", "azureml_emulator_server"]


@pytest.fixture
def azureml_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessEmulator:
    """An emulated workspace in this process, with a clock of its own: waits take no real time.

    Every `azureml_k8s.Workspace` that the test makes talks to it, with a fake credential if none is given; and the
    current folder holds a config.json, so that ``Workspace.from_config()`` finds it.
    """
    from azureml_k8s.emulator.fixtures import InProcessEmulator

    emulator = InProcessEmulator()
    emulator.take_over(monkeypatch, tmp_path)
    return emulator


@pytest.fixture
def azureml_emulator_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpEmulator]:
    """An emulated workspace behind HTTP on 127.0.0.1, for scripts that run as processes of their own.

    Its ``url`` is the address, and the current folder holds a config.json that names it.
    """
    from azureml_k8s.emulator.fixtures import HttpEmulator

    with HttpEmulator() as emulator:
        emulator.take_over(monkeypatch, tmp_path)
        yield emulator
