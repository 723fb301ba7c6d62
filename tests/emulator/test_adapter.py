"""The emulator behind requests, in process: what a client meets is what a connection would give."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from azureml_k8s.emulator import Emulator, EmulatorAdapter, FakeClock

from .calls import BASE, WORKSPACE

URL = f"{BASE}{WORKSPACE}?api-version=2024-04-01"


@pytest.fixture
def session(emulator: Emulator, clock: FakeClock) -> Iterator[requests.Session]:
    """A session that knows no network."""
    with requests.Session() as session:
        for scheme in ("https://", "http://"):
            session.mount(scheme, EmulatorAdapter(emulator, sleep=clock.sleep))
        session.headers["Authorization"] = "Bearer t"
        yield session


def test_any_host_is_answered(session: requests.Session) -> None:
    """The answer comes whatever host is asked, and its links lead back there."""
    for base in (BASE, "https://management.chinacloudapi.cn"):
        answer = session.get(URL.replace(BASE, base), timeout=5)
        assert (answer.status_code, answer.reason) == (200, "OK")
        assert answer.json()["properties"]["discoveryUrl"] == f"{base}/discovery"


def test_a_body_is_streamed_in_pieces(session: requests.Session) -> None:
    """stream, read and read1 of the raw answer work as urllib3's."""
    whole = session.get(URL, timeout=5).content
    with session.get(URL, stream=True, timeout=5) as answer:
        assert b"".join(answer.raw.stream(7)) == whole
    with session.get(URL, stream=True, timeout=5) as answer:
        assert answer.raw.read(10) + answer.raw.read() == whole
    with session.get(URL, stream=True, timeout=5) as answer:
        pieces = []
        while piece := answer.raw.read1(100):
            pieces.append(piece)
        assert b"".join(pieces) == whole


def test_a_put_arrives_whole(session: requests.Session, emulator: Emulator) -> None:
    """Method, headers and JSON body are what was sent."""
    session.put(URL.replace("/ws?", "/ws/computes/k8s1?"), json={"a": "ü"}, timeout=5)
    request = emulator.requests[-1]
    assert (request.method, request.json) == ("PUT", {"a": "ü"})
    assert request.headers["content-type"] == "application/json"


def test_a_delay_within_the_time_out_is_slept(session: requests.Session, emulator: Emulator, clock: FakeClock) -> None:
    """The answer comes late, on the clock given."""
    emulator.faults.add(delay_s=4)
    assert session.get(URL, timeout=(1, 5)).status_code == 200
    assert clock.naps_s == [4]


@pytest.mark.parametrize("timeout", [3, (10, 3)])
def test_a_delay_beyond_the_time_out_is_a_read_time_out(
    session: requests.Session, emulator: Emulator, clock: FakeClock, timeout: float | tuple[float, float]
) -> None:
    """The time-out passes, then requests' ReadTimeout; a PUT has taken effect by then."""
    emulator.faults.add(delay_s=4)
    with pytest.raises(requests.ReadTimeout):
        session.get(URL, timeout=timeout)
    assert clock.naps_s == [3]


def test_without_time_out_any_delay_is_waited_for(session: requests.Session, emulator: Emulator) -> None:
    """As requests does."""
    emulator.faults.add(delay_s=4_000)
    assert session.get(URL).status_code == 200


def test_a_reset_is_a_connection_error_caused_by_the_reset(session: requests.Session, emulator: Emulator) -> None:
    """The chain is what a socket would give."""
    emulator.faults.reset_before()
    with pytest.raises(requests.ConnectionError) as caught:
        session.get(URL, timeout=5)
    assert isinstance(caught.value.__cause__, ConnectionResetError)


def test_a_truncated_body_fails_while_it_is_read(session: requests.Session, emulator: Emulator) -> None:
    """Status and headers arrive, the body breaks off, read at once or in pieces."""
    emulator.faults.add(truncate=True, times=2)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        session.get(URL, timeout=5)
    with (
        session.get(URL, stream=True, timeout=5) as answer,
        pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"),
    ):
        list(answer.iter_content(100))
    assert answer.status_code == 200


def test_a_truncated_body_fails_for_every_way_to_read_it(session: requests.Session, emulator: Emulator) -> None:
    """Raw reads fail too, whether sized or not."""
    from urllib3.exceptions import ProtocolError

    emulator.faults.add(truncate=True, times=2)
    with session.get(URL, stream=True, timeout=5) as answer, pytest.raises(ProtocolError):
        answer.raw.read()
    with session.get(URL, stream=True, timeout=5) as answer, pytest.raises(ProtocolError):
        list(iter(lambda: answer.raw.read1(100), b""))


def test_a_drip_takes_time_per_piece(session: requests.Session, emulator: Emulator, clock: FakeClock) -> None:
    """Each piece of 256 bytes costs the pause."""
    emulator.faults.add(drip_s=2)
    body = session.get(URL, timeout=5).content
    assert clock.naps_s == [2] * -(-len(body) // 256)


def test_a_drip_slower_than_the_time_out_times_out(
    session: requests.Session, emulator: Emulator, clock: FakeClock
) -> None:
    """A pause between two pieces beyond the read time-out ends the read."""
    emulator.faults.add(drip_s=9)
    with pytest.raises(requests.ConnectionError, match="Read timed out"):
        session.get(URL, timeout=5)
    assert clock.naps_s == [5]


def test_the_adapter_needs_no_arguments_but_the_emulator(emulator: Emulator) -> None:
    """By default delays take real time; closing is no error."""
    adapter = EmulatorAdapter(emulator)
    with requests.Session() as session:
        session.mount("https://", adapter)
        emulator.faults.add(delay_s=0.001)
        assert session.get(URL, timeout=5).status_code == 401
    adapter.close()
