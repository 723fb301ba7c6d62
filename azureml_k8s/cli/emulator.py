"""``azureml-k8s emulator``: the emulator as a server that runs until it is stopped."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from azureml_k8s.emulator import EmulatorServer

__all__ = ["command"]

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("emulator")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on; 0, the default, is any.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Permit a --host that other machines reach: they may do everything.")
@click.option("--tls-dir", metavar="DIR", type=_FOLDER, help="Speak HTTPS; write ca.pem, server.pem, server.key there.")
@click.option("--seed", metavar="FILE", type=_FILE, help="JSON or YAML that says what exists at the start.")
@click.option("--state", metavar="FILE", type=_FILE, help="Keep what exists in this file over restarts.")
@click.option(
    "--provisioning-seconds",
    metavar="S",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="How long an attach or a detach takes.",
)
@click.option("--write-config", metavar="DIR", type=_FOLDER, help="Write DIR/config.json for Workspace.from_config.")
@click.pass_context
def command(
    ctx: click.Context,
    port: int,
    host: str,
    allow_remote: bool,
    tls_dir: Path | None,
    seed: Path | None,
    state: Path | None,
    provisioning_seconds: float,
    write_config: Path | None,
) -> None:
    """Run an emulator of the service, for tests without a subscription.

    Prints its URL on stdout once it answers, then a line per request on stderr, until Ctrl-C or SIGTERM. It listens on
    this machine only, unless told otherwise, and forgets everything when it stops, unless --state is given.
    """
    from azureml_k8s.emulator import Emulator, EmulatorError, EmulatorServer
    from azureml_k8s.emulator.config_file import write_config_file

    log = None if ctx.find_root().params["quiet"] else _log
    try:
        emulator = Emulator(seed=seed, provisioning_seconds=provisioning_seconds, state=state)
        server = EmulatorServer(emulator, host, port, tls_dir=tls_dir, log=log, allow_remote=allow_remote)
        with _until_told_to_stop(), server:
            if write_config is not None:
                write_config_file(write_config, emulator, server.url)
            _introduce(server, write_config)
            while True:
                time.sleep(3600)
    except EmulatorError as error:
        raise click.UsageError(str(error), ctx) from error


def _introduce(server: EmulatorServer, config_folder: Path | None) -> None:
    """Print the URL on stdout, and on stderr how to use it."""
    click.echo(server.url)
    sys.stdout.flush()
    emulator = server.emulator
    hints = [f"workspace {emulator.workspace_name}, group {emulator.resource_group}, {emulator.subscription_id}"]
    if server.ca_file:
        hints.append(f"clients trust it with REQUESTS_CA_BUNDLE={server.ca_file}")
    if config_folder:
        hints.append(f'Python: Workspace.from_config("{config_folder}")')
    else:
        hints.append(f'Python: Workspace("{emulator.subscription_id}", ..., cloud=Cloud.emulator("{server.url}"))')
    click.echo("\n".join([*hints, "Ctrl-C stops it."]), err=True)


@contextmanager
def _until_told_to_stop() -> Iterator[None]:
    """End the block quietly on Ctrl-C or SIGTERM; a second signal does not disturb the clean-up."""
    told = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, frame: object) -> None:
        for other in told:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in told}
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _log(line: str) -> None:
    """One line per request; a stderr that is gone does not stop the service."""
    with suppress(OSError, ValueError):
        click.echo(f"{time.strftime('%H:%M:%S')} {line}", err=True)
