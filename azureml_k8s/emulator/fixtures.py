"""What the fixtures hand to a test: an emulator that also makes workspaces, clocks and config files."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from azureml_k8s.emulator.clock import FakeClock
from azureml_k8s.emulator.config_file import write_config_file
from azureml_k8s.emulator.server import EmulatorServer
from azureml_k8s.emulator.service import Emulator

if TYPE_CHECKING:
    import pytest

    from azureml_k8s.workspace import Workspace

__all__ = ["HttpEmulator", "InProcessEmulator"]


class InProcessEmulator(Emulator):
    """An emulator behind requests, without a socket; takes `Emulator`'s arguments but the clock.

    Attributes:
        clock: What time it is, for the service and for the workspaces that `workspace` makes; ``naps_s`` holds every
            sleep.
        url: The address that workspaces are given. Nothing listens there.
        config_file: The config.json in the current folder, once `take_over` was called.
    """

    url = "http://localhost:1"
    config_file: Path

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock()
        super().__init__(clock=self.clock, **settings)

    def workspace(self, **settings: Any) -> Workspace:
        """Return the default workspace; sends nothing. ``settings`` are `Workspace`'s keyword arguments."""
        from azureml_k8s.clouds import Cloud
        from azureml_k8s.workspace import Workspace

        given: dict[str, Any] = {"cloud": Cloud.emulator(self.url), **self._defaults(), **settings}
        return Workspace(self.subscription_id, self.resource_group, self.workspace_name, **given)

    def take_over(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        """Let every workspace made from now on talk to this emulator, and move to a folder with a config file.

        However a workspace is made, without a credential it uses a fake one: nothing on this machine is asked to sign
        in.
        """
        from azureml_k8s import _credentials
        from azureml_k8s.workspace import Workspace

        monkeypatch.setattr(_credentials, "default_credential", lambda cloud: _credentials.EmulatorCredential())

        # The defaults of the keyword-only arguments: so a script's own Workspace.from_config() is led here too.
        old = Workspace.__init__.__kwdefaults__ or {}
        monkeypatch.setattr(Workspace.__init__, "__kwdefaults__", {**old, **self._defaults()})
        self.config_file = write_config_file(folder, self, self.url)
        monkeypatch.chdir(folder)

    def _defaults(self) -> dict[str, Any]:
        from azureml_k8s.emulator.adapter import EmulatorAdapter

        adapter = EmulatorAdapter(self, sleep=self.clock.sleep)
        return {"transport": adapter, "clock": self.clock, "sleep": self.clock.sleep}


class HttpEmulator(Emulator):
    """An emulator that listens on 127.0.0.1; a context manager. Takes `Emulator`'s arguments.

    Attributes:
        clock: The clock of the workspaces that `workspace` makes, so that their pauses take no real time.
        server: The server.
        config_file: The config.json in the current folder, once `take_over` was called.
    """

    config_file: Path

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock()
        super().__init__(**settings)
        self.server = EmulatorServer(self)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.server.url

    def workspace(self, **settings: Any) -> Workspace:
        """Return the default workspace; sends nothing. ``settings`` are `Workspace`'s keyword arguments."""
        from azureml_k8s.clouds import Cloud
        from azureml_k8s.workspace import Workspace

        given: dict[str, Any] = {"cloud": Cloud.emulator(self.url), "clock": self.clock, "sleep": self.clock.sleep}
        return Workspace(self.subscription_id, self.resource_group, self.workspace_name, **{**given, **settings})

    def take_over(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        """Move to a folder with a config file that names this emulator."""
        self.config_file = self.server.write_config(folder)
        monkeypatch.chdir(folder)

    def __enter__(self) -> HttpEmulator:
        self.server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.stop()
