"""Somebody who calls the emulator of the shared fixtures."""

from __future__ import annotations

import pytest

from azureml_k8s.emulator import Emulator

from .calls import Caller


@pytest.fixture
def caller(emulator: Emulator) -> Caller:
    """Who calls it."""
    return Caller(emulator)
