"""The policy by itself: pure functions, every form of Retry-After, and what bounds them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import ComputeTarget
from azureml_k8s._retry import Fault, Outcome, Tries, backoff_s, pause_s, poll_pause_s, retry_after_s
from azureml_k8s.exceptions import ComputeTargetException
from faults.harness import Rig, about

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wanted_s"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"x-ms-retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
        ({"retry-after": "Fri, 02 Jan 2026 03:04:35 GMT"}, 30),
        ({"retry-after": "Friday, 02-Jan-26 03:04:35 GMT"}, 30),
        ({"retry-after": "Fri Jan  2 03:04:35 2026"}, 30),
        ({"retry-after": "Fri, 02 Jan 2026 04:04:35 +0100"}, 30),
        ({"retry-after": "Fri, 02 Jan 2026 03:00:00 GMT"}, 0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"retry-after": "-7"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "5 minutes"}, None),
        ({"retry-after": "Fri, 99 Foo 2026 03:04:35 GMT"}, None),
        ({"retry-after": "0x10"}, None),
        ({}, None),
    ],
)
def test_every_form_of_retry_after(headers: dict[str, str], wanted_s: float | None) -> None:
    """Seconds, fractions, dates and ms headers are understood; nonsense is none (azure-sdk-for-go#19118)."""
    found_s = retry_after_s(headers, now=NOW)
    assert found_s == wanted_s


def test_a_date_is_compared_with_the_services_own_clock() -> None:
    """The answer's Date, not this machine's clock, says how long it is until then."""
    later = format_datetime(NOW + timedelta(seconds=90), usegmt=True)
    assert retry_after_s({"retry-after": later, "date": format_datetime(NOW, usegmt=True)}) == 90


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ms-retry-after-ms", "date"]), st.text()))
def test_retry_after_never_raises_and_is_never_negative(headers: dict[str, str]) -> None:
    """Whatever a server sends: None, or finite seconds from zero on."""
    found_s = retry_after_s(headers)
    assert found_s is None or (math.isfinite(found_s) and found_s >= 0)


outcomes = st.builds(
    Outcome,
    st.sampled_from(Fault),
    st.one_of(st.none(), st.sampled_from([200, 400, 403, 404, 408, 409, 429, 500, 502, 503, 504])),
    st.one_of(st.none(), st.floats(0, 1e12)),
)


@given(
    st.lists(outcomes, min_size=60, max_size=60),
    st.one_of(st.none(), st.floats(0, 2000)),
    st.floats(1, 2000),
    st.floats(0.8, 1.0),
)
def test_a_call_always_ends(script: list[Outcome], limit_s: float | None, max_wait_s: float, jitter: float) -> None:
    """At most five repeats, 30 s of own pauses, max_wait of asked ones, one read time-out; never past the deadline."""
    tries, slept_s, slow, asked_s, own_s = Tries(), 0.0, 0, 0.0, 0.0
    for outcome in script:
        left_s = None if limit_s is None else limit_s - slept_s
        nap_s = pause_s(outcome, tries, time_left_s=left_s, max_wait_s=max_wait_s, jitter=jitter)
        if nap_s is None:
            break
        assert outcome.is_passing
        assert nap_s > 0
        slept_s += nap_s
        slow += outcome.fault is Fault.SLOW
        asked_s, own_s = (asked_s + nap_s, own_s) if outcome.retry_after_s else (asked_s, own_s + nap_s)
        tries = tries.after(outcome, nap_s)
    else:
        raise AssertionError("it never gives up")
    assert tries.repeats <= 5
    assert slow <= 1
    assert own_s <= 30
    assert asked_s <= max_wait_s * (1 + 1e-9)
    assert limit_s is None or slept_s <= limit_s * (1 + 1e-9)


@given(st.floats(0, 1e9), st.one_of(st.none(), st.floats(0, 1e9)), st.floats(0.8, 1.0))
def test_the_pace_of_polls(elapsed_s: float, asked_s: float | None, jitter: float) -> None:
    """A tenth of the elapsed time, between 1 and 30 s, never under what the service asks."""
    found_s = poll_pause_s(elapsed_s=elapsed_s, retry_after_s=asked_s, jitter=jitter)
    assert found_s >= max(1.0, asked_s or 0.0)
    assert found_s <= max(30.0, asked_s or 0.0)


@given(st.integers(0, 10**9), st.floats(0.8, 1.0))
def test_back_off_grows_and_is_bounded(repeats: int, jitter: float) -> None:
    """However many repeats, one own pause is 30 s at the most."""
    assert 0.8 <= backoff_s(repeats, jitter=jitter) <= 30


@pytest.mark.parametrize(
    "value", ["soon", "-1", "nan", "Fri, 99 Foo 2026 03:04:35 GMT", "0", "Thu, 01 Jan 1970 00:00:00 GMT"]
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_delay_that_is_none_gives_the_ordinary_back_off(rig: Rig, value: str, status: int) -> None:
    """Nonsense, zero and the past: our own pause, and no exception."""
    rig.faults.add(about("list"), status=status, headers={"Retry-After": value})
    assert ComputeTarget.list(rig.workspace) == []
    (nap_s,) = rig.clock.naps_s
    assert 0.8 <= nap_s <= 1


@pytest.mark.parametrize("name", ["RETRY-AFTER", "retry-after", "Retry-after"])
def test_the_headers_name_counts_in_any_case(rig: Rig, name: str) -> None:
    """Header names have no case."""
    rig.faults.add(about("list"), status=429, headers={name: "4"})
    ComputeTarget.list(rig.workspace)
    assert rig.clock.naps_s == [4]


def test_asked_pauses_add_up_to_the_ceiling(rig: Rig) -> None:
    """Many short delays are one long one: together they stay under max_wait."""
    rig.faults.add(about("list"), status=429, headers={"Retry-After": "250"}, every=1)
    with pytest.raises(ComputeTargetException, match="429"):
        ComputeTarget.list(rig.workspace)
    assert rig.clock.naps_s == [250, 250]
