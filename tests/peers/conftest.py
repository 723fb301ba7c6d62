"""An emulator behind HTTPS, and processes of the official SDKs that call it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from azureml_k8s import Cloud, Workspace
from azureml_k8s.emulator import Emulator, EmulatorServer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass
class Peer:
    """One official SDK, in its own environment, and the emulator that it talks to."""

    name: str
    emulator: Emulator
    server: EmulatorServer
    folder: Path

    def run(self, flow: str) -> Any:
        """Run one flow in a process of its own and return what it found."""
        world = self.emulator.world
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "URL": self.server.url,
            "REQUESTS_CA_BUNDLE": str(self.server.ca_file),
            "SUBSCRIPTION": self.emulator.subscription_id,
            "AKS": self.emulator.aks_id,
            "ARC": self.emulator.arc_id,
            "IDENTITY": self.emulator.identity_id,
            "BROKEN": world.add_aks("broken", extension=False),
        }
        if self.name == "v2":
            environment["ARM_CLOUD_METADATA_URL"] = f"{self.server.url}/metadata/endpoints?api-version=2019-05-01"
            environment["AZUREML_CURRENT_CLOUD"] = "Emulator"
        python = ROOT / f".venv-peer-{self.name}" / "bin" / "python"
        done = subprocess.run(
            [python, HERE / f"flow_{self.name}.py", flow],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def sent(self) -> list[tuple[str, str, str | None]]:
        """What was sent about the workspace: verb, the path's end, api-version."""
        found = []
        for request in self.emulator.requests:
            _, mark, end = request.path.partition("/workspaces/ws")
            front = "rp:" if request.path.startswith("/rp/") else ""
            found.append((request.method, front + (end if mark else request.segments[-2:][0]), request.api_version()))
        return found

    def bodies(self) -> list[Any]:
        """The bodies of the PUTs."""
        return [request.json for request in self.emulator.requests if request.method == "PUT"]

    def workspace(self) -> Workspace:
        """Our own client of the same workspace."""
        return Workspace(self.emulator.subscription_id, "rg", "ws", cloud=Cloud.emulator(self.server.url))


@pytest.fixture
def make_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Peer]]:
    """Start an emulator for an SDK."""
    emulator = Emulator(polls=1, retry_after_s=1)  # azure-core pauses 30 s unless told otherwise
    with EmulatorServer(emulator, tls_dir=tmp_path / "tls") as server:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server.ca_file))
        yield lambda name: Peer(name, emulator, server, tmp_path)
