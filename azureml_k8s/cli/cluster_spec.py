"""``azureml-k8s cluster-spec``: the cluster spec of labelled pods, for scripts and for ``TF_CONFIG``."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import click

from azureml_k8s.cli.exit_codes import ExitCode, exit_code_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from azureml_k8s.cluster_resolver import KubernetesClusterResolver

__all__ = ["command"]

logger = logging.getLogger(__name__)

_LOCATIONS = {"detect": "DETECT", "within": "WITHIN_CLUSTER", "off": "OFF_CLUSTER"}
_EXIT_CODES = {401: ExitCode.AUTHENTICATION, 403: ExitCode.FORBIDDEN, 404: ExitCode.NOT_FOUND}


@click.command("cluster-spec")
@click.option(
    "--selector",
    "selectors",
    metavar="JOB=SELECTOR",
    multiple=True,
    help="A job and its label selector, such as worker=app=train,role=w; repeatable, also for one job. "
    "Without it: worker=job-name=tensorflow.",
)
@click.option(
    "-n", "--namespace", metavar="NAME", multiple=True, help="Where to look; repeatable; by default everywhere."
)
@click.option(
    "--wait", "counts", metavar="[JOB=]N", multiple=True, help="Wait until N pods of each job, or of this job, run."
)
@click.option(
    "--timeout", metavar="S", type=click.FloatRange(min=0), help="Seconds to wait at most; no limit by default."
)
@click.option("--port", metavar="PORT", default="8470", show_default=True, help="The port of the tasks' servers.")
@click.option(
    "--address", metavar="WHICH", default="pod_ip", show_default=True, help="pod_ip, ipv4, ipv6, host_ip or dns."
)
@click.option("--cluster-domain", metavar="DOMAIN", help="Put behind the names of --address dns.")
@click.option("--order", metavar="HOW", default="auto", show_default=True, help="auto, name or index.")
@click.option(
    "--skip-ended", is_flag=True, help="Leave out pods that failed or succeeded, instead of stopping at them."
)
@click.option("--task-type", metavar="JOB", help="This task's job, for tf-config; found by itself inside a pod.")
@click.option("--task-id", metavar="N", type=click.IntRange(min=0), help="This task's index, for tf-config.")
@click.option(
    "--location",
    type=click.Choice(sorted(_LOCATIONS)),
    default="detect",
    show_default=True,
    help="Connect as a pod within the cluster, or off it by the kubeconfig.",
)
@click.option(
    "-o", "--output", type=click.Choice(["json", "tf-config"]), default="json", show_default=True, help="What to print."
)
def command(
    selectors: tuple[str, ...],
    namespace: tuple[str, ...],
    counts: tuple[str, ...],
    timeout: float | None,
    output: str,
    **options: Any,
) -> None:
    """Print the cluster spec of labelled pods, as JSON or TF_CONFIG.

    For example: azureml-k8s cluster-spec --selector worker=app=train --namespace team-a --wait 4 -o tf-config

    The cluster is that of the current kube context, or that of the pod it runs in.
    """
    if timeout is not None and not counts:
        raise click.UsageError("--timeout needs --wait")
    jobs = _jobs(selectors)
    try:
        resolver = _resolver(jobs, namespace, **options)
        spec = resolver.wait(_counts(counts), timeout) if counts else resolver.cluster_spec()
        click.echo(resolver.tf_config(spec) if output == "tf-config" else json.dumps(spec.as_dict(), indent=2))
    except (ImportError, RuntimeError, ValueError) as error:
        logger.debug("cluster-spec failed", exc_info=True)
        click.echo(f"error: {error}", err=True)
        raise click.exceptions.Exit(_exit_code(error)) from error


def _resolver(
    jobs: dict[str, list[str]],
    namespace: Sequence[str],
    *,
    location: str,
    skip_ended: bool,
    task_type: str | None,
    task_id: int | None,
    port: str,
    **modes: Any,
) -> KubernetesClusterResolver:
    from azureml_k8s.cluster_resolver import ExecutableLocation, KubernetesClusterResolver

    resolver = KubernetesClusterResolver(
        jobs,
        port,
        executable_location=ExecutableLocation[_LOCATIONS[location]],
        namespace=namespace[0] if len(namespace) == 1 else namespace or None,
        not_running="skip" if skip_ended else "raise",
        **modes,
    )
    resolver.task_type, resolver.task_id = task_type, task_id
    return resolver


def _jobs(selectors: Sequence[str]) -> dict[str, list[str]]:
    jobs: dict[str, list[str]] = {}
    for text in selectors:
        job, equals, selector = text.partition("=")
        if not (job and equals and selector):
            raise click.BadParameter(f"{text!r} is no JOB=SELECTOR, such as worker=app=train", param_hint="--selector")
        jobs.setdefault(job, []).append(selector)
    return jobs


def _counts(counts: Sequence[str]) -> int | dict[str, int]:
    by_job: dict[str, int] = {}
    for text in counts:
        job, _, number = text.rpartition("=")
        if not (number.isascii() and number.isdecimal()):
            raise click.BadParameter(f"{text!r} is no number of pods, and no JOB=NUMBER", param_hint="--wait")
        by_job[job] = int(number)
    if "" not in by_job:
        return by_job
    if len(by_job) > 1:
        raise click.BadParameter("give one number for all jobs, or JOB=NUMBER for each", param_hint="--wait")
    return by_job[""]


def _exit_code(error: Exception) -> ExitCode:
    from azureml_k8s.cluster_resolver import KubernetesApiError, PodCannotRunError

    if isinstance(error, KubernetesApiError):
        return _EXIT_CODES.get(error.status or 0, ExitCode.UNREACHABLE if error.status is None else ExitCode.ERROR)
    if isinstance(error, PodCannotRunError):
        return ExitCode.FAILED
    if isinstance(error, (ValueError, ImportError)):
        return ExitCode.USAGE
    return exit_code_of(error)
