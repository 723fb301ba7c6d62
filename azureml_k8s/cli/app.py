"""The group of commands, each loaded when it is called, and the one place where an error becomes text and a code."""

from __future__ import annotations

import errno
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from azureml_k8s._secrets import mask_text
from azureml_k8s._version import __version__
from azureml_k8s.cli.exit_codes import ExitCode, exit_code_of
from azureml_k8s.exceptions import ComputeTargetException

__all__ = ["cli", "run"]

# Name: (where the click command is, its line in --help). The line stands here so that --help loads no command.
_COMMANDS = {
    "cluster-spec": ("cluster_spec:command", "Print the cluster spec of labelled pods, as JSON or TF_CONFIG."),
    "demo": ("demo:command", "Watch a cluster being attached and detached, on an emulator."),
    "emulator": ("emulator:command", "Run an emulator of the service, for tests and for trying out."),
}
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


class StdoutClosed(Exception):
    """The reader of our output is gone."""


@contextmanager
def _noticing_closed_stdout() -> Iterator[None]:
    """Turn a broken pipe into `StdoutClosed`, before click makes an exit code 1 of it."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        raise StdoutClosed from None


class LazyGroup(click.Group):
    """A group that knows its commands by name and help line, and loads one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, loaded now."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"azureml_k8s.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, loading none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(_COMMANDS.items())])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), code.cause) for code in ExitCode])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """As click's; --help and --version print here."""
        with _noticing_closed_stdout():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        """As click's."""
        with _noticing_closed_stdout():
            return super().invoke(ctx)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="azureml-k8s")
@click.option("-v", "--verbose", count=True, help="Log to stderr what happens; twice: each request.")
@click.option("-q", "--quiet", is_flag=True, help="Log nothing but errors.")
def cli(verbose: int, quiet: bool) -> None:
    """Attach Kubernetes clusters to Azure Machine Learning workspaces."""
    if verbose and quiet:
        raise click.UsageError("--verbose and --quiet exclude each other")
    level = logging.ERROR if quiet else _LEVELS[min(verbose, len(_LEVELS) - 1)]
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(message)s", level=logging.ERROR)
    logging.getLogger("azureml_k8s").setLevel(level)


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code, whatever happens."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shall not end the command
    try:
        with _noticing_closed_stdout():
            code = cli.main(args, prog_name="azureml-k8s", standalone_mode=False)
            sys.stdout.flush()
    except StdoutClosed:
        _give_up_stdout()
        return ExitCode.STDOUT_CLOSED
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        return _report(error)
    return code if isinstance(code, int) else ExitCode.OK


def _report(error: Exception) -> int:
    """Tell of an error on stderr: what the library says as it is, anything else as a fault of ours."""
    if logging.getLogger("azureml_k8s").isEnabledFor(logging.DEBUG):
        text = "".join(traceback.format_exception(error)).rstrip()
    elif isinstance(error, (ComputeTargetException, OSError)):
        text = f"error: {error}"
    else:
        text = f"error: {type(error).__name__}: {error}\n  azureml-k8s -vv shows where it comes from."
    _say(mask_text(text))
    return exit_code_of(error)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _give_up_stdout() -> None:
    """Let nothing be written to the closed pipe at the interpreter's end, which would complain on stderr."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
