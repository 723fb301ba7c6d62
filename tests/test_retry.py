"""The policy: try again, and after how many seconds?"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s._retry import (
    LONGEST_OWN_PAUSE_S,
    MAX_REPEATS,
    OWN_PAUSES_S,
    Fault,
    Outcome,
    Tries,
    backoff_s,
    pause_s,
    poll_pause_s,
    retry_after_s,
)

NOW = datetime(2024, 1, 1, tzinfo=UTC)
STATUSES = st.integers(100, 599)
SECONDS = st.floats(0, 1e6)
JITTER = st.floats(0.8, 1.0)
OUTCOMES = st.builds(Outcome, st.sampled_from(Fault), st.none() | STATUSES, st.none() | SECONDS)


def decide(outcome: Outcome, tries: Tries | None = None, *, time_left_s: float | None = None) -> float | None:
    return pause_s(outcome, tries or Tries(), time_left_s=time_left_s, max_wait_s=600, jitter=1.0)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_statuses_are_repeated(status: int) -> None:
    """Those of the resource-provider contract."""
    assert decide(Outcome(Fault.STATUS, status)) == 1.0


@pytest.mark.parametrize("status", [200, 201, 202, 301, 400, 401, 403, 404, 405, 409, 410, 412, 501, 505, 530])
@pytest.mark.parametrize("asked_s", [None, 10.0])
def test_other_statuses_are_not(status: int, asked_s: float | None) -> None:
    """azure-sdk-for-python#10778: Retry-After makes a repeat only with a passing status."""
    assert decide(Outcome(Fault.STATUS, status, asked_s)) is None


@pytest.mark.parametrize(("fault", "pause"), [(Fault.BROKEN, 1.0), (Fault.SLOW, 1.0), (Fault.CERTIFICATE, None)])
def test_faults_without_a_status(fault: Fault, pause: float | None) -> None:
    """A certificate does not mend itself."""
    assert decide(Outcome(fault)) == pause


def test_a_foreign_answer_is_not_repeated() -> None:
    """A login page stays one, whatever its status."""
    assert decide(Outcome(Fault.FOREIGN, 503)) is None


def test_own_pauses_double_and_end() -> None:
    """1, 2, 4, 8, 15 at the most in 30 seconds; then None."""
    outcome, tries, pauses = Outcome(Fault.STATUS, 500), Tries(), []
    while (pause := decide(outcome, tries)) is not None:
        pauses.append(pause)
        tries = tries.after(outcome, pause)
    assert pauses == [1.0, 2.0, 4.0, 8.0]
    assert sum(pauses) <= OWN_PAUSES_S


def test_a_slow_answer_is_awaited_once_more_only() -> None:
    """Each costs the whole time-out."""
    outcome = Outcome(Fault.SLOW)
    assert decide(outcome, Tries().after(outcome, 1.0)) is None


def test_the_service_is_obeyed_to_the_second() -> None:
    """Its own pause, not ours."""
    assert decide(Outcome(Fault.STATUS, 429, 120.0)) == 120.0
    assert decide(Outcome(Fault.STATUS, 503, 0.5)) == 0.5


def test_too_long_a_pause_is_not_begun() -> None:
    """azure-sdk-for-python#15952: 45 minutes with a limit of 10 is an error at once."""
    assert decide(Outcome(Fault.STATUS, 429, 2700.0)) is None
    assert decide(Outcome(Fault.STATUS, 429, 10.0), time_left_s=9.0) is None
    assert decide(Outcome(Fault.STATUS, 429, 9.0), time_left_s=9.0) == 9.0


def test_pauses_asked_for_are_summed() -> None:
    """The limit is for one call, not for one pause."""
    outcome = Outcome(Fault.STATUS, 429, 400.0)
    assert decide(outcome, Tries().after(outcome, 400.0)) is None


def test_a_pause_asked_for_does_not_use_up_our_own() -> None:
    """Both are counted apart."""
    tries = Tries().after(Outcome(Fault.STATUS, 429, 100.0), 100.0)
    assert decide(Outcome(Fault.STATUS, 500), tries) == 2.0


@pytest.mark.parametrize(
    ("outcome", "refused"),
    [
        (Outcome(Fault.STATUS, 429), True),
        (Outcome(Fault.STATUS, 503, 5.0), True),
        (Outcome(Fault.STATUS, 503), False),
        (Outcome(Fault.STATUS, 503, 0.0), False),
        (Outcome(Fault.STATUS, 500, 5.0), False),
        (Outcome(Fault.BROKEN), False),
    ],
)
def test_only_a_refusal_lets_a_write_be_repeated_blindly(outcome: Outcome, *, refused: bool) -> None:
    """After anything else the service may have done it."""
    assert outcome.is_refusal is refused


@given(OUTCOMES, st.none() | SECONDS, JITTER, st.floats(1, 1e5))
def test_every_series_ends(outcome: Outcome, time_left_s: float | None, jitter: float, max_wait_s: float) -> None:
    """At most MAX_REPEATS repeats, within the limits of seconds."""
    tries = Tries()
    for _ in range(MAX_REPEATS + 1):
        pause = pause_s(outcome, tries, time_left_s=time_left_s, max_wait_s=max_wait_s, jitter=jitter)
        if pause is None:
            break
        assert pause >= 0
        assert time_left_s is None or pause <= time_left_s
        tries = tries.after(outcome, pause)
    else:
        pytest.fail("the series did not end")
    assert tries.purse.own_s <= OWN_PAUSES_S
    assert tries.purse.asked_s <= max_wait_s * (1 + 1e-9)


@given(st.integers(0, 10_000), JITTER)
def test_own_pauses_are_bounded(repeats: int, jitter: float) -> None:
    """However often it was tried."""
    assert 0.8 <= backoff_s(repeats, jitter=jitter) <= LONGEST_OWN_PAUSE_S


@given(st.floats(0, 1e7), st.none() | st.floats(0, 1e5), JITTER)
def test_poll_pauses(elapsed_s: float, asked_s: float | None, jitter: float) -> None:
    """max(1, elapsed / 10) times the jitter, between 1 and 30, never less than Retry-After."""
    pause = poll_pause_s(elapsed_s=elapsed_s, retry_after_s=asked_s, jitter=jitter)
    own = min(30.0, max(1.0, max(1.0, elapsed_s / 10) * jitter))
    assert pause == max(own, asked_s or 0.0)
    assert pause >= 1.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "10"}, 10.0),
        ({"retry-after": " 10 "}, 10.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"x-ms-retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "junk", "retry-after": "3"}, 3.0),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "Mon, 01 Jan 2024 00:01:30"}, 90.0),
        ({"retry-after": "Mon, 99 Jan 2024 00:01:30 GMT"}, None),
    ],
)
def test_every_form_of_the_header(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, HTTP dates; nonsense asks for nothing."""
    assert retry_after_s(headers, now=NOW) == seconds


def test_a_date_is_compared_with_the_servers_own_clock() -> None:
    """The machine's may be wrong by hours."""
    headers = {
        "date": format_datetime(NOW, usegmt=True),
        "retry-after": format_datetime(NOW + timedelta(seconds=30), usegmt=True),
    }
    assert retry_after_s(headers) == 30.0


@given(st.text(max_size=30))
def test_any_header_is_read_or_ignored(text: str) -> None:
    """Never an error, never a negative or endless pause."""
    seconds = retry_after_s({"retry-after": text, "retry-after-ms": text}, now=NOW)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))
