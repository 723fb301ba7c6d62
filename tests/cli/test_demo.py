"""``azureml-k8s demo`` runs the lifecycle over HTTP and says what it runs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import azureml_k8s.emulator
from azureml_k8s.cli import main
from azureml_k8s.cli.exit_codes import ExitCode

from .conftest import Run


def test_demo_attaches_watches_and_detaches(run: Run) -> None:
    """As a first user runs it: it ends with 0 in under 15 s, shows each line, the status, the JSON, and the detach."""
    began_s = time.monotonic()
    done = run("demo")
    assert time.monotonic() - began_s < 15
    assert done.returncode == 0, done.stderr
    seen = [
        ">>> ws = Workspace(",
        '>>> target = ComputeTarget.attach(ws, "k8s1", config)',
        ">>> target.wait_for_completion(show_output=True)",
        "Creating",
        ">>> target.get_status()\n'Succeeded'",
        '"namespace": "default"',
        ">>> target.detach()",
        "Deleting",
        ">>> names\n[]",
        "k8s1 is detached",
    ]
    places = [done.stdout.find(text) for text in seen]
    assert -1 not in places, dict(zip(seen, places, strict=True))
    assert places == sorted(places)


def test_piped_output_is_plain_and_whole_lines(run: Run) -> None:
    """Without a terminal there are no escape codes and no carriage returns, and the last line ends (azure-cli#987)."""
    done = run("demo", "--provisioning-seconds", "0")
    assert done.returncode == 0
    assert not re.search(r"[\x1b\r]", done.stdout + done.stderr)
    assert done.stdout.endswith("\n")


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_on_a_terminal_the_lines_are_coloured(term: str) -> None:
    """On a terminal the Python lines are coloured, with their text unchanged; a dumb one gets them plain."""
    import pty

    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    command = [sys.executable, "-m", "azureml_k8s", "demo", "--provisioning-seconds", "0"]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env={**environment, "TERM": term}) as process:
        os.close(theirs)
        pieces = []
        # On Linux, reading from a terminal whose other end is closed is an error; that is its end of file.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        process.communicate(timeout=30)
    os.close(ours)
    shown = b"".join(pieces).decode().replace("\r\n", "\n")
    assert process.returncode == 0
    assert "\n>>> target.detach()\n" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    (line,) = (line for line in shown.splitlines() if "json.dumps" in line)
    assert ("\x1b[" in line) is (term != "dumb")


def test_quiet_leaves_stderr_empty(run: Run) -> None:
    """With errors only, a success writes nothing to stderr (azure-sdk-for-python#19822)."""
    assert run("--quiet", "demo", "--provisioning-seconds", "0").stderr == ""


def test_ctrl_c_ends_the_demo() -> None:
    """Ctrl-C while the demo waits ends it with 130 and a word, no traceback, and its emulator goes with it."""
    program = (
        "import signal, sys\n"
        "from azureml_k8s.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job of a shell inherits 'ignored'
        "sys.exit(main(['demo', '--provisioning-seconds', '600']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        assert process.stdout is not None
        assert any("wait_for_completion" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        watchdog.cancel()
    assert process.returncode == ExitCode.INTERRUPTED
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err


def test_an_attach_that_fails_fails_the_demo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An operation that ends as Failed ends the command with its own code, never 0 (acr#608)."""

    class Failing(azureml_k8s.emulator.Emulator):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.fail_next("ClusterNotFound", "The emulator was told to fail.")

    monkeypatch.setattr(azureml_k8s.emulator, "Emulator", Failing)
    assert main(["--quiet", "demo", "--provisioning-seconds", "0"]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert "k8s1 is detached" not in out
    assert err.startswith("error: ")
    assert "The emulator was told to fail." in err
