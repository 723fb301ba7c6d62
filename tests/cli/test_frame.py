"""The frame of the command line: help, usage errors, how errors end, and what is loaded for them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

from azureml_k8s import exceptions
from azureml_k8s._version import __version__
from azureml_k8s.cli import demo, main
from azureml_k8s.cli.exit_codes import ExitCode, exit_code_of

from .conftest import Run

Fail = Callable[[BaseException], None]
CASES = [
    (exceptions.UserErrorException("no such cloud"), 2),
    (exceptions.WorkspaceException("two of them"), 2),
    (exceptions.NotFoundException("no compute k8s1"), 3),
    (exceptions.ProjectSystemException("no workspace ws"), 3),
    (exceptions.AuthenticationException("nobody signed in"), 4),
    (exceptions.ForbiddenException("a role is missing"), 5),
    (exceptions.ConflictException("it differs"), 6),
    (exceptions.OperationFailedException("ended as Failed"), 7),
    (exceptions.OperationTimeoutException("timed out after 3 s"), 8),
    (exceptions.UnreachableException("no route"), 9),
    (exceptions.ThrottledException("asked to wait 3600 s"), 9),
    (exceptions.ComputeTargetException("something else"), 1),
]


@pytest.fixture
def fail_with(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Make ``azureml-k8s demo`` raise an error."""

    def _fail_with(error: BaseException) -> None:
        @click.command("demo")
        def command() -> None:
            logging.getLogger("azureml_k8s.demo").info("about to fail")
            raise error

        monkeypatch.setattr(demo, "command", command)

    return _fail_with


@pytest.mark.parametrize(
    ("args", "code"), [(["--help"], 0), (["--version"], 0), (["nope"], 2), (["demo", "--nope"], 2), (["demo", "-h"], 0)]
)
def test_help_and_usage_errors_are_offline_and_light(args: list[str], code: int) -> None:
    """Help, version and usage errors open no socket and load no client library (azure-cli#30794)."""
    program = (
        "import json, socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('a socket was opened')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from azureml_k8s.cli import main\n"
        "code = main(json.loads(sys.argv[1]))\n"
        "heavy = {'requests', 'azure', 'msrest', 'kubernetes', 'tensorflow', 'urllib3'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, json.dumps(args)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    said, silent = (done.stdout, done.stderr) if code == 0 else (done.stderr, done.stdout)
    assert said
    assert silent == ""
    assert "Traceback" not in done.stderr


def test_version_names_program_and_release(run: Run) -> None:
    """--version prints the program and its release, and nothing else."""
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"azureml-k8s, version {__version__}\n", "")


def test_help_lists_every_command_with_a_sentence(run: Run) -> None:
    """--help shows each command once, with what it does."""
    lines = run("--help").stdout.partition("Commands:")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [
        "cluster-spec",
        "demo",
        "emulator",
    ]


@pytest.mark.parametrize("name", ["cluster-spec", "demo", "emulator"])
def test_every_listed_command_has_help(run: Run, name: str) -> None:
    """Each command that --help lists loads and explains itself."""
    done = run(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: azureml-k8s {name}")


def test_a_misspelt_command_is_a_usage_error_on_stderr(run: Run) -> None:
    """An unknown command ends with 2; stdout stays empty for whoever reads it."""
    done = run("atach")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command 'atach'" in done.stderr


def test_verbose_and_quiet_exclude_each_other(run: Run) -> None:
    """Asking for more and for less at once is a usage error."""
    done = run("-v", "-q", "demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--quiet" in done.stderr


@pytest.mark.parametrize("missing", ["click", "rich", "yaml"])
def test_without_the_extra_one_line_says_what_to_install(missing: str) -> None:
    """Where a library of the extra is absent, one line on stderr says how to get it; no traceback."""
    program = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else found(name, *rest)\n"
        "from azureml_k8s.cli import main\n"
        "sys.exit(main(['--version']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert 'pip install "azureml-k8s[cli]"' in done.stderr


@pytest.mark.parametrize(("error", "code"), CASES, ids=lambda value: type(value).__name__)
def test_each_cause_has_its_exit_code(
    fail_with: Fail, capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    """An error ends the command with its cause's code, its text on stderr, and stdout empty (acr#608)."""
    fail_with(error)
    assert main(["demo"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"error: {error}\n"


def test_every_error_of_the_library_has_a_case() -> None:
    """Each public error class stands in the table above, so a new one needs a decision about its code."""
    bases = {exceptions.AzureMLException, exceptions.ServiceException}
    public = {getattr(exceptions, name) for name in exceptions.__all__}
    assert {type(error) for error, _ in CASES} | bases == {kind for kind in public if issubclass(kind, Exception)}


def test_exit_codes_are_distinct_and_documented(run: Run) -> None:
    """No two causes share a number, and --help says what each number means."""
    assert len({code.value for code in ExitCode}) == len(ExitCode.__members__)
    listed = " ".join(run("--help").stdout.partition("Exit codes:")[2].split())
    for code in ExitCode:
        assert f"{code.value} {code.cause}" in listed


@pytest.mark.parametrize(
    ("error", "code"), [(TimeoutError("late"), 8), (KeyboardInterrupt(), 130), (ValueError("x"), 1), (OSError("y"), 1)]
)
def test_exit_code_of_other_errors(error: BaseException, code: int) -> None:
    """Python's own errors have codes too: a time-out is a time-out whoever raised it."""
    assert exit_code_of(error) == code


def test_a_fault_of_ours_is_told_without_a_traceback(fail_with: Fail, capsys: pytest.CaptureFixture[str]) -> None:
    """An unforeseen error ends with 1 and one sentence, which says how to see more."""
    fail_with(RuntimeError("boom"))
    assert main(["demo"]) == ExitCode.ERROR
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: RuntimeError: boom\n  azureml-k8s -vv shows where it comes from.\n"


def test_very_verbose_shows_the_traceback(fail_with: Fail, capsys: pytest.CaptureFixture[str]) -> None:
    """-vv adds the traceback, for bug reports."""
    fail_with(RuntimeError("boom"))
    assert main(["-vv", "demo"]) == ExitCode.ERROR
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "RuntimeError: boom" in err


@pytest.mark.parametrize("flags", [[], ["-vv"]])
def test_a_secret_in_an_error_is_masked(fail_with: Fail, capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    """Neither the sentence nor the traceback of an unforeseen error shows a token that stands in it."""
    fail_with(RuntimeError("sent Authorization: Bearer eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl"))
    main([*flags, "demo"])
    err = capsys.readouterr().err
    assert "RuntimeError: sent" in err
    assert "c2lnbmF0dXJl" not in err


def test_ctrl_c_ends_with_130(fail_with: Fail, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends the command with the code that shells expect, and a word instead of a traceback."""
    fail_with(KeyboardInterrupt())
    assert main(["demo"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err.strip() == "interrupted"


@pytest.mark.parametrize(("flags", "logged"), [([], False), (["-v"], True), (["-vv"], True), (["-q"], False)])
def test_logging_goes_to_stderr_and_only_when_asked(fail_with: Fail, flags: list[str], logged: bool) -> None:
    """What the library logs is shown from --verbose on (azure-sdk-for-python#19822)."""
    fail_with(exceptions.NotFoundException("x"))
    main([*flags, "demo"])
    assert logging.getLogger("azureml_k8s").isEnabledFor(logging.INFO) is logged


@pytest.mark.skipif(os.name == "nt", reason="no SIGPIPE there")
@pytest.mark.parametrize("args", [["--help"], ["--version"], ["emulator", "--help"]])
def test_a_closed_stdout_ends_quietly(args: list[str]) -> None:
    """When the reader of stdout is gone, the command ends without a word, as ``| head -1`` wants (acr#608)."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "azureml_k8s", *args],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (ExitCode.STDOUT_CLOSED, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_told_in_one_line() -> None:
    """Output that cannot be written is an error with its reason, not a traceback."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "azureml_k8s", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == ExitCode.ERROR
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_a_terminal_without_utf8_shows_replacements(run: Run) -> None:
    """A stream that cannot write a letter gets an escape, not an error."""
    done = run("snow☃man", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 2
    assert "snow\\u2603man" in done.stderr
