"""Fixtures of the tests under faults."""

from __future__ import annotations

import pytest

from faults.harness import Rig


@pytest.fixture
def rig() -> Rig:
    """A client before an emulated service; nothing sleeps."""
    return Rig()
