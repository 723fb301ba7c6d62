"""``azureml-k8s demo``: the whole lifecycle over HTTP, against an emulator on this machine, while somebody watches.

The demo is a Python session: what stands behind ``>>>`` is the text that runs, so a reader can type the same.
"""

from __future__ import annotations

import sys
import time
from code import InteractiveInterpreter
from typing import NoReturn

import click
from rich.console import Console
from rich.syntax import Syntax

__all__ = ["command"]

_NAME = "k8s1"
_STEPS = (
    (
        "Name a workspace (this sends nothing)",
        "from azureml_k8s import Cloud, ComputeTarget, KubernetesCompute, Workspace",
        'ws = Workspace("{emulator.subscription_id}", "{emulator.resource_group}", "{emulator.workspace_name}", '
        'cloud=Cloud.emulator("{url}"))',
    ),
    (
        "Attach a cluster to it",
        'cluster_id = "{emulator.aks_id}"',
        'config = KubernetesCompute.attach_configuration(cluster_id, namespace="default")',
        'target = ComputeTarget.attach(ws, "{name}", config)',
    ),
    ("Wait for the service", "target.wait_for_completion(show_output=True)"),
    (
        "Look at its status and its JSON",
        "target.get_status()",
        "import json",
        "print(json.dumps(target.serialize(), indent=2))",
    ),
    ("Detach it, and wait again", "target.detach()", "target.wait_for_completion(show_output=True)"),
    ("See that it is gone", "names = [found.name for found in ComputeTarget.list(ws)]", "names"),
)


class _Session(InteractiveInterpreter):
    """A Python session that one error ends."""

    def showtraceback(self) -> NoReturn:
        raise  # the error that is being handled


@click.command("demo")
@click.option(
    "--provisioning-seconds",
    type=click.FloatRange(min=0, max=600),
    default=3.0,
    show_default=True,
    help="How long the emulator takes to attach and to detach.",
)
def command(provisioning_seconds: float) -> None:
    """Attach, watch and detach a cluster, on an emulator on this machine.

    Every line of Python that runs is shown. The requests go over HTTP to an emulator on the loopback address that stops
    when the demo ends; no Azure subscription is needed and nothing leaves this machine.
    """
    from azureml_k8s.emulator import Emulator, EmulatorServer

    started_s = time.monotonic()
    emulator = Emulator(provisioning_seconds=provisioning_seconds)
    with EmulatorServer(emulator) as server:
        click.echo(f"An emulator of the service answers on {server.url}")
        session = _Session()
        for number, (title, *lines) in enumerate(_STEPS, start=1):
            click.secho(f"\n{number}. {title}", bold=True)
            for line in lines:
                _run(session, line.format(emulator=emulator, url=server.url, name=_NAME))
    if _NAME in session.locals["names"]:
        raise click.ClickException(f"{_NAME} is still attached")
    click.secho(f"\n{_NAME} is detached", fg="green", bold=True, nl=False)
    click.echo(f": the whole lifecycle took {time.monotonic() - started_s:.1f} s.")


def _run(session: _Session, line: str) -> None:
    """Show a line as Python shows it, then run it."""
    console = Console(highlight=False, soft_wrap=True)
    if console.is_terminal:
        # This theme has the terminal's own 16 colours, readable on dark and on light.
        code = Syntax(line, "python", theme="ansi_dark").highlight(line)
        code.rstrip()
        console.print("[dim]>>>[/dim]", code)
    else:
        click.echo(f">>> {line}")
    sys.stdout.flush()
    session.runsource(line)
