"""Waiting outlives trouble: every fault on the operation URL and on the compute, and what decides in the end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute
from azureml_k8s import exceptions as e
from faults.harness import TOKEN, Rig, about, check_secrecy, check_trust

PASSING: dict[str, dict[str, Any]] = {
    **{str(status): {"status": status} for status in (408, 429, 500, 502, 503, 504)},
    "429, wait 3": {"status": 429, "headers": {"Retry-After": "3"}},
    "429, wait 2700": {"status": 429, "headers": {"Retry-After": "2700"}},
    "503, wait 3": {"status": 503, "headers": {"Retry-After": "3"}},
    "reset": {"reset": True},
    "cut": {"truncate": True},
    "slow": {"delay_s": 1000},
    "HTML 200": {"html": True},
    "HTML 404": {"html": True, "status": 404},
    "HTML 502": {"html": True, "status": 502},
    "no JSON": {"status": 200, "body": "{nope"},
    "redirect": {"status": 302, "headers": {"Location": "https://evil.example/"}},
    "401": {"status": 401},
}
LOST: dict[str, dict[str, Any]] = {str(status): {"status": status} for status in (400, 403, 404, 409, 410)}
ODD_BODIES: dict[str, Any] = {
    "{}": {},
    "empty": b"",
    "null": {"status": None},
    "number": {"status": 7},
    "list": [1],
    "Success": {"status": "Success"},
    "PartiallySucceeded": {"status": "PartiallySucceeded"},
    "blank": {"status": " "},
}


def attach(rig: Rig) -> KubernetesCompute:
    return ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration)


def detach(rig: Rig) -> KubernetesCompute:
    target = rig.attached()
    target.detach()
    return target


def is_done(rig: Rig) -> bool:
    found = rig.compute_in_service()
    return found is None or found["properties"]["provisioningState"] == "Succeeded"


@pytest.mark.parametrize("begin", [attach, detach])
@pytest.mark.parametrize("kind", ["operation", "compute"])
@pytest.mark.parametrize("fault", PASSING)
def test_one_bad_look_does_not_end_a_wait(
    rig: Rig, begin: Callable[[Rig], Any], kind: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever one look meets, the wait goes on and ends well (azure-cli#11891, azure-cli#28139)."""
    caplog.set_level(logging.DEBUG)
    target = begin(rig)
    writes = rig.count("put"), rig.count("delete")
    rig.faults.add(about(kind), **PASSING[fault])
    target.wait_for_completion()
    assert is_done(rig)
    assert (rig.count("put"), rig.count("delete")) == writes
    check_trust(rig.sent)
    check_secrecy(None, caplog.records)


@pytest.mark.parametrize("begin", [attach, detach])
@pytest.mark.parametrize("fault", LOST)
def test_a_lost_operation_url_leaves_the_compute_to_decide(rig: Rig, begin: Callable[[Rig], Any], fault: str) -> None:
    """An operation URL that is refused or gone decides nothing; the compute is read (vscode-tools-for-ai#343)."""
    target = begin(rig)
    rig.faults.add(about("operation"), every=1, **LOST[fault])
    target.wait_for_completion()
    assert is_done(rig)
    assert rig.count("operation") == 1


@pytest.mark.parametrize("fault", [name for name in PASSING if name != "401"])
@pytest.mark.parametrize("begin", [attach, detach])
def test_looks_that_fail_for_ever_end_the_wait_with_word_of_the_operation(
    rig: Rig, begin: Callable[[Rig], Any], fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The error says that the operation was not seen to fail and how to go on, in bounded time (azure-cli#28139)."""
    caplog.set_level(logging.DEBUG)
    target = begin(rig)
    rig.forget()
    rig.faults.add(about("operation", "compute"), every=1, **PASSING[fault])
    with pytest.raises(e.ComputeTargetException) as caught:
        target.wait_for_completion()
    assert not isinstance(caught.value, e.OperationFailedException)
    assert caught.value.operation_may_run
    assert "was not seen to fail and may still run" in str(caught.value)
    assert caught.value.operation_id
    assert rig.clock() - rig.began_s <= 6000
    assert rig.count("put") + rig.count("delete") == 0
    check_trust(rig.sent)
    check_secrecy(caught.value, caplog.records)


@pytest.mark.parametrize("fault", [*PASSING, *LOST])
def test_the_time_limit_holds_whatever_the_looks_meet(rig: Rig, fault: str) -> None:
    """A wait with a limit of 60 s ends within one look of it, and cancels nothing."""
    rig.faults.provisioning(seconds=10_000)
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("operation"), every=1, **{**PASSING, **LOST}[fault])
    wanted = e.AuthenticationException if fault == "401" else e.OperationTimeoutException
    with pytest.raises(wanted) as caught:
        target.wait_for_completion(timeout=60)
    assert rig.clock() - rig.began_s <= 60 + 30
    assert caught.value.operation_may_run
    assert rig.count("delete") == 0
    assert rig.compute_in_service()["properties"]["provisioningState"] == "Creating"
    if fault != "401":
        assert caught.value.message.startswith("timed out after 60 s")
        assert isinstance(caught.value, TimeoutError)


def test_no_timeout_is_longer_than_the_time_left(rig: Rig) -> None:
    """Near the deadline the time-outs of a look shrink with it, to the few seconds that the last look gets."""
    rig.faults.stuck_operation()
    target = attach(rig)
    rig.forget()
    with pytest.raises(e.OperationTimeoutException):
        target.wait_for_completion(timeout=40)
    for one in rig.sent:
        left_s = max(5.0, rig.began_s + 40 - one.at_s)
        assert one.timeout[0] <= min(10.0, left_s)
        assert one.timeout[1] <= min(30.0, left_s)
    assert min(one.timeout[1] for one in rig.sent) < 10


def test_a_throttled_wait_keeps_the_services_pace(rig: Rig) -> None:
    """InProgress, 429 with 3 s, 429, 503, then Succeeded: pauses of 3 s at least, then growing (azure-cli#11891)."""
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("operation"), nth=2, status=429, headers={"Retry-After": "3"})
    rig.faults.add(about("operation"), nth=3, status=429)
    rig.faults.add(about("operation"), nth=4, status=503)
    target.wait_for_completion()
    first, throttled, again, failed, last = (one.at_s for one in rig.sent if one.kind == "operation")
    assert again - throttled >= 3
    assert last - failed > failed - again > 0.8
    assert first < throttled


def test_many_waiters_do_not_beat_in_step(rig: Rig) -> None:
    """Fifty waiters that begin at once soon look at fifty different moments (azure-cli#11891, second case)."""
    moments = set()
    for _ in range(50):
        one = Rig()
        one.faults.stuck_operation()
        target = attach(one)
        one.forget()
        with pytest.raises(e.OperationTimeoutException):
            target.wait_for_completion(timeout=30)
        looks = [sent.at_s - one.began_s for sent in one.sent]
        assert all(later - earlier >= 1 for earlier, later in pairwise(looks[:-1]))
        moments.add(round(looks[-2], 3))
    assert len(moments) > 30


@pytest.mark.parametrize("odd", ODD_BODIES)
@pytest.mark.parametrize("begin", [attach, detach])
def test_an_odd_status_leaves_the_compute_to_decide(rig: Rig, begin: Callable[[Rig], Any], odd: str) -> None:
    """A status that is missing, null or unknown: the compute's own state decides (go-azure-sdk#542)."""
    target = begin(rig)
    rig.faults.add(about("operation"), every=1, body=ODD_BODIES[odd])
    target.wait_for_completion(timeout=600)
    assert is_done(rig)


def test_a_204_of_the_operation_url_leaves_the_compute_to_decide(rig: Rig) -> None:
    """An empty 204 is no status (go-azure-sdk#542)."""
    target = attach(rig)
    rig.faults.add(about("operation"), every=1, status=204)
    target.wait_for_completion(timeout=600)
    assert is_done(rig)


@pytest.mark.parametrize("word", ["succeeded", "SUCCEEDED", " Succeeded "])
def test_known_words_count_in_any_letter_case(rig: Rig, word: str) -> None:
    """Success in any spelling is success (azure-sdk-for-js#33625)."""
    target = attach(rig)
    rig.faults.add(about("operation"), every=1, body={"status": word})
    target.wait_for_completion(timeout=600)
    assert is_done(rig)


@pytest.mark.parametrize("word", ["Cancelled", "canceled", "CANCELED"])
def test_both_spellings_of_cancelled_raise(rig: Rig, word: str) -> None:
    """A cancelled operation raises, and says so (go-azure-sdk#542)."""
    target = attach(rig)
    rig.faults.add(about("operation"), every=1, body={"status": word})
    with pytest.raises(e.OperationFailedException, match="Canceled"):
        target.wait_for_completion()


def test_a_retry_after_of_an_odd_status_is_obeyed_too(rig: Rig) -> None:
    """The pace of the operation URL holds, though the compute is what decides."""
    rig.faults.provisioning(polls=5)
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("operation"), every=1, body={}, headers={"Retry-After": "9"})
    target.wait_for_completion()
    looks = [one.at_s for one in rig.sent if one.kind == "operation"]
    assert len(looks) >= 2
    assert all(later - earlier >= 9 for earlier, later in pairwise(looks))


def test_a_double_nested_error_is_read_to_its_core(rig: Rig) -> None:
    """The innermost error of a failed operation is the first line."""
    target = attach(rig)
    inner = {"code": "ClusterNotReachable", "message": "The cluster can't be reached."}
    error = {"code": "Wrapper", "message": "Failed.", "error": {"code": "Middle", "error": inner}}
    rig.faults.add(about("operation"), every=1, body={"status": "Failed", "error": error})
    with pytest.raises(e.OperationFailedException) as caught:
        target.wait_for_completion()
    assert caught.value.message == "Failed: The cluster can't be reached."
    assert {"Wrapper", "Middle", "ClusterNotReachable"} <= set(caught.value.codes)
    assert caught.value.operation_may_run is False


# Which URL is polled


@pytest.mark.parametrize("header", ["AZURE-ASYNCOPERATION", "azure-asyncoperation", "Operation-Location", "LOCATION"])
@pytest.mark.parametrize("status", [200, 201, 202])
def test_the_operation_url_is_found_in_every_header(rig: Rig, header: str, status: int) -> None:
    """Header names in any case, Operation-Location and Location, and a 200 with an async header."""

    def renamed(reply: Any) -> Any:
        from dataclasses import replace

        url = reply.headers["Azure-AsyncOperation"]
        kept = {name: value for name, value in reply.headers.items() if name != "Azure-AsyncOperation"}
        return replace(reply, status=status, headers={**kept, header: url})

    rig.faults.add(about("put"), edit=renamed)
    target = attach(rig)
    rig.forget()
    target.wait_for_completion()
    assert rig.kinds()[0] == "operation"
    assert is_done(rig)


@pytest.mark.parametrize("header", ["Azure-AsyncOperation", "Location"])
def test_a_relative_operation_url_is_resolved(rig: Rig, header: str) -> None:
    """A path without a host is the host that was asked (RFC 9110)."""

    def shortened(reply: Any) -> Any:
        from dataclasses import replace

        headers = dict(reply.headers)
        url = headers.pop("Azure-AsyncOperation")
        return replace(reply, headers={**headers, header: url.removeprefix("https://management.azure.com")})

    rig.faults.add(about("put"), edit=shortened)
    target = attach(rig)
    rig.forget()
    target.wait_for_completion()
    assert rig.kinds() == ["operation", "operation", "compute"]
    check_trust(rig.sent)


def test_a_location_that_says_202_goes_on(rig: Rig) -> None:
    """A Location URL answers 202 while the work goes on, then the result."""

    def moved(reply: Any) -> Any:
        from dataclasses import replace

        url = reply.headers["Azure-AsyncOperation"]
        kept = {name: value for name, value in reply.headers.items() if name != "Azure-AsyncOperation"}
        return replace(reply, headers={**kept, "Location": url})

    rig.faults.add(about("put"), edit=moved)
    rig.faults.add(about("operation"), times=3, status=202, every=1)
    rig.faults.add(about("operation"), every=1, body=b"", headers={"Content-Type": None}, times=10)
    target = attach(rig)
    rig.forget()
    target.wait_for_completion()
    assert rig.kinds()[:4] == ["operation"] * 4
    assert is_done(rig)


def test_the_operation_url_is_used_verbatim(rig: Rig) -> None:
    """Every character of the operation URL is sent as it was given, its signature included."""
    target = attach(rig)
    given = target._pending
    rig.forget()
    target.wait_for_completion()
    assert given
    assert {one.url for one in rig.sent if one.kind == "operation"} == {given.url}


# Appearing late, staying on


def test_a_compute_that_lags_behind_its_put_gets_a_grace(rig: Rig) -> None:
    """No async header, 404 twice, then Creating, then Succeeded: success (go-azure-sdk#740)."""
    rig.faults.add(about("put"), headers={"Azure-AsyncOperation": None})
    target = attach(rig)
    rig.faults.add(about("compute"), status=404, times=2)
    target.wait_for_completion()
    assert is_done(rig)
    assert rig.count("put") == 1


@pytest.mark.parametrize("before_s", [0, 500])
def test_the_grace_is_bounded_and_begins_with_the_first_404(rig: Rig, before_s: int) -> None:
    """A compute that never appears ends the wait after a minute of looking for it (go-azure-sdk#740, second)."""
    rig.faults.provisioning(seconds=before_s)
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("compute"), every=1, status=404)
    with pytest.raises(e.NotFoundException, match="never appeared") as caught:
        target.wait_for_completion()
    assert caught.value.operation_may_run
    looks = [one.at_s for one in rig.sent if one.kind == "compute"]
    assert 60 <= looks[-1] - looks[0] <= 90 + before_s / 10


def test_a_compute_that_lags_behind_a_long_operation_gets_a_grace_too(rig: Rig) -> None:
    """Replicas may lag at the end of an hour as well as at its beginning."""
    rig.faults.provisioning(seconds=3600)
    target = attach(rig)
    rig.faults.add(about("compute"), status=404, times=2)
    target.wait_for_completion()
    assert is_done(rig)


def test_a_compute_that_vanishes_while_it_is_waited_for_is_told(rig: Rig) -> None:
    """Somebody detached it: the wait ends as not found."""
    rig.faults.stuck_operation()
    attach(rig)
    target = ComputeTarget(rig.workspace, "k8s1")
    rig.emulator.world.remove(str(target.id))
    with pytest.raises(e.NotFoundException):
        target.wait_for_completion()


def test_a_detached_compute_that_stays_is_told_after_a_minute(rig: Rig) -> None:
    """The status says Succeeded, the compute stays in an end state: still attached, after 60 s."""
    target = rig.attached()
    rig.faults.add(
        about("delete"),
        status=202,
        headers={"Azure-AsyncOperation": None},
    )
    target.detach()
    rig.forget()
    with pytest.raises(e.ConflictException, match="still attached"):
        target.wait_for_completion()
    assert 60 <= rig.clock() - rig.began_s <= 75


def test_a_missing_status_of_a_removal_decides_nothing(rig: Rig) -> None:
    """404 of the status URL at once, while the compute is still being detached: the wait goes on."""
    rig.faults.provisioning(polls=5)
    target = detach(rig)
    rig.faults.vanishing_operation_url()
    target.wait_for_completion()
    assert rig.compute_in_service() is None


def test_a_missing_workspace_is_no_end_of_a_removal(rig: Rig) -> None:
    """404 of something above the compute is not the compute's own 404."""
    target = detach(rig)
    body = {"error": {"code": "ResourceGroupNotFound", "message": "Resource group 'rg' was not found."}}
    rig.faults.add(about("compute"), every=1, status=404, body=body)
    with pytest.raises(e.ProjectSystemException):
        target.wait_for_completion()


# Sign-in while waiting


def test_a_token_that_ends_while_waiting_is_renewed(rig: Rig) -> None:
    """A 401 with an expired-token code: a new token, the same GET, no second PUT (terraform-provider-azurerm#20867)."""
    target = attach(rig)
    rig.forget()
    body = {"error": {"code": "ExpiredAuthenticationToken", "message": "m"}}
    rig.faults.add(about("operation"), status=401, body=body)
    target.wait_for_completion()
    first, second = rig.sent[:2]
    assert first.url == second.url
    assert first.headers["Authorization"] == "Bearer opaqueOne"
    assert second.headers["Authorization"] == "Bearer opaqueTwo"
    assert rig.count("put") == 0


def test_a_401_every_time_says_where_the_operation_may_run(rig: Rig) -> None:
    """One renewal, then an authentication error with the operation's id (terraform-provider-azurerm#20867, second)."""
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("operation"), every=1, status=401)
    with pytest.raises(e.AuthenticationException) as caught:
        target.wait_for_completion()
    assert len(rig.sent) == 2
    assert caught.value.operation_may_run
    assert caught.value.operation_id
    assert "k8s1" in str(caught.value)


def test_a_credential_that_fails_on_renewal_says_where_the_operation_may_run(rig: Rig) -> None:
    """The credential's own error comes through, with the operation (terraform-provider-azurerm#20867, third)."""
    target = attach(rig)

    def fail(*scopes: str, **arguments: Any) -> None:
        secret = TOKEN  # in no line of source, which a traceback shows
        raise RuntimeError(f"AADSTS700082: the refresh token has expired, secret={secret}")

    rig.credential.get_token = fail  # type: ignore[method-assign,assignment]  # the sign-in ended meanwhile
    rig.faults.add(about("operation"), every=1, status=401)
    with pytest.raises(e.AuthenticationException, match="AADSTS700082") as caught:
        target.wait_for_completion()
    assert caught.value.operation_may_run
    check_secrecy(caught.value, [])


# Huge delays


@pytest.mark.parametrize("delay", ["31536000", "1e9", "9999999999999999"])
@pytest.mark.parametrize("site", ["put", "operation"])
def test_an_absurd_delay_does_not_hang_a_wait(rig: Rig, site: str, delay: str) -> None:
    """Without a limit a wait looks again after max_wait seconds, whatever delay is asked for."""
    rig.faults.add(about(site), headers={"Retry-After": delay})
    target = attach(rig)
    target.wait_for_completion()
    assert is_done(rig)
    assert rig.clock() - 1000 < 1300


def test_a_polls_delay_is_obeyed_up_to_the_deadline(rig: Rig) -> None:
    """With a limit, the delay holds up to it; then there is one last look."""
    target = attach(rig)
    rig.forget()
    rig.faults.add(about("operation"), headers={"Retry-After": "5000"})
    target.wait_for_completion(timeout=2000)
    assert [round(one.at_s - rig.began_s) for one in rig.sent if one.kind == "operation"] == [1, 2000]


def test_ctrl_c_leaves_cleanly(rig: Rig) -> None:
    """KeyboardInterrupt from the sleep comes out as itself, nothing is cancelled, and the wait can go on later."""
    target = attach(rig)
    rig.forget()
    real = rig.workspace._session.sleep

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    rig.workspace._session.sleep = interrupted
    with pytest.raises(KeyboardInterrupt):
        target.wait_for_completion()
    rig.workspace._session.sleep = real
    assert rig.sent == []
    target.wait_for_completion()
    assert is_done(rig)


def test_state_changes_are_logged(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """Every change of state is an info line under azureml_k8s, and no poll without a change."""
    caplog.set_level(logging.INFO, "azureml_k8s")
    rig.faults.provisioning(polls=5)
    target = attach(rig)
    target.wait_for_completion()
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert any("being attached" in line for line in lines)
    assert sum("Succeeded" in line for line in lines) == 1
