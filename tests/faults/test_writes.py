"""PUT and DELETE under every fault: never repeated blindly, never lost, never doubled."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from azureml_k8s import ComputeTarget
from azureml_k8s import exceptions as e
from faults.harness import Rig, about, check_secrecy, check_trust

#: Failures that leave open whether the service did what was asked.
UNSETTLED: dict[str, dict[str, Any]] = {
    **{str(status): {"status": status} for status in (408, 500, 502, 503, 504)},
    "reset": {"reset": True},
    "HTML 502": {"status": 502, "html": True},
    "slow": {"delay_s": 1000},
    "cut": {"truncate": True},
    "no JSON": {"body": "{nope"},
}
#: These happen to the answer only, so the request has always taken effect.
TAKES_EFFECT = ("slow", "cut", "no JSON")
REFUSALS: dict[str, tuple[dict[str, Any], tuple[float, float]]] = {
    "429": ({"status": 429}, (0.8, 1)),
    "429, wait 7": ({"status": 429, "headers": {"Retry-After": "7"}}, (7, 7)),
    "503, wait 7": ({"status": 503, "headers": {"Retry-After": "7"}}, (7, 7)),
    "503, wait 7 in ms": ({"status": 503, "headers": {"x-ms-retry-after-ms": "7000"}}, (7, 7)),
}


def attach(rig: Rig, **more: Any) -> Any:
    return ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration, **more)


def is_attached(rig: Rig) -> bool:
    found = rig.compute_in_service()
    return found is not None and found["properties"]["provisioningState"] == "Succeeded"


@pytest.mark.parametrize("fault", [name for name in UNSETTLED if name not in TAKES_EFFECT])
def test_a_put_that_was_not_done_is_sent_again_after_a_look(rig: Rig, fault: str) -> None:
    """The PUT did not arrive: the compute is read, is absent, and the PUT is sent again (azure-cli#28139, third)."""
    rig.faults.add(about("put"), **UNSETTLED[fault])
    attach(rig).wait_for_completion()
    assert rig.kinds()[:5] == ["compute", "workspace", "put", "compute", "put"]
    assert rig.count("put") == 2
    assert is_attached(rig)
    check_trust(rig.sent)


@pytest.mark.parametrize("fault", UNSETTLED)
def test_a_put_that_was_done_is_not_sent_again(rig: Rig, fault: str) -> None:
    """The PUT arrived though its answer was lost: the wait goes on with what is there (azure-cli#28139, second)."""
    rig.faults.add(about("put"), after=True, **UNSETTLED[fault])
    attach(rig).wait_for_completion()
    assert rig.kinds()[:4] == ["compute", "workspace", "put", "compute"]
    assert rig.count("put") == 1
    assert is_attached(rig)


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_refused_put_is_sent_again_without_a_look(rig: Rig, fault: str) -> None:
    """429, and 503 with Retry-After, say that nothing was done: the same PUT goes out after the delay."""
    script, (least_s, most_s) = REFUSALS[fault]
    rig.faults.add(about("put"), **script)
    attach(rig)
    assert rig.kinds() == ["compute", "workspace", "put", "put"]
    assert least_s <= sum(rig.clock.naps_s) <= most_s


@pytest.mark.parametrize("fault", [name for name in UNSETTLED if name not in TAKES_EFFECT])
def test_a_put_that_never_gets_through_ends_in_bounded_time(rig: Rig, fault: str) -> None:
    """When no try is left, the error says that the request may still take effect, and what to do."""
    rig.faults.add(about("put"), every=1, **UNSETTLED[fault])
    with pytest.raises(e.ComputeTargetException) as caught:
        attach(rig)
    assert caught.value.operation_may_run
    assert "may still take effect" in str(caught.value)
    assert 5 <= rig.count("put") <= 6
    assert sum(rig.clock.naps_s) <= 30


def test_a_put_and_looks_that_all_fail_share_one_budget(rig: Rig) -> None:
    """The pauses of the PUT and of the looks between its tries come out of the same 30 s."""
    rig.faults.add(about("put"), every=1, status=500)
    rig.faults.add(lambda request: about("compute")(request) and rig.count("put") > 0, every=1, status=500)
    with pytest.raises(e.ServiceException) as caught:
        attach(rig)
    assert caught.value.operation_may_run
    assert rig.count("put") == 1
    assert sum(rig.clock.naps_s) <= 30


def test_looks_that_sometimes_fail_do_not_stretch_the_budget(rig: Rig) -> None:
    """However the failures are spread over PUT and looks, the attach gives up after 30 s of its own pauses."""
    rig.faults.add(about("put"), every=1, status=500)
    looks = {"count": 0}

    def fails(request: Any) -> bool:
        if not about("compute")(request) or rig.count("put") == 0:
            return False
        looks["count"] += 1
        return looks["count"] % 4 != 0

    rig.faults.add(fails, every=1, status=500)
    with pytest.raises(e.ServiceException):
        attach(rig)
    assert sum(rig.clock.naps_s) <= 30


@pytest.mark.parametrize(
    ("fault", "wanted"),
    [
        ({"status": 400}, e.ServiceException),
        ({"status": 401}, e.AuthenticationException),
        ({"status": 403}, e.ForbiddenException),
        ({"status": 409}, e.ConflictException),
        ({"status": 404}, e.NotFoundException),
        ({"status": 429, "headers": {"Retry-After": "2700"}}, e.ThrottledException),
        ({"status": 302, "headers": {"Location": "https://evil.example/"}}, e.UnreachableException),
    ],
)
def test_a_put_that_is_refused_for_good_is_not_repeated(
    rig: Rig, fault: dict[str, Any], wanted: type[e.ComputeTargetException], caplog: pytest.LogCaptureFixture
) -> None:
    """Other statuses end the attach with one PUT (after a 401, two: the second with a new token)."""
    caplog.set_level(logging.DEBUG)
    rig.faults.add(about("put"), every=1, **fault)
    with pytest.raises(wanted) as caught:
        attach(rig)
    assert rig.count("put") == (2 if fault["status"] == 401 else 1)
    assert rig.clock.naps_s == []
    assert rig.compute_in_service() is None
    check_trust(rig.sent)
    check_secrecy(caught.value, caplog.records)


def test_a_401_of_a_put_costs_no_second_effect(rig: Rig) -> None:
    """A PUT that was refused for its token is sent once more with a new one."""
    rig.faults.unauthorized_once(about("put"))
    attach(rig).wait_for_completion()
    assert rig.count("put") == 2
    assert len(rig.credential.asked) == 2
    assert is_attached(rig)


def test_a_page_in_place_of_the_puts_answer_is_no_answer(rig: Rig) -> None:
    """A 200 with HTML after a PUT tells nothing: what is there decides, and the PUT is not sent again."""
    rig.faults.add(about("put"), html=True, after=True)
    attach(rig).wait_for_completion()
    assert rig.count("put") == 1
    assert is_attached(rig)


def test_a_page_in_place_of_the_put_says_what_to_do(rig: Rig) -> None:
    """A proxy that answers the PUT with its page, and lets the look through: told with what to do."""
    rig.faults.add(about("put"), html=True)
    with pytest.raises(e.UnreachableException, match="unexpected content type") as caught:
        attach(rig)
    assert caught.value.operation_may_run
    assert "run it again" in str(caught.value)
    assert rig.kinds() == ["compute", "workspace", "put", "compute"]


def test_somebody_else_was_faster(rig: Rig) -> None:
    """A PUT is lost and another's compute is there: a conflict that names the difference, not a second PUT."""

    def other_job(sent: Any) -> None:
        if sent.kind == "put":
            rig.adapter.before = None
            ComputeTarget.attach(rig.another_workspace(), "k8s1", rig.other_configuration)

    rig.faults.add(about("put"), nth=2, reset=True)
    rig.adapter.before = other_job
    with pytest.raises(e.ConflictException, match="namespace") as caught:
        attach(rig)
    assert [one.field for one in caught.value.differences or ()] == ["namespace"]
    assert rig.compute_in_service()["properties"]["properties"]["namespace"] == "other"


def test_a_409_after_a_lost_answer_may_be_our_own_attach(rig: Rig) -> None:
    """The first PUT is at work unseen (504, then 404 for a moment); the second one's 409 leads back to it."""
    rig.faults.add(about("put"), status=504, after=True)
    rig.faults.add(about("compute"), nth=2, status=404)
    attach(rig).wait_for_completion()
    assert rig.kinds()[:6] == ["compute", "workspace", "put", "compute", "put", "compute"]
    assert is_attached(rig)


def test_retry_after_of_an_accepted_put_is_for_polling(rig: Rig) -> None:
    """A 201 with Retry-After is one PUT, and the first poll comes not sooner (azure-sdk-for-python#10778)."""
    rig.emulator.retry_after_s = 10
    attach(rig).wait_for_completion()
    assert rig.count("put") == 1
    put, poll = (next(one for one in rig.sent if one.kind == kind) for kind in ("put", "operation"))
    assert poll.at_s - put.at_s == 10
    assert poll.method == "GET"


# DELETE


@pytest.mark.parametrize("fault", [name for name in UNSETTLED if name not in TAKES_EFFECT])
def test_a_delete_that_was_not_done_is_sent_again_after_a_look(rig: Rig, fault: str) -> None:
    """The compute is still there and not being detached: the DELETE is sent again."""
    target = rig.attached()
    rig.faults.add(about("delete"), **UNSETTLED[fault])
    target.detach()
    assert rig.kinds() == ["delete", "compute", "delete"]
    target.wait_for_completion()
    assert rig.compute_in_service() is None


@pytest.mark.parametrize("fault", [name for name in UNSETTLED if name != "no JSON"])
def test_a_delete_that_was_done_is_not_sent_again(rig: Rig, fault: str) -> None:
    """The compute is being detached, or gone: the wait goes on with it."""
    target = rig.attached()
    rig.faults.add(about("delete"), after=True, **UNSETTLED[fault])
    target.detach()
    target.wait_for_completion()
    assert rig.count("delete") == 1
    assert rig.compute_in_service() is None


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_refused_delete_is_sent_again_without_a_look(rig: Rig, fault: str) -> None:
    """As for PUT."""
    target = rig.attached()
    script, (least_s, most_s) = REFUSALS[fault]
    rig.faults.add(about("delete"), **script)
    target.detach()
    assert rig.kinds() == ["delete", "delete"]
    assert least_s <= sum(rig.clock.naps_s) <= most_s


@pytest.mark.parametrize("fault", [name for name in UNSETTLED if name not in TAKES_EFFECT])
def test_a_delete_that_never_gets_through_ends_in_bounded_time(rig: Rig, fault: str) -> None:
    """The error says that the request may still take effect; the compute stays."""
    target = rig.attached()
    rig.faults.add(about("delete"), every=1, **UNSETTLED[fault])
    with pytest.raises(e.ComputeTargetException) as caught:
        target.detach()
    assert caught.value.operation_may_run
    assert 5 <= rig.count("delete") <= 6
    assert sum(rig.clock.naps_s) <= 30
    assert is_attached(rig)


def test_a_proxys_404_page_is_no_detach(rig: Rig) -> None:
    """A page that says 404 is not the service's word that the compute is gone."""
    target = rig.attached()
    rig.faults.add(about("delete"), status=404, html=True)
    with pytest.raises(e.ServiceException) as caught:
        target.detach()
    assert not isinstance(caught.value, e.NotFoundException)
    assert is_attached(rig)


@pytest.mark.parametrize("fault", [{"status": 404}, {"status": 204}])
def test_a_compute_that_is_gone_is_detached(rig: Rig, fault: dict[str, Any]) -> None:
    """404 and 204 of the DELETE mean that there is nothing to detach."""
    target = rig.attached()
    rig.emulator.world.remove(str(target.id))
    rig.faults.add(about("delete"), **fault)
    target.detach()
    target.wait_for_completion()
    assert rig.count("delete") == 1


# replace


@pytest.mark.parametrize("kind", ["put", "delete"])
def test_within_replace_a_409_is_repeated(rig: Rig, kind: str) -> None:
    """The service may go on with what it said was done: 409 is repeated, for the DELETE and for the PUT."""
    rig.attached(rig.other_configuration)
    rig.faults.add(about(kind), status=409, times=5)
    attach(rig, replace=True).wait_for_completion()
    assert rig.count(kind) == 6
    assert rig.compute_in_service()["properties"]["properties"]["namespace"] == "team"


@pytest.mark.parametrize("kind", ["put", "delete"])
def test_within_replace_a_409_is_repeated_for_five_minutes(rig: Rig, kind: str) -> None:
    """A conflict that stays ends the replace after 300 s, with the old configuration in the error."""
    rig.attached(rig.other_configuration)
    rig.faults.add(about(kind), status=409, every=1)
    with pytest.raises(e.ConflictException) as caught:
        attach(rig, replace=True)
    old = caught.value.old_configuration
    assert (old and (old.resource_id, old.namespace)) == (rig.emulator.aks_id, "other")
    assert 250 <= sum(rig.clock.naps_s) <= 310


@pytest.mark.parametrize("fault", UNSETTLED)
@pytest.mark.parametrize("kind", ["put", "delete"])
@pytest.mark.parametrize("after", [False, True])
def test_replace_outlives_one_failure(rig: Rig, kind: str, fault: str, after: bool) -> None:
    """One failure in either half, before or after it took effect: the new settings are there at the end, once."""
    rig.attached(rig.other_configuration)
    rig.faults.add(about(kind), after=after, **UNSETTLED[fault])
    attach(rig, replace=True).wait_for_completion()
    assert rig.compute_in_service()["properties"]["properties"]["namespace"] == "team"
    assert is_attached(rig)
    took_effect = after or fault in TAKES_EFFECT
    if not (kind == "delete" and fault in ("cut", "no JSON")):
        assert rig.count(kind) == (1 if took_effect else 2)
    check_trust(rig.sent)


@pytest.mark.parametrize(
    "fault", [{"status": 400}, {"status": 403}, {"status": 500, "every": 1}, {"reset": True, "every": 1}]
)
def test_a_replace_whose_second_half_fails_gives_the_old_settings_back(rig: Rig, fault: dict[str, Any]) -> None:
    """The error carries what was detached, ready to attach again."""
    rig.attached(rig.other_configuration)
    line = rig.faults.add(about("put"), **fault)
    with pytest.raises(e.ComputeTargetException) as caught:
        attach(rig, replace=True)
    line.remove()
    old = caught.value.old_configuration
    assert old is not None
    ComputeTarget.attach(rig.workspace, "k8s1", old).wait_for_completion()
    assert rig.compute_in_service()["properties"]["properties"]["namespace"] == "other"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupted_replace_logs_the_old_settings(rig: Rig, number: int, caplog: pytest.LogCaptureFixture) -> None:
    """Ctrl-C between the halves: nothing is attached, and only the log can tell what was."""
    rig.attached(rig.other_configuration)
    seen: list[object] = []

    def interrupt(one: Any) -> None:
        if one.kind in ("operation", "put") and len(seen) < number:
            seen.append(one)
            if len(seen) == number:
                raise KeyboardInterrupt

    rig.adapter.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        attach(rig, replace=True)
    told = [record.getMessage() for record in caplog.records if "was interrupted" in record.msg]
    assert len(told) == 1
    assert "namespace='other'" in told[0]
