"""Several jobs and several threads at once: one success and one conflict, one token, nothing doubled."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from azureml_k8s import ComputeTarget, Workspace
from azureml_k8s.exceptions import ConflictException
from faults.harness import Rig, about, check_trust


class Job:
    """One attach, in two halves; notes its end."""

    def __init__(self, workspace: Workspace, configuration: Any) -> None:
        self.workspace, self.configuration = workspace, configuration
        self.end, self.target = "", None

    def begin(self) -> None:
        self._noted(self._attach)

    def finish(self) -> None:
        if not self.end:
            self._noted(self._wait)

    def _attach(self) -> None:
        self.target = ComputeTarget.attach(self.workspace, "k8s1", self.configuration)

    def _wait(self) -> None:
        assert self.target is not None
        self.target.wait_for_completion()
        self.end = "success"

    def _noted(self, half: Callable[[], None]) -> None:
        try:
            half()
        except ConflictException:
            self.end = "conflict"


def race(rig: Rig, at: str, second: Callable[[Job], None]) -> list[str]:
    """Two jobs; what the second one does happens right before the first one's request of a kind is served."""
    first = Job(rig.workspace, rig.configuration)
    other = Job(rig.another_workspace(), rig.other_configuration)

    def interrupt(sent: Any) -> None:
        if sent.kind == at:
            rig.adapter.before = None
            second(other)

    rig.adapter.before = interrupt
    first.begin()
    first.finish()
    other.finish()
    return sorted([first.end, other.end])


def whole(rig: Rig, gap_s: float) -> Callable[[Job], None]:
    def second(job: Job) -> None:
        job.begin()
        job.finish()
        rig.clock.sleep(gap_s)

    return second


@pytest.mark.parametrize("at", ["compute", "workspace", "put", "operation"])
def test_two_jobs_in_step_are_one_success_and_one_conflict(rig: Rig, at: str) -> None:
    """The other job attaches while this one looks, prepares, sends or waits: never two successes."""
    assert race(rig, at, Job.begin) == ["conflict", "success"]


@pytest.mark.parametrize("gap_s", [0, 1, 60, 3600])
@pytest.mark.parametrize("at", ["compute", "workspace", "put", "operation"])
def test_a_job_that_was_overtaken_by_a_whole_attach_is_a_conflict(rig: Rig, at: str, gap_s: float) -> None:
    """The other job begins and ends between two requests of this one; its PUT, which changes nothing, is told."""
    assert race(rig, at, whole(rig, gap_s)) == ["conflict", "success"]


@pytest.mark.parametrize("gap_s", [0, 30, 100])
def test_an_overwritten_attach_is_told_by_its_age(rig: Rig, gap_s: float) -> None:
    """A service that takes the later PUT's settings over: the compute's old createdOn shows what was overwritten."""

    def second(job: Job) -> None:
        whole(rig, gap_s)(job)
        compute = rig.compute_in_service()
        created_on = compute["properties"]["createdOn"]
        rig.emulator.world.remove(compute["id"])

        def keep_age(reply: Any) -> Any:
            rig.compute_in_service()["properties"]["createdOn"] = created_on
            body = reply.json
            body["properties"]["createdOn"] = created_on
            return replace(reply, body=json.dumps(body).encode())

        rig.faults.add(about("put"), edit=keep_age)

    assert race(rig, "put", second) == ["conflict", "success"]
    assert rig.compute_in_service()["properties"]["properties"]["namespace"] == "team"


def test_a_put_of_somebody_else_during_the_wait_is_told(rig: Rig) -> None:
    """A service that lets a second PUT overwrite a running attach: the first job finds other settings at its end."""
    first = Job(rig.workspace, rig.configuration)
    first.begin()
    rig.compute_in_service()["properties"]["properties"]["namespace"] = "other"
    first.finish()
    assert first.end == "conflict"


def test_the_same_settings_are_no_conflict(rig: Rig) -> None:
    """Two jobs that ask for the same, in step, may both succeed: the second joins the first."""
    first, other = (Job(rig.another_workspace(), rig.configuration) for _ in range(2))
    first.begin()
    other.begin()
    first.finish()
    other.finish()
    assert [first.end, other.end] == ["success", "success"]
    assert rig.count("put") == 1


@pytest.mark.parametrize("jobs", [2, 8])
def test_jobs_on_threads_end_as_one_success(jobs: int) -> None:
    """However threads interleave, one of several jobs with different settings succeeds."""
    rig = Rig()
    from azureml_k8s import KubernetesCompute

    configurations = [KubernetesCompute.attach_configuration(rig.emulator.aks_id, f"team{n}") for n in range(jobs)]
    all_jobs = [Job(rig.another_workspace(), one) for one in configurations]
    start = threading.Barrier(jobs)

    def run(job: Job) -> str:
        start.wait(10)
        job.begin()
        job.finish()
        return job.end

    with ThreadPoolExecutor(jobs) as pool:
        ends = list(pool.map(run, all_jobs))
    assert sorted(ends) == ["conflict"] * (jobs - 1) + ["success"]


def test_one_workspace_serves_many_threads(rig: Rig) -> None:
    """Sixteen threads on one workspace: whole lifecycles of their own, one token request, one read of the location
    (azure-sdk-for-python#40636)."""
    start = threading.Barrier(16)

    def run(number: int) -> bool:
        start.wait(10)
        name = f"k8s{number}"
        target = ComputeTarget.attach(rig.workspace, name, rig.configuration)
        target.wait_for_completion()
        state = target.get_status()
        target.detach()
        target.wait_for_completion()
        return state == "Succeeded" and rig.compute_in_service(name) is None

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(run, range(16)))
    assert len(rig.credential.asked) == 1
    assert rig.count("workspace") == 1
    assert rig.count("put") == rig.count("delete") == 16
    check_trust(rig.sent)


def test_a_401_for_many_threads_is_one_renewal(rig: Rig) -> None:
    """All threads are told that the token ended; one asks for the next one."""
    rig.faults.add(lambda request: request.headers["Authorization"].endswith("One"), every=1, status=401)
    start = threading.Barrier(16)

    def run(_: int) -> int:
        start.wait(10)
        return len(ComputeTarget.list(rig.workspace))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(run, range(16))) == [0] * 16
    assert len(rig.credential.asked) == 2


def test_a_slow_read_of_the_workspace_blocks_no_other_thread(rig: Rig) -> None:
    """While one thread waits for a throttled read of the location, another one lists, and a third closes."""
    is_asleep, may_go_on = threading.Event(), threading.Event()

    def sleep(seconds: float) -> None:
        is_asleep.set()
        may_go_on.wait(10)

    workspace = rig.another_workspace(sleep=sleep)
    rig.faults.throttle(about("workspace"), retry_after_s=600)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(lambda: workspace.location)
        assert is_asleep.wait(10)
        assert pool.submit(lambda: ComputeTarget.list(workspace)).result(10) == []
        pool.submit(workspace.close).result(10)
        may_go_on.set()
        assert slow.result(10) == "westeurope"


def test_a_closed_workspace_opens_again(rig: Rig) -> None:
    """close() ends the connections, `with` does it at its end, and a later use opens new ones."""
    closed: list[int] = []
    rig.adapter.close = lambda: closed.append(1)  # type: ignore[method-assign]  # counts
    with rig.workspace as workspace:
        ComputeTarget.list(workspace)
    assert closed
    count = len(closed)
    workspace.close()
    assert len(closed) == count
    assert ComputeTarget.list(workspace) == []
