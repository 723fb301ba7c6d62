"""``azureml-k8s emulator`` as people run it: a process that prints its URL, serves, and stops when told."""

from __future__ import annotations

import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import Run

WORKSPACE = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers"
    "/Microsoft.MachineLearningServices/workspaces/ws"
)


class Running:
    """The command, running in a process of its own; `url` is what it printed."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "azureml_k8s", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Whatever goes wrong, the test ends: the process is killed and readline() returns.
        self._watchdog = threading.Timer(30, self.process.kill)
        self._watchdog.start()
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def get(self, path: str, context: ssl.SSLContext | None = None) -> dict[str, object]:
        """GET with a bearer token, as JSON."""
        request = urllib.request.Request(
            f"{self.url}{path}?api-version=2024-04-01", headers={"Authorization": "Bearer x"}
        )
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(request, timeout=10) as answer:
            found: dict[str, object] = json.load(answer)
        return found

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; returns the exit code and the rest of stdout and stderr."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        self._watchdog.cancel()
        return self.process.returncode, out, err


Start = Callable[..., Running]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start ``azureml-k8s emulator`` with arguments; it is stopped when the test ends."""
    started: list[Running] = []

    def _start(*args: str, before: tuple[str, ...] = ()) -> Running:
        started.append(Running(*before, "emulator", *args))
        return started[-1]

    yield _start
    for running in started:
        running.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_prints_its_url_serves_and_stops_cleanly(start: Start, number: signal.Signals) -> None:
    """The first line on stdout is the URL, which answers; Ctrl-C and SIGTERM end it with 0 and no traceback."""
    running = start()
    assert running.url.startswith("http://127.0.0.1:")
    assert running.get(WORKSPACE)["name"] == "ws"
    code, out, err = running.stop(number)
    assert (code, out) == (0, "")
    assert "Traceback" not in err


def test_each_request_is_a_readable_line_on_stderr(start: Start) -> None:
    """The log of requests goes to stderr, with method, path and status; stdout holds the URL alone."""
    running = start()
    running.get(WORKSPACE)
    _, out, err = running.stop()
    (line,) = (line for line in err.splitlines() if "GET " in line)
    assert WORKSPACE in line
    assert " 200 " in line
    assert "Bearer" not in err
    assert out == ""


def test_quiet_logs_no_request(start: Start) -> None:
    """--quiet leaves the requests out of stderr."""
    running = start(before=("--quiet",))
    running.get(WORKSPACE)
    assert "GET " not in running.stop()[2]


def test_config_file_holds_the_workspace_and_the_url(start: Start, tmp_path: Path) -> None:
    """DIR/config.json is there once the URL is printed, whole, with the four keys; the folder is made if absent."""
    folder = tmp_path / "new" / "folder"
    running = start("--write-config", str(folder))
    assert json.loads((folder / "config.json").read_text()) == {
        "subscription_id": "00000000-0000-0000-0000-000000000000",
        "resource_group": "rg",
        "workspace_name": "ws",
        "resource_manager": running.url,
    }
    assert [file.name for file in folder.iterdir()] == ["config.json"]


def test_workspace_opens_the_config_file_as_it_is(start: Start, tmp_path: Path) -> None:
    """Workspace.from_config reads the file and talks to the emulator, with no credential given."""
    from azureml_k8s.workspace import Workspace

    start("--write-config", str(tmp_path))
    with Workspace.from_config(str(tmp_path)) as workspace:
        assert workspace.location == "westeurope"


def test_tls_folder_lets_a_client_trust_it(start: Start, tmp_path: Path) -> None:
    """--tls-dir gives HTTPS, a CA that a client verifies it with, and a key that only its owner reads."""
    folder = tmp_path / "tls"
    running = start("--tls-dir", str(folder))
    assert running.url.startswith("https://127.0.0.1:")
    assert running.get(WORKSPACE, ssl.create_default_context(cafile=folder / "ca.pem"))["name"] == "ws"
    assert {file.name for file in folder.iterdir()} == {"ca.pem", "server.pem", "server.key"}
    if os.name != "nt":
        assert stat.S_IMODE((folder / "server.key").stat().st_mode) == 0o600


def test_state_survives_a_restart(start: Start, tmp_path: Path) -> None:
    """With --state, a compute that was attached is there after a restart; --provisioning-seconds 0 ends at once."""
    state = tmp_path / "world.json"
    compute = f"{WORKSPACE}/computes/k8s1"
    first = start("--state", str(state), "--provisioning-seconds", "0")
    cluster = (
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers"
        "/Microsoft.ContainerService/managedClusters/aks1"
    )
    body = {
        "location": "westeurope",
        "properties": {
            "computeType": "Kubernetes",
            "resourceId": cluster,
            "properties": {"namespace": "default"},
        },
    }
    request = urllib.request.Request(
        f"{first.url}{compute}?api-version=2024-04-01",
        data=json.dumps(body).encode(),
        method="PUT",
        headers={"Authorization": "Bearer x", "Content-Type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        assert answer.status == 201
    assert first.stop()[0] == 0
    second = start("--state", str(state))
    assert second.get(compute)["name"] == "k8s1"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--port", "65536"], "--port"),
        (["--provisioning-seconds", "-1"], "--provisioning-seconds"),
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--seed", "absent.yaml"], "absent.yaml"),
    ],
)
def test_wrong_options_are_usage_errors(run: Run, args: list[str], said: str) -> None:
    """A wrong option ends with 2 before anything listens; stderr names it, stdout is empty."""
    done = run("emulator", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_state_file_is_refused_and_left(run: Run, tmp_path: Path) -> None:
    """A state file that is not ours ends the start with 2, and keeps its bytes."""
    state = tmp_path / "world.json"
    state.write_text("{ damaged")
    done = run("emulator", "--state", str(state))
    assert (done.returncode, done.stdout) == (2, "")
    assert "world.json" in done.stderr
    assert state.read_text() == "{ damaged"


def test_a_taken_port_is_told(start: Start, run: Run) -> None:
    """A port that somebody else has ends the start with a sentence that names it."""
    port = start().url.rpartition(":")[2]
    done = run("emulator", "--port", port)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port}" in done.stderr


def test_seed_file_describes_another_world(start: Start, tmp_path: Path) -> None:
    """--seed takes a file that says what exists instead of the default."""
    seed = tmp_path / "seed.yaml"
    seed.write_text("workspaces:\n  - name: other\n    resource_group: rg2\n    location: northeurope\n")
    running = start("--seed", str(seed))
    path = WORKSPACE.replace("/rg/", "/rg2/").replace("/ws", "/other")
    assert running.get(path)["location"] == "northeurope"
