"""Every verb that reads, under every fault: the end, the requests, the pauses, and that nothing leaks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute, Workspace
from azureml_k8s import exceptions as e
from faults.harness import SUB, Rig, about, check_secrecy, check_trust, padded

#: name -> (what is read, make it ready, do it)
VERBS: dict[str, tuple[str, Callable[[Rig], Any], Callable[[Rig, Any], Any]]] = {
    "ComputeTarget()": ("compute", Rig.attached, lambda rig, _: ComputeTarget(rig.workspace, "k8s1")),
    "KubernetesCompute()": ("compute", Rig.attached, lambda rig, _: KubernetesCompute(rig.workspace, "k8s1")),
    "list": ("list", Rig.attached, lambda rig, _: ComputeTarget.list(rig.workspace)),
    "compute_targets": ("list", Rig.attached, lambda rig, _: rig.workspace.compute_targets),
    "get": ("compute", Rig.attached, lambda _, target: target.get()),
    "get_status": ("compute", Rig.attached, lambda _, target: target.get_status()),
    "refresh_state": ("compute", Rig.attached, lambda _, target: target.refresh_state() or True),
    "compare": (
        "compute",
        Rig.attached,
        lambda rig, _: KubernetesCompute.compare(rig.workspace, "k8s1", rig.other_configuration),
    ),
    "Workspace.get": (
        "workspace",
        lambda _: None,
        lambda rig, _: Workspace.get("ws", subscription_id=SUB, resource_group="rg", **rig.settings),
    ),
    "Workspace.list": ("workspaces", lambda _: None, lambda rig, _: Workspace.list(SUB, **rig.settings)),
    "location": ("workspace", lambda _: None, lambda rig, _: rig.workspace.location),
    "get_details": ("workspace", lambda _: None, lambda rig, _: rig.workspace.get_details()),
    "attach again": (
        "compute",
        Rig.attached,
        lambda rig, _: ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration),
    ),
    "attach, location": (
        "workspace",
        lambda _: None,
        lambda rig, _: ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration),
    ),
}


@dataclass(frozen=True)
class Row:
    """A fault, and what comes of it: (least, most) requests of the kind and seconds that passed."""

    fault: dict[str, Any]
    error: type[e.ComputeTargetException] | None = None
    sent: tuple[int, int] = (1, 1)
    passed_s: tuple[float, float] = (0, 0)
    says: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


ONCE, ALWAYS = {"times": 1}, {"every": 1}
RETRIED = {"sent": (2, 2), "passed_s": (0.8, 1)}
GIVEN_UP = {"sent": (5, 6), "passed_s": (12, 30)}

ROWS: dict[str, Row] = {
    **{f"{status} once": Row({"status": status, **ONCE}, **RETRIED) for status in (408, 429, 500, 502, 503, 504)},
    **{
        f"{status} for ever": Row(
            {"status": status, **ALWAYS}, e.ServiceException, **GIVEN_UP, facts={"status_code": status}
        )
        for status in (408, 500, 502, 503, 504)
    },
    "429 for ever": Row({"status": 429, **ALWAYS}, e.ThrottledException, **GIVEN_UP),
    "429, wait 7": Row({"status": 429, "headers": {"Retry-After": "7"}}, None, (2, 2), (7, 7)),
    "503, wait 7": Row({"status": 503, "headers": {"Retry-After": "7"}}, None, (2, 2), (7, 7)),
    "429, wait 120": Row({"status": 429, "headers": {"Retry-After": "120"}}, None, (2, 2), (120, 120)),
    "429, wait 2700": Row(
        {"status": 429, "headers": {"Retry-After": "2700"}},
        e.ThrottledException,
        says="2700 s",
        facts={"retry_after_s": 2700},
    ),
    "503, wait 2700": Row(
        {"status": 503, "headers": {"Retry-After": "2700"}},
        e.ThrottledException,
        says="2700 s",
        facts={"retry_after_s": 2700, "status_code": 503},
    ),
    "429, wait 150 for ever": Row(
        {"status": 429, "headers": {"Retry-After": "150"}, **ALWAYS}, e.ThrottledException, (5, 5), (600, 600)
    ),
    "reset once": Row({"reset": True, **ONCE}, **RETRIED),
    "reset for ever": Row({"reset": True, **ALWAYS}, e.UnreachableException, **GIVEN_UP, says="Connection reset"),
    "cut once": Row({"truncate": True, **ONCE}, **RETRIED),
    "cut for ever": Row({"truncate": True, **ALWAYS}, e.UnreachableException, **GIVEN_UP),
    "slow once": Row({"delay_s": 1000, **ONCE}, None, (2, 2), (30.8, 31)),
    "slow for ever": Row(
        {"delay_s": 1000, **ALWAYS}, e.UnreachableException, (2, 2), (60.8, 61), says="no answer in time"
    ),
    "drip once": Row({"drip_s": 25, "edit": padded, **ONCE}, None, (2, 2), (120, 151)),
    "drip for ever": Row(
        {"drip_s": 25, "edit": padded, **ALWAYS}, e.UnreachableException, (2, 2), (240, 302), says="longer than 120 s"
    ),
    "HTML 200": Row({"html": True, **ALWAYS}, e.UnreachableException, says="unexpected content type text/html"),
    "HTML 502 once": Row({"html": True, "status": 502, **ONCE}, **RETRIED),
    "HTML 502 for ever": Row(
        {"html": True, "status": 502, **ALWAYS}, e.ServiceException, **GIVEN_UP, facts={"status_code": 502}
    ),
    "401 once": Row({"status": 401, **ONCE}, None, (2, 2)),
    "401 for ever": Row(
        {"status": 401, **ALWAYS}, e.AuthenticationException, (2, 2), says="InvalidAuthenticationToken"
    ),
    "403": Row({"status": 403, **ALWAYS}, e.ForbiddenException, says="AuthorizationFailed"),
    "404 page": Row({"status": 404, "html": True, **ALWAYS}, e.ServiceException, facts={"status_code": 404}),
    "409": Row({"status": 409, **ALWAYS}, e.ConflictException, says="Conflict"),
    "400": Row({"status": 400, **ALWAYS}, e.ServiceException, says="400"),
    "redirect": Row(
        {"status": 302, "headers": {"Location": "https://evil.example/?x=1"}, **ALWAYS},
        e.UnreachableException,
        says="evil.example",
    ),
    "redirect to itself": Row(
        {"status": 307, "headers": {"Location": "https://management.azure.com/x"}, **ALWAYS},
        e.UnreachableException,
        says="redirects",
    ),
    "no JSON once": Row({"body": "{nope", **ONCE}, **RETRIED),
    "no JSON for ever": Row({"body": "{nope", **ALWAYS}, e.UnreachableException, **GIVEN_UP, says="no valid JSON"),
    "list for object": Row({"body": [1], **ALWAYS}, e.UnreachableException),
    "text for object": Row({"body": '"x"', **ALWAYS}, e.UnreachableException),
    "empty 200": Row({"body": b"", **ALWAYS}, e.UnreachableException),
    "null": Row({"body": "null", **ALWAYS}, e.UnreachableException),
    "deep": Row({"body": '{"value":' * 5000 + "1" + "}" * 5000, **ALWAYS}, e.UnreachableException, **GIVEN_UP),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_read_under_a_fault(rig: Rig, verb: str, row: Row, caplog: pytest.LogCaptureFixture) -> None:
    """Each read ends as the policy says, in bounded time, and sends nothing but what it must (azure-cli#28139)."""
    caplog.set_level(logging.DEBUG)
    kind, prepare, act = VERBS[verb]
    prepared = prepare(rig)
    rig.forget()
    rig.faults.add(about(kind), **row.fault)
    error = None
    if row.error is None:
        assert act(rig, prepared)
    else:
        with pytest.raises(row.error) as caught:
            act(rig, prepared)
        error = caught.value
        assert row.says in str(error)
        assert {name: getattr(error, name) for name in row.facts} == row.facts
        assert row.error in (type(error), e.ServiceException)
        assert error.client_request_id or "describes" in error.message or "no list" in error.message
    assert row.sent[0] <= rig.count(kind) <= row.sent[1]
    passed_s = rig.clock() - rig.began_s
    assert row.passed_s[0] <= round(passed_s, 6) <= row.passed_s[1]
    assert sum(nap for nap in rig.clock.naps_s if nap < 25) <= 30.0 or "drip" in str(row.fault)
    check_trust(rig.sent)
    check_secrecy(error, caplog.records)


@pytest.mark.parametrize("verb", [name for name in VERBS if name not in ("attach again",)])
def test_an_absent_thing_is_told_at_once(rig: Rig, verb: str) -> None:
    """Absent is absent: one request, no retry, the right kind of error (go-azure-sdk#740)."""
    kind, prepare, act = VERBS[verb]
    prepared = prepare(rig)
    rig.forget()
    code = {"compute": "ComputeNotFound", "list": "ParentResourceNotFound"}.get(kind, "ResourceGroupNotFound")
    rig.faults.add(about(kind), status=404, body={"error": {"code": code, "message": "It was not found."}}, every=1)
    wanted = e.NotFoundException if kind == "compute" else e.ProjectSystemException
    with pytest.raises(wanted, match="not found"):
        act(rig, prepared)
    assert rig.count(kind) == 1
    assert rig.clock.naps_s == []


def test_an_absent_compute_takes_one_request(rig: Rig) -> None:
    """ComputeTarget(ws, "nope") is not found at once, with one request (go-azure-sdk#740, third case)."""
    with pytest.raises(e.NotFoundException) as caught:
        ComputeTarget(rig.workspace, "nope")
    assert caught.value.target == "nope"
    assert rig.kinds() == ["compute"]


def test_each_request_has_both_timeouts(rig: Rig) -> None:
    """The time-outs of the workspace are those of each request."""
    rig.workspace = rig.another_workspace(connect_timeout=3, read_timeout=4)
    target = rig.attached()
    target.get_status()
    target.detach()
    target.wait_for_completion()
    assert {one.timeout for one in rig.sent} == {(3.0, 4.0)}


def test_a_ceiling_of_the_callers_own(rig: Rig) -> None:
    """max_wait is the ceiling of the pauses that the service asks for (azure-sdk-for-python#15952)."""
    rig.workspace = rig.another_workspace(max_wait=60)
    rig.faults.throttle(about("list"), retry_after_s=61)
    with pytest.raises(e.ThrottledException) as caught:
        ComputeTarget.list(rig.workspace)
    assert caught.value.retry_after_s == 61
    rig.faults.throttle(about("list"), retry_after_s=60)
    assert ComputeTarget.list(rig.workspace) == []
    assert rig.clock.naps_s == [60]


def test_a_pause_is_logged_before_it_begins(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """One line tells the delay before the sleep (azure-sdk-for-python#15952, second case)."""
    caplog.set_level(logging.WARNING)
    rig.faults.throttle(about("list"), retry_after_s=120)
    ComputeTarget.list(rig.workspace)
    (record,) = caplog.records
    assert record.name.startswith("azureml_k8s")
    assert record.levelno == logging.WARNING
    assert "120.0 s" in record.getMessage()
