"""An emulator with the default world, its clock, and somebody who calls it."""

from __future__ import annotations

import pytest

from azureml_k8s.emulator import Emulator, FakeClock

from .calls import Caller


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves when it is told to."""
    return FakeClock()


@pytest.fixture
def emulator(clock: FakeClock) -> Emulator:
    """An emulator with the default world."""
    return Emulator(clock=clock)


@pytest.fixture
def caller(emulator: Emulator) -> Caller:
    """Who calls it."""
    return Caller(emulator)
