"""The fault script by itself: which requests are struck, and what happened to them."""

from __future__ import annotations

import base64

import pytest

from azureml_k8s.emulator import Emulator, FakeClock, RecordedRequest

from .calls import WORKSPACE, Caller, error_of


def statuses(caller: Caller, count: int) -> list[int]:
    """Read the workspace so many times."""
    return [caller.send("GET", WORKSPACE).status for _ in range(count)]


def test_by_default_the_next_request_is_struck_once(caller: Caller, emulator: Emulator) -> None:
    """A line without a count strikes once and then is spent."""
    fault = emulator.faults.add(status=503)
    assert statuses(caller, 3) == [503, 200, 200]
    assert (fault.seen, fault.fired) == (3, 1)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"nth": 2}, [200, 500, 200, 200, 200, 200]),
        ({"nth": 2, "times": 2}, [200, 500, 500, 200, 200, 200]),
        ({"times": 3}, [500, 500, 500, 200, 200, 200]),
        ({"every": 2}, [200, 500, 200, 500, 200, 500]),
        ({"every": 2, "times": 1}, [200, 500, 200, 200, 200, 200]),
        ({"chance": 1.0}, [500] * 6),
        ({"chance": 0.0}, [200] * 6),
    ],
)
def test_counts_say_which_requests_are_struck(
    caller: Caller, emulator: Emulator, when: dict[str, int], expected: list[int]
) -> None:
    """nth, times, every and chance, alone and together."""
    emulator.faults.add(status=500, **when)
    assert statuses(caller, 6) == expected


def test_a_chance_is_repeatable_by_its_seed(caller: Caller, emulator: Emulator) -> None:
    """The same seed strikes the same requests."""
    runs = []
    for _ in range(2):
        emulator.faults.add(status=500, chance=0.5, seed=7)
        runs.append(statuses(caller, 20))
        emulator.faults.clear()
    assert runs[0] == runs[1]
    assert set(runs[0]) == {200, 500}


def test_a_match_is_a_verb_a_part_of_the_url_or_a_function(caller: Caller, emulator: Emulator) -> None:
    """Each narrows down what is struck."""

    def is_second(request: RecordedRequest) -> bool:
        return request.path.endswith("/two")

    emulator.faults.add("COMPUTES/one", every=1, status=500)
    emulator.faults.add(is_second, every=1, status=502)
    emulator.faults.add(method="delete", every=1, status=504)
    found = [caller.compute("GET", name).status for name in ("one", "two", "three")]
    assert [*found, caller.detach("three").status] == [500, 502, 404, 504]


def test_a_removed_line_strikes_no_more(caller: Caller, emulator: Emulator) -> None:
    """Lines can be taken out one by one."""
    fault = emulator.faults.add(every=1, status=500)
    assert statuses(caller, 1) == [500]
    fault.remove()
    assert statuses(caller, 1) == [200]


def test_a_status_keeps_the_request_from_the_service(caller: Caller, emulator: Emulator) -> None:
    """A struck PUT has no effect, but it is recorded; the answer is ARM's error body."""
    emulator.faults.add(method="PUT", status=503, headers={"Retry-After": "7"})
    reply = caller.put()
    assert error_of(reply) == (503, "ServiceUnavailable")
    assert reply.headers["Retry-After"] == "7"
    assert reply.headers["x-ms-response-type"] == "error"
    assert caller.compute("GET", "k8s1").status == 404
    assert [one.method for one in emulator.requests] == ["PUT", "GET"]


def test_after_lets_the_request_take_effect_first(caller: Caller, emulator: Emulator) -> None:
    """The answer is lost or replaced, the compute is there."""
    emulator.faults.add(method="PUT", after=True, status=500)
    assert caller.put().status == 500
    assert caller.compute("GET", "k8s1").status == 200


def test_a_reset_before_and_after_the_effect(caller: Caller, emulator: Emulator) -> None:
    """Both look the same to the client and differ in what the service holds."""
    emulator.faults.reset_before(method="PUT")
    assert caller.put().reset
    assert caller.compute("GET", "k8s1").status == 404
    emulator.faults.reset_after_accept(method="PUT")
    assert caller.put().reset
    assert caller.compute("GET", "k8s1").status == 200


def test_headers_are_set_and_removed_and_the_body_replaced(caller: Caller, emulator: Emulator) -> None:
    """Without a status the real answer is changed, and the request takes effect."""
    emulator.faults.add(method="PUT", headers={"azure-asyncoperation": None, "X-New": "1"}, body={"a": 1})
    reply = caller.put()
    assert (reply.status, reply.json, reply.headers["X-New"]) == (201, {"a": 1}, "1")
    assert "Azure-AsyncOperation" not in reply.headers
    assert caller.compute("GET", "k8s1").status == 200


def test_html_comes_as_a_proxy_sends_it(caller: Caller, emulator: Emulator) -> None:
    """A page with status 200, or any other."""
    emulator.faults.add(html=True)
    emulator.faults.add(html=True, status=502, nth=2)
    for status in (200, 502):
        reply = caller.send("GET", WORKSPACE)
        assert (reply.status, reply.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert reply.body.startswith(b"<!DOCTYPE html>")


def test_several_lines_strike_one_request(caller: Caller, emulator: Emulator) -> None:
    """Effects add up: a slow, dripping, cut answer."""
    emulator.faults.add(delay_s=2)
    emulator.faults.add(delay_s=1, drip_s=0.5)
    emulator.faults.add(truncate=True)
    reply = caller.send("GET", WORKSPACE)
    assert (reply.status, reply.delay_s, reply.drip_s, reply.truncate) == (200, 3, 0.5, True)


def test_an_edit_changes_the_whole_reply(caller: Caller, emulator: Emulator) -> None:
    """For whatever the other arguments cannot say."""
    emulator.faults.add(edit=lambda reply: reply.with_headers(X_Edited="yes"))
    assert caller.send("GET", WORKSPACE).headers["X-Edited"] == "yes"


def test_unauthorized_once_carries_the_claims(caller: Caller, emulator: Emulator) -> None:
    """The challenge holds the claims in base64; the next request works."""
    emulator.faults.unauthorized_once(claims='{"access_token":{}}')
    reply = caller.send("GET", WORKSPACE)
    assert reply.status == 401
    encoded = reply.headers["WWW-Authenticate"].partition('claims="')[2].rstrip('"')
    assert base64.b64decode(encoded) == b'{"access_token":{}}'
    assert statuses(caller, 1) == [200]
    emulator.faults.unauthorized_once()
    assert "invalid_token" in caller.send("GET", WORKSPACE).headers["WWW-Authenticate"]


def test_throttling_by_count(caller: Caller, emulator: Emulator) -> None:
    """So many requests get 429 with the delay."""
    emulator.faults.throttle(retry_after_s=4, times=2)
    replies = [caller.send("GET", WORKSPACE) for _ in range(3)]
    assert [one.status for one in replies] == [429, 429, 200]
    someone = "00000000-0000-0000-0000-000000000000"
    assert replies[0].json["error"] == {
        "code": "SubscriptionRequestsThrottled",
        "message": f"Number of 'read' requests for subscription '{someone}' actor '{someone}' exceeded. "
        "Please try again after '4' seconds.",
    }
    assert replies[0].headers["Retry-After"] == "4"


def test_throttling_by_time_refuses_whoever_comes_early(caller: Caller, emulator: Emulator, clock: FakeClock) -> None:
    """A retry before the delay is over is refused, and told what is left."""
    emulator.faults.throttle_for(10, "/computes")
    told = []
    for nap_s in (0, 4, 5.5, 1):
        clock.sleep(nap_s)
        reply = caller.send("GET", f"{WORKSPACE}/computes")
        told.append((reply.status, reply.headers.get("Retry-After")))
    assert told == [(429, "10"), (429, "6"), (429, "1"), (200, None)]
    assert statuses(caller, 1) == [200]


def test_a_stuck_operation_goes_on_after_clear(caller: Caller, emulator: Emulator) -> None:
    """Neither reads nor reads of the compute move it, until the script is cleared."""
    emulator.faults.stuck_operation()
    reply = caller.put()
    for _ in range(5):
        assert caller.poll(reply).json == {"status": "InProgress"}
        assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Creating"
    emulator.faults.clear()
    assert caller.wait(reply)["status"] == "Succeeded"


def test_a_vanishing_operation_url_lets_the_compute_go_on(caller: Caller, emulator: Emulator) -> None:
    """The URL is 404 after so many good reads; the compute's own state still arrives."""
    emulator.faults.vanishing_operation_url(after_reads=1)
    reply = caller.put()
    assert [caller.poll(reply).status for _ in range(3)] == [200, 404, 404]
    assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Succeeded"


def test_a_forbidden_operation_url(caller: Caller, emulator: Emulator) -> None:
    """As for a caller with rights on the workspace only."""
    emulator.faults.forbidden_operation_url()
    reply = caller.put()
    assert error_of(caller.poll(reply)) == (403, "AuthorizationFailed")


def test_foreign_links_lead_elsewhere_once(caller: Caller, emulator: Emulator) -> None:
    """Operation URL and next link of the next answers point to the host given, path and query kept."""
    emulator.faults.foreign_operation_url("evil.example")
    emulator.faults.foreign_next_link("http://evil.example:81")
    url = caller.put().headers["Azure-AsyncOperation"]
    assert url.startswith("https://evil.example/subscriptions/")
    assert "&service=new&" in url
    assert caller.send("GET", f"{WORKSPACE}/computes").json["nextLink"].startswith("http://evil.example:81/")
    assert "nextLink" not in caller.send("GET", f"{WORKSPACE}/computes").json
    assert caller.detach("nobody").status == 204


def test_fail_next_ends_one_operation_so(caller: Caller, emulator: Emulator) -> None:
    """The request is accepted, the operation fails with code, message, status and details; the next one works."""
    emulator.faults.fail_next("ClusterNotReachable", "no route", status=503, details=[("Inner", "deep")])
    ended = caller.wait(caller.put())
    assert ended == {
        "status": "Failed",
        "error": {
            "code": "ClusterNotReachable",
            "statusCode": 503,
            "message": "no route",
            "details": [{"code": "Inner", "message": "deep"}],
        },
    }
    assert caller.wait(caller.put())["status"] == "Succeeded"


def test_fail_next_can_cancel_and_can_fail_a_detach(caller: Caller, emulator: Emulator) -> None:
    """Canceled is an end state too; a failed detach leaves the compute."""
    emulator.faults.fail_next("Canceled", state="Canceled")
    assert caller.wait(caller.put())["status"] == "Canceled"
    assert caller.compute("GET", "k8s1").json["properties"]["provisioningState"] == "Canceled"
    emulator.fail_next("ScopeLocked")
    assert caller.wait(caller.detach())["status"] == "Failed"
    assert caller.compute("GET", "k8s1").status == 200


def test_fail_next_can_refuse_the_request(caller: Caller, emulator: Emulator) -> None:
    """operation=False refuses the write, in the provider's shape, and changes nothing."""
    emulator.fail_next("QuotaExceeded", "too many", operation=False)
    assert error_of(caller.put()) == (400, "QuotaExceeded")
    assert caller.compute("GET", "k8s1").status == 404
    assert caller.put().status == 201
