"""An emulated workspace for every test: nothing here sleeps, opens a socket, or sees the machine's own settings."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from azureml_k8s.emulator import Emulator, FakeClock

# No test is timed: a busy machine must not fail one. A CI job tries the same examples each time, as hypothesis itself
# would have it there, so that it never fails through no change; people's machines look for new ones.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("untimed")

_SETTINGS = ("AZURE", "ARM_", "IDENTITY_", "IMDS_", "MSI_")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own sign-in or cloud must not change what a test sees."""
    for name in [name for name in os.environ if name.upper().startswith(_SETTINGS)]:
        monkeypatch.delenv(name)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when someone sleeps on it; ``naps_s`` holds each sleep."""
    return FakeClock()


@pytest.fixture
def emulator(clock: FakeClock) -> Emulator:
    """The default world: workspace ``ws`` in ``rg``, with an AKS and an Arc cluster that are ready."""
    return Emulator(clock=clock)


@pytest.fixture
def workspace(emulator: Emulator, clock: FakeClock) -> Iterator[object]:
    """The client's workspace, led to the emulator in this process."""
    from azureml_k8s import Cloud, Workspace
    from azureml_k8s.emulator import EmulatorAdapter

    with Workspace(
        emulator.subscription_id,
        emulator.resource_group,
        emulator.workspace_name,
        cloud=Cloud.emulator("http://localhost:1"),
        clock=clock,
        sleep=clock.sleep,
        transport=EmulatorAdapter(emulator, sleep=clock.sleep),
    ) as made:
        yield made


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever tries to send a request fails the test."""
    from requests.adapters import HTTPAdapter

    def send(*_: object, **__: object) -> None:
        pytest.fail("a request was about to be sent")

    monkeypatch.setattr(HTTPAdapter, "send", send)
