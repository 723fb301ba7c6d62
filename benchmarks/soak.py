"""A thousand lifecycles on 32 threads over real loopback HTTP, with a fault on every fifth request.

Each one attaches a cluster under a name of its own, waits, reads, detaches and waits; then the service's own record is
compared with what the client said. It ends with status 1 if a lifecycle was lost (it failed, or the service holds
something else than the client said) or doubled (the service accepted two PUTs or two DELETEs of one name), or if the
library gave up in more than one of a hundred.

    python benchmarks/soak.py [--lifecycles 1000] [--threads 32] [--faults 0.2] [--speed 50] [--seed 0]

Pauses are shortened: ``--speed 50`` makes one second of the client's clock 20 real milliseconds.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from azureml_k8s import Cloud, ComputeTarget, ComputeTargetException, KubernetesCompute, Workspace
from azureml_k8s.emulator import Emulator, EmulatorServer

ATTEMPTS_OF_A_JOB = 5

#: What goes wrong, each with an equal share: before the request takes effect, or after it.
FAULTS: tuple[dict[str, Any], ...] = (
    {"status": 429},
    {"status": 429, "headers": {"Retry-After": "2"}},
    {"status": 500},
    {"status": 502, "html": True},
    {"status": 503, "headers": {"Retry-After": "3"}},
    {"status": 504},
    {"status": 504, "after": True},
    {"reset": True},
    {"reset": True, "after": True},
    {"truncate": True},
)


class FastClock:
    """Runs so many times faster than the real one, and sleeps accordingly less."""

    def __init__(self, speed: float) -> None:
        self._speed = speed

    def __call__(self) -> float:
        return time.monotonic() * self._speed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self._speed)


@dataclass
class Tally:
    """What the client said, from many threads."""

    ended: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    repeated_by_the_job: int = 0
    seconds: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def lifecycle(workspace: Workspace, configuration: Any, name: str) -> int:
    """One attach, wait, read, detach, wait; returns how often a step had to be run again."""
    again = 0

    def attach() -> None:
        ComputeTarget.attach(workspace, name, configuration).wait_for_completion(timeout=600)

    def check() -> None:
        if KubernetesCompute(workspace, name).get_status() != "Succeeded":
            raise AssertionError(f"{name} was attached and is not Succeeded")

    def detach() -> None:
        try:
            target = KubernetesCompute(workspace, name)
        except ComputeTargetException as error:
            if error.status_code == 404:  # an earlier try went through
                return
            raise
        target.detach()
        target.wait_for_completion(timeout=600)

    for step in (attach, check, detach):
        again += patiently(step)
    return again


def patiently(step: Callable[[], None]) -> int:
    """Run a step as a night job would: again when the library gives up, since all of them are safe to run again."""
    for attempt in range(ATTEMPTS_OF_A_JOB):
        try:
            step()
        except ComputeTargetException:
            if attempt == ATTEMPTS_OF_A_JOB - 1:
                raise
        else:
            return attempt
    raise AssertionError("unreachable")


def accepted(emulator: Emulator) -> Counter[tuple[str, str]]:
    """How many operations the service began, by kind and compute."""
    begun = emulator.faults.operations.dump()
    return Counter((str(one["kind"]), str(one["resource_id"]).rpartition("/")[2]) for one in begun)


def run(options: argparse.Namespace) -> int:
    emulator = Emulator(polls=2)
    clock, tally = FastClock(options.speed), Tally()
    struck = [
        emulator.faults.add(None, chance=options.faults / len(FAULTS), seed=options.seed + number, **fault)
        for number, fault in enumerate(FAULTS)
    ]
    began_s = time.monotonic()
    with EmulatorServer(emulator) as server, workspace_of(emulator, server, clock) as workspace:
        configuration = KubernetesCompute.attach_configuration(emulator.aks_id, "team")

        def job(number: int) -> None:
            name, job_began_s = f"job{number}", time.monotonic()
            try:
                again = lifecycle(workspace, configuration, name)
            except Exception as error:
                with tally.lock:
                    tally.lost.append(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
                return
            with tally.lock:
                tally.ended.append(name)
                tally.repeated_by_the_job += again
                tally.seconds.append(time.monotonic() - job_began_s)

        with ThreadPoolExecutor(options.threads) as pool:
            list(pool.map(job, range(options.lifecycles)))
    return report(options, emulator, tally, sum(one.fired for one in struck), time.monotonic() - began_s)


def workspace_of(emulator: Emulator, server: EmulatorServer, clock: FastClock) -> Workspace:
    return Workspace(
        emulator.subscription_id,
        emulator.resource_group,
        emulator.workspace_name,
        cloud=Cloud.emulator(server.url),
        clock=clock,
        sleep=clock.sleep,
    )


def report(options: argparse.Namespace, emulator: Emulator, tally: Tally, faults: int, took_s: float) -> int:
    """Print the figures; 1 if anything was lost or doubled."""
    begun = accepted(emulator)
    doubled = [f"{kind} {name}: {count}" for (kind, name), count in begun.items() if count > 1]
    missing = [name for name in tally.ended if not begun[("attach", name)] or not begun[("detach", name)]]
    lost = [*tally.lost, *(f"{name}: never begun" for name in missing)]
    scope = f"/subscriptions/{emulator.subscription_id}"
    left = list(emulator.world.under(scope, "Microsoft.MachineLearningServices/workspaces/computes"))
    requests, times = len(emulator.requests), sorted(tally.seconds) or [0.0]
    print(f"lifecycles  {len(tally.ended)} of {options.lifecycles}, on {options.threads} threads, in {took_s:.1f} s")
    print(f"requests    {requests}, of which {faults} struck ({100 * faults / max(1, requests):.1f} %)")
    print(f"one         median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s ({options.speed:g} x speed)")
    print(f"run again   {tally.repeated_by_the_job} steps, after the library gave up within its bounds")
    print(f"left over   {len(left)}")
    for title, found in (("lost", lost), ("doubled", doubled)):
        print(f"{title:<11} {len(found)}", *found[:20], sep="\n            " if found else "")
    is_whole = len(tally.ended) == options.lifecycles and not (lost or doubled or left)
    return 0 if is_whole and tally.repeated_by_the_job <= options.lifecycles / 100 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lifecycles", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--faults", type=float, default=0.2, help="share of requests that a fault strikes")
    parser.add_argument("--speed", type=float, default=50, help="seconds of the client per real second")
    parser.add_argument("--seed", type=int, default=0)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
