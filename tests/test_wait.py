"""Waiting for an operation: when it looks, what it takes for the end, and what it says."""

from __future__ import annotations

import io
import itertools
import json
import re
from typing import Any

import pytest
from bodies import AKS, WS, compute, sent

from azureml_k8s import (
    ComputeTarget,
    ComputeTargetException,
    KubernetesCompute,
    NotFoundException,
    OperationFailedException,
    OperationTimeoutException,
    Workspace,
)
from azureml_k8s.emulator import Emulator, FakeClock

DONE = 'Provisioning operation finished, operation "Succeeded"'


def attach(workspace: Workspace, name: str = "k8s1") -> KubernetesCompute:
    return ComputeTarget.attach(workspace, name, KubernetesCompute.attach_configuration(AKS))


def test_the_operation_is_polled_and_the_compute_read_at_the_end(workspace: Workspace, emulator: Emulator) -> None:
    """The operation URL is looked at as it was given, then one GET of the compute."""
    target = attach(workspace)
    emulator.requests.clear()
    target.wait_for_completion()
    assert sent(emulator) == ["GET operation", "GET operation", "GET computes/k8s1"]
    assert target.provisioning_state == "Succeeded"


def test_the_operation_url_is_sent_verbatim(workspace: Workspace, emulator: Emulator) -> None:
    """Its query is a signature: the service refuses a changed one, so success shows that it was kept."""
    url = "/computeOperationsStatus/x?service=new&api-version=2020-01-01&t=1%2b1&s=A_b-%3D%3D&h="
    emulator.faults.add(
        method="PUT", headers={"Azure-AsyncOperation": f"http://localhost:1/subscriptions{url}"}, after=True
    )
    emulator.faults.add("computeOperationsStatus", status=200, body={"status": "Succeeded"}, every=1)
    emulator.polls = 0
    target = attach(workspace)
    target.wait_for_completion()
    assert [one.target for one in emulator.requests if "Operations" in one.target] == [f"/subscriptions{url}"]


def test_the_first_look_comes_a_second_after_the_request(
    workspace: Workspace, emulator: Emulator, clock: FakeClock
) -> None:
    """Not sooner, and not a second after the wait began if that was later."""
    target = attach(workspace)
    clock.sleep(0.4)
    target.wait_for_completion()
    assert clock.naps_s == pytest.approx([0.4, 0.6, 1.0])


def test_a_wait_that_begins_late_looks_at_once(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """The operation has gone on meanwhile."""
    emulator.provisioning(seconds=5)
    target = attach(workspace)
    clock.sleep(60)
    target.wait_for_completion()
    assert clock.naps_s == [60]


def test_pauses_grow_with_the_elapsed_time(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """A tenth of the elapsed time, up to a fifth less at random, between 1 and 30 seconds."""
    emulator.provisioning(seconds=900)
    began_s = clock()
    attach(workspace).wait_for_completion()
    elapsed = list(itertools.accumulate(clock.naps_s))
    assert elapsed[-1] >= 900
    assert clock.naps_s[0] == 1.0
    for before_s, nap_s in zip(elapsed, clock.naps_s[1:], strict=False):
        tenth_s = max(1.0, before_s / 10)
        assert max(1.0, 0.8 * tenth_s) <= nap_s <= tenth_s + 1e-6 or 24 <= nap_s <= 30
    assert max(clock.naps_s) <= 30
    assert clock() - began_s < 935


def test_pauses_carry_jitter(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """azure-cli#11891: many waiters do not beat in step."""
    emulator.provisioning(seconds=300)
    naps = []
    for name in ("k8s1", "k8s2"):
        clock.naps_s.clear()
        attach(workspace, name).wait_for_completion()
        naps.append(tuple(clock.naps_s))
    assert naps[0] != naps[1]


def test_the_service_may_ask_for_longer_pauses(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """azure-sdk-for-python#10778: Retry-After on a 201 means one PUT, and polls not sooner than asked."""
    emulator.retry_after_s, emulator.polls = 10, 3
    attach(workspace).wait_for_completion()
    assert clock.naps_s == [10.0, 10.0, 10.0]
    assert sent(emulator).count("PUT computes/k8s1") == 1


def test_the_deadline_gets_one_last_look(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """The last pause is cut at the deadline, and a success that is there by then counts."""
    emulator.provisioning(seconds=7.5)
    target = attach(workspace)
    began_s = clock()
    target.wait_for_completion(timeout=7.5)
    assert clock() - began_s == 7.5


def test_a_time_out_says_how_to_go_on(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """It begins "timed out after N s", says that the operation goes on, and is a TimeoutError."""
    emulator.faults.stuck_operation()
    target = attach(workspace)
    began_s = clock()
    with pytest.raises(OperationTimeoutException, match=r"^timed out after 90 s") as caught:
        target.wait_for_completion(timeout=90)
    error = caught.value
    assert clock() - began_s == 90
    assert "the operation goes on" in error.message
    assert 'ComputeTarget(workspace, "k8s1").wait_for_completion()' in (error.remedy or "")
    assert isinstance(error, TimeoutError)
    assert error.operation_may_run is True
    assert error.last_state == "Creating"
    assert error.elapsed_s == 90
    assert error.operation_id


def test_a_timed_out_wait_can_go_on(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """With the same object, and from the name alone."""
    emulator.provisioning(seconds=60)
    target = attach(workspace)
    for one in (target, ComputeTarget(workspace, "k8s1")):
        with pytest.raises(OperationTimeoutException):
            one.wait_for_completion(timeout=10)
    target.wait_for_completion()
    assert target.provisioning_state == "Succeeded"


@pytest.mark.parametrize("is_fetched", [False, True])
def test_a_timeout_of_zero_is_one_look(
    workspace: Workspace, emulator: Emulator, clock: FakeClock, *, is_fetched: bool
) -> None:
    """No sleep, one request, then the time-out error."""
    emulator.provisioning(seconds=60)
    target: ComputeTarget = attach(workspace)
    if is_fetched:
        target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    with pytest.raises(OperationTimeoutException, match="timed out after 0 s"):
        target.wait_for_completion(timeout=0)
    assert len(emulator.requests) == 1
    assert clock.naps_s == []


def test_a_timeout_of_zero_sees_success(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """One look is enough when it is over."""
    emulator.polls = 0
    target = attach(workspace)
    target.wait_for_completion(timeout=0)
    assert target.provisioning_state == "Succeeded"
    assert clock.naps_s == []


@pytest.mark.parametrize("timeout", [-1, float("nan"), -0.001])
def test_a_negative_timeout_is_refused(workspace: Workspace, emulator: Emulator, timeout: float) -> None:
    """Before any request, naming the argument."""
    emulator.world.put(compute())
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    with pytest.raises(ValueError, match="timeout"):
        target.wait_for_completion(timeout=timeout)
    assert emulator.requests == []


@pytest.mark.parametrize("timeout", [10**400, 1e300, float("inf")])
def test_an_endless_timeout_is_none(workspace: Workspace, timeout: float) -> None:
    """More seconds than clocks have, or than a float holds."""
    target = attach(workspace)
    target.wait_for_completion(timeout=timeout)
    assert target.provisioning_state == "Succeeded"


@pytest.mark.parametrize("listener", [True, "print", 0])
def test_a_listener_that_is_none_is_refused(workspace: Workspace, emulator: Emulator, listener: Any) -> None:
    """Before any request, not after the first look."""
    emulator.world.put(compute())
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    with pytest.raises(TypeError, match="on_progress"):
        target.wait_for_completion(on_progress=listener)
    assert emulator.requests == []


@pytest.mark.parametrize("timeout", ["60", True, [1]])
def test_a_timeout_of_another_type_is_refused(workspace: Workspace, emulator: Emulator, timeout: Any) -> None:
    """A text or a bool is no number of seconds."""
    emulator.world.put(compute())
    with pytest.raises(TypeError, match="timeout"):
        ComputeTarget(workspace, "k8s1").wait_for_completion(timeout=timeout)


@pytest.mark.parametrize("state", ["Creating", "Updating", "creating"])
def test_a_fetched_target_is_waited_for(workspace: Workspace, emulator: Emulator, clock: FakeClock, state: str) -> None:
    """Another process may wait from the name alone: the compute's own state is polled."""
    emulator.world.put(compute(provisioningState=state))
    target = ComputeTarget(workspace, "k8s1")
    emulator.faults.add("computes/k8s1", nth=3, body=compute())
    emulator.requests.clear()
    target.wait_for_completion()
    assert sent(emulator) == ["GET computes/k8s1"] * 3
    assert clock.naps_s == [1.0, 1.0]
    assert target.provisioning_state == "Succeeded"


@pytest.mark.parametrize("missing", [{}, {"provisioningState": None}])
def test_a_fetched_target_without_a_state_is_done(
    workspace: Workspace, emulator: Emulator, clock: FakeClock, missing: dict[str, Any]
) -> None:
    """A resource without provisioningState counts as Succeeded."""
    body = compute()
    del body["properties"]["provisioningState"]
    body["properties"] |= missing
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", every=1, body=body)
    target = ComputeTarget(workspace, "k8s1")
    target.wait_for_completion()
    assert clock.naps_s == []
    assert target.provisioning_state == "Unknown"


@pytest.mark.parametrize("compute_type", ["AmlCompute", "QuantumThing"])
def test_other_types_are_waited_for_too(workspace: Workspace, emulator: Emulator, compute_type: str) -> None:
    """A generic target has the same wait."""
    emulator.world.put(compute(computeType=compute_type, provisioningState="Creating"))
    target = ComputeTarget(workspace, "k8s1")
    emulator.faults.add("computes/k8s1", body=compute(computeType=compute_type))
    target.wait_for_completion()
    assert (target.type, target.provisioning_state) == (compute_type, "Succeeded")


def test_an_id_that_only_the_put_had_is_kept(workspace: Workspace, emulator: Emulator) -> None:
    """AML-Kubernetes#155: support asks for the correlation id, which the last answer may lack."""
    emulator.faults.fail_next("InternalServerError", "m")
    emulator.faults.add(method="PUT", after=True, headers={"x-ms-correlation-request-id": "c1"})
    bare = {"x-ms-request-id": "r2", "x-ms-correlation-request-id": None, "x-ms-client-request-id": None}
    emulator.faults.add("computeOperationsStatus", every=1, headers=bare)
    target = attach(workspace)
    with pytest.raises(OperationFailedException) as caught:
        target.wait_for_completion()
    assert (caught.value.request_id, caught.value.correlation_id) == ("r2", "c1")
    polls = [one for one in emulator.requests if "computeoperationsstatus" in one.path.lower()]
    assert caught.value.client_request_id == polls[-1].headers["x-ms-client-request-id"]


@pytest.mark.parametrize("show_output", [True, False])
@pytest.mark.parametrize("state", ["Failed", "Canceled"])
def test_a_failure_raises_whatever_is_shown(
    workspace: Workspace, emulator: Emulator, clock: FakeClock, state: Any, *, show_output: bool
) -> None:
    """AML-Kubernetes#155, #89: code, message, provisioning errors, name, time and ids, without a debug mode."""
    emulator.faults.fail_next("InternalServerError", "m", state=state)
    provisioning_errors = [{"error": {"code": "ExtensionNotFound", "message": "e"}}]
    ids = {"x-ms-request-id": "r2", "x-ms-correlation-request-id": "c2"}
    emulator.faults.add("computeOperationsStatus", every=1, headers=ids)
    emulator.faults.add(
        "computes/k8s1",
        method="GET",
        nth=2,
        body=compute(provisioningState=state, provisioningErrors=provisioning_errors),
    )
    emulator.provisioning(seconds=100)
    target = attach(workspace)
    with pytest.raises(OperationFailedException) as caught:
        target.wait_for_completion(show_output=show_output)
    error = caught.value
    assert error.last_state == state
    assert error.message == f"{state}: m"
    assert error.codes == ("InternalServerError", "ExtensionNotFound")
    assert error.provisioning_errors == provisioning_errors
    assert error.target == "k8s1"
    assert error.elapsed_s == pytest.approx(sum(clock.naps_s))
    assert error.elapsed_s >= 100
    assert (error.request_id, error.correlation_id) == ("r2", "c2")
    assert error.operation_id
    assert error.operation_may_run is False
    text = str(error)
    for fact in ("ExtensionNotFound: e", "k8s1", "r2", "c2", error.operation_id):
        assert fact in text
    assert "Bearer" not in text
    assert "&s=" not in text


def test_the_operations_own_error_is_kept_when_the_compute_cannot_be_read(
    workspace: Workspace, emulator: Emulator
) -> None:
    """The provisioning errors are an addition, not a condition."""
    emulator.fail_next("BadRequest", "the reason")
    target = attach(workspace)
    emulator.faults.add("computes/k8s1", every=1, status=403)
    with pytest.raises(OperationFailedException, match="the reason"):
        target.wait_for_completion()


def test_of_many_provisioning_errors_some_are_told(workspace: Workspace, emulator: Emulator) -> None:
    """The text stays readable; the attribute has them all."""
    emulator.world.put(compute(provisioningState="Failed", provisioningErrors=[f"error {n}" for n in range(2000)]))
    with pytest.raises(OperationFailedException, match="error 0") as caught:
        ComputeTarget(workspace, "k8s1").wait_for_completion()
    assert len(str(caught.value).splitlines()) < 50
    assert len(caught.value.provisioning_errors or ()) == 2000


def test_after_a_failure_the_target_shows_it(workspace: Workspace, emulator: Emulator) -> None:
    """State and errors on the object are those read after the failure."""
    emulator.fail_next("BadRequest", "the reason")
    target = attach(workspace)
    with pytest.raises(OperationFailedException):
        target.wait_for_completion()
    assert target.provisioning_state == "Failed"
    assert "the reason" in json.dumps(target.provisioning_errors)


@pytest.mark.parametrize("state", ["Failed", "Canceled", "failed", "Cancelled"])
def test_a_fetched_failure_raises(workspace: Workspace, emulator: Emulator, state: str) -> None:
    """Waiting for what has failed already tells why."""
    errors = [{"error": {"code": "C", "message": "why"}}]
    emulator.world.put(compute(provisioningState=state, provisioningErrors=errors))
    with pytest.raises(OperationFailedException, match="why") as caught:
        ComputeTarget(workspace, "k8s1").wait_for_completion()
    assert caught.value.provisioning_errors == errors


def test_nothing_is_printed_unless_asked(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """azure-sdk-for-python#19822: azureml-core printed a line even then."""
    target = attach(workspace)
    target.wait_for_completion()
    target.detach()
    target.wait_for_completion()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "utf-16"])
def test_no_stdout_ends_a_wait(
    workspace: Workspace, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """Not one that lacks letters, and what the service sends can't command a terminal."""
    emulator.world.put(compute(provisioningState="Creating\x1b[31m\ud800\u202e\nDone \u53f0"))
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding))
    with pytest.raises(OperationTimeoutException):
        ComputeTarget(workspace, "k8s1").wait_for_completion(show_output=True, timeout=0)
    (line,) = raw.getvalue().decode(encoding).splitlines()
    assert line.isprintable()
    assert line.startswith("Creating [31m")
    assert ("\u53f0" if encoding.startswith("utf") else "\\u53f0") in line


def test_a_missing_stdout_is_no_harm(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under pythonw there is none."""
    monkeypatch.setattr("sys.stdout", None)
    target = attach(workspace)
    target.wait_for_completion(show_output=True)
    assert target.provisioning_state == "Succeeded"


def test_shown_progress_is_lines_with_states_and_times(
    workspace: Workspace, emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """azure-cli#987, AML-Kubernetes#71: changes of state, a heartbeat at a modest rate, a last line of its own."""
    emulator.provisioning(seconds=300)
    attach(workspace).wait_for_completion(show_output=True)
    out, err = capsys.readouterr()
    assert err == ""
    assert "\r" not in out
    lines = out.splitlines()
    assert lines[0] == "Creating (1 s)"
    assert lines[-1] == DONE
    assert re.fullmatch(r"Succeeded \(\d+ s\)", lines[-2])
    beats_s = [int(re.findall(r"\d+", line)[-1]) for line in lines[:-1]]
    assert all(29 <= after - before <= 61 for before, after in itertools.pairwise(beats_s[:-1]))
    assert 5 <= len(lines) <= 13


def test_a_shown_failure_ends_with_its_own_line(
    workspace: Workspace, emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """azure-cli#987: azureml-core's last line names the state, for a failure too."""
    emulator.fail_next("BadRequest")
    target = attach(workspace)
    with pytest.raises(OperationFailedException):
        target.wait_for_completion(show_output=True)
    assert capsys.readouterr().out.splitlines()[-1] == 'Provisioning operation finished, operation "Failed"'


def test_progress_can_be_listened_to(
    workspace: Workspace, emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """on_progress is called after each look, with name, state and seconds."""
    seen: list[Any] = []
    emulator.polls = 3
    attach(workspace).wait_for_completion(on_progress=seen.append)
    assert [(one.name, one.state, one.elapsed_s, one.problem) for one in seen] == [
        ("k8s1", "Creating", 1.0, None),
        ("k8s1", "Creating", 2.0, None),
        ("k8s1", "Succeeded", 3.0, None),
    ]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("is_delete_operation", [False, True])
def test_after_a_detach_gone_means_done(workspace: Workspace, emulator: Emulator, *, is_delete_operation: bool) -> None:
    """AML-Kubernetes#75: the wait knows, and afterwards the name is free."""
    target = attach(workspace)
    target.wait_for_completion()
    target.detach()
    target.wait_for_completion(is_delete_operation=is_delete_operation)
    with pytest.raises(NotFoundException):
        ComputeTarget(workspace, "k8s1")
    attach(workspace).wait_for_completion()


def test_a_detach_can_be_waited_for_by_name(workspace: Workspace, emulator: Emulator) -> None:
    """Another process says is_delete_operation=True, as with azureml-core."""
    attach(workspace).wait_for_completion()
    emulator.polls = 3
    ComputeTarget(workspace, "k8s1").detach()
    other = ComputeTarget(workspace, "k8s1")
    assert other.provisioning_state == "Deleting"
    other.wait_for_completion(show_output=False, is_delete_operation=True)
    assert sent(emulator).count("DELETE computes/k8s1") == 1


def test_a_fetched_target_that_vanishes_is_an_error(workspace: Workspace, emulator: Emulator) -> None:
    """Without a word about a detach, gone is not done."""
    emulator.world.put(compute(provisioningState="Creating"))
    target = ComputeTarget(workspace, "k8s1")
    emulator.world.remove(f"{WS}/computes/k8s1")
    with pytest.raises(NotFoundException):
        target.wait_for_completion()


@pytest.mark.parametrize("answers", [(202, 202, 200), (202, 204)])
def test_a_location_is_followed_as_an_operation(
    workspace: Workspace, emulator: Emulator, answers: tuple[int, ...]
) -> None:
    """AML-Kubernetes#75: 202 + Location is polled until it is no longer 202."""
    attach(workspace).wait_for_completion()
    target = ComputeTarget(workspace, "k8s1")
    location = "http://localhost:1/subscriptions/x/operationResults/y"
    emulator.faults.add(method="DELETE", headers={"Azure-AsyncOperation": None, "Location": location}, after=True)
    for place, status in enumerate(answers, 1):
        emulator.faults.add("operationResults", nth=place, times=1, status=status, body=b"")
    emulator.polls = 1
    target.detach()
    emulator.requests.clear()
    target.wait_for_completion()
    assert [one.method for one in emulator.requests if "operationResults" in one.path] == ["GET"] * len(answers)


def test_a_detach_that_did_nothing_is_told(workspace: Workspace, emulator: Emulator, clock: FakeClock) -> None:
    """A compute that is still attached a minute after its removal should have shown is no success."""
    emulator.world.put(compute())
    emulator.faults.add(method="DELETE", status=202, body=b"")
    target = ComputeTarget(workspace, "k8s1")
    target.detach()
    with pytest.raises(ComputeTargetException, match="still attached"):
        target.wait_for_completion()
    assert clock.naps_s


def test_a_second_wait_asks_once_more_and_returns(workspace: Workspace, emulator: Emulator) -> None:
    """A wait for what is done is one read."""
    target = attach(workspace)
    target.wait_for_completion()
    emulator.requests.clear()
    target.wait_for_completion()
    assert sent(emulator) == ["GET computes/k8s1"]
