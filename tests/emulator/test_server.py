"""The emulator behind a socket: HTTP, HTTPS, faults, and a stop that leaves nothing open."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from azureml_k8s.emulator import Emulator, EmulatorError, EmulatorServer

from .calls import WORKSPACE, Caller, attach_body

HEADERS = {"Authorization": "Bearer t"}
READ = f"{WORKSPACE}?api-version=2024-04-01"


@pytest.fixture
def server(emulator: Emulator) -> Iterator[EmulatorServer]:
    """A server on a free port."""
    with EmulatorServer(emulator) as server:
        yield server


def raw(server: EmulatorServer, sent: bytes) -> bytes:
    """Send bytes, and return all that comes until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)


def test_links_lead_back_to_the_server(server: EmulatorServer) -> None:
    """The operation URL has the server's scheme, host and port."""
    body = attach_body(server.emulator.aks_id)
    url = f"{server.url}{WORKSPACE}/computes/k8s1?api-version=2024-04-01"
    with requests.Session() as session:
        accepted = session.put(url, json=body, headers=HEADERS, timeout=5)
        assert accepted.status_code == 201
        operation = accepted.headers["Azure-AsyncOperation"]
        assert operation.startswith(f"http://127.0.0.1:{server.port}/subscriptions/")
        assert session.get(operation, headers=HEADERS, timeout=5).json() == {"status": "InProgress"}


def test_one_connection_carries_many_requests(server: EmulatorServer) -> None:
    """HTTP/1.1 keep-alive, also after refusals and answers without a body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    connection.connect()
    first = connection.sock
    for method, path, status in (
        ("GET", READ, 200),
        ("DELETE", f"{WORKSPACE}/computes/no?api-version=2024-04-01&underlyingResourceAction=Detach", 204),
        ("GET", "/nowhere", 501),
        ("HEAD", READ, 405),
        ("GET", READ, 200),
    ):
        connection.request(method, path, headers=HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert (answer.status, connection.sock) == (status, first)
    connection.close()


def test_a_client_that_asks_before_it_sends_its_body_is_told_to_go_on(server: EmulatorServer) -> None:
    """Expect: 100-continue, as curl sends with long bodies, is answered at once and not only with the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        head = f"PUT {WORKSPACE}/computes/k8s1?api-version=2024-04-01 HTTP/1.1\r\nAuthorization: Bearer t\r\n"
        connection.sendall(f"{head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n".encode())
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_the_log_has_a_readable_line_per_request(emulator: Emulator) -> None:
    """Verb, path, status and time; no token, no signature of an operation URL."""
    lines: list[str] = []
    with EmulatorServer(emulator, log=lines.append) as server, requests.Session() as session:
        session.headers.update(HEADERS)
        url = f"{server.url}{WORKSPACE}/computes/k8s1?api-version=2024-04-01"
        accepted = session.put(url, json=attach_body(emulator.aks_id), timeout=5)
        session.get(accepted.headers["Azure-AsyncOperation"], timeout=5)
        session.delete(f"{url}&underlyingResourceAction=detach", timeout=5)
    assert lines[0].startswith(f"PUT {WORKSPACE}/computes/k8s1 -> 201 (")
    assert lines[1].startswith("GET .../computeOperationsStatus/")
    assert lines[1].partition(" -> ")[2].startswith("200 (")
    assert lines[2].startswith(f"DELETE {WORKSPACE}/computes/k8s1?underlyingResourceAction=detach -> 409 (")
    assert len("".join(lines)) < 1_000


def test_faults_travel_over_the_wire(server: EmulatorServer) -> None:
    """A reset, a cut body, a drip and a delay are what a network would make of them."""
    faults, url = server.emulator.faults, server.url + READ
    faults.reset_before()
    with pytest.raises(requests.ConnectionError, match="reset by peer"):
        requests.get(url, headers=HEADERS, timeout=5)
    faults.add(truncate=True)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        requests.get(url, headers=HEADERS, timeout=5)
    faults.add(drip_s=0.01)
    assert requests.get(url, headers=HEADERS, timeout=5).json()["name"] == "ws"
    faults.add(delay_s=0.3)
    with pytest.raises(requests.ReadTimeout):
        requests.get(url, headers=HEADERS, timeout=0.05)
    assert requests.get(url, headers=HEADERS, timeout=5).status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
        (b"PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"PUT / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"PUT / HTTP/1.1\r\nContent-Length: 99\r\n\r\nshort", 400),
        (b"PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        (b"PUT / HTTP/1.1\r\nContent-Length: 4194305\r\n\r\n", 413),
        (b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"\x00 \x00 \x00\r\n\r\n", 400),
    ],
)
def test_what_is_no_good_request_gets_an_error_in_json(server: EmulatorServer, sent: bytes, status: int) -> None:
    """Broken and oversized requests are refused in the shape of every other error, and the connection ends."""
    head, _, body = raw(server, sent).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Connection: close" in head
    assert json.loads(body)["error"]["code"]
    assert requests.get(server.url + READ, headers=HEADERS, timeout=5).status_code == 200


@pytest.mark.parametrize("host", [b"", b"Host: a b\r\n", b"Host: evil\r\nHost: \x00\r\n", b"Host: a/../b\r\n"])
def test_a_strange_host_header_does_not_get_into_links(server: EmulatorServer, host: bytes) -> None:
    """Then the links have the server's own address."""
    request = b"GET /discovery HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n"
    answer = json.loads(raw(server, request).partition(b"\r\n\r\n")[2])
    assert answer["api"] in (f"http://127.0.0.1:{server.port}", "http://evil")


def test_a_defect_is_answered_and_logged(
    server: EmulatorServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever fails inside, the client gets an answer without a traceback, and the server goes on."""

    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(server.emulator, "handle", fail)
    answer = requests.get(server.url + READ, headers=HEADERS, timeout=5)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "EmulatorDefect")
    assert "secret detail" not in answer.text
    assert "secret detail" in caplog.text
    monkeypatch.undo()
    assert requests.get(server.url + READ, headers=HEADERS, timeout=5).status_code == 200


def test_sixteen_clients_at_once_lose_nothing(server: EmulatorServer) -> None:
    """Each attaches and detaches its own computes, all contend for one; every accepted write shows, once."""
    server.emulator.provisioning(polls=1)
    problems: list[object] = []
    accepted: list[int] = []

    def work(number: int) -> None:
        body = attach_body(server.emulator.aks_id)
        with requests.Session() as session:
            session.headers.update(HEADERS)
            shared = f"{server.url}{WORKSPACE}/computes/shared?api-version=2024-04-01"
            accepted.append(session.put(shared, json=body, timeout=30).status_code)
            for turn in range(4):
                url = f"{server.url}{WORKSPACE}/computes/k{number}-{turn}a?api-version=2024-04-01"
                put = session.put(url, json=body, timeout=30)
                ended = session.get(put.headers["Azure-AsyncOperation"], timeout=30).json()
                got = session.get(url, timeout=30).json()
                if (put.status_code, ended["status"], got["name"]) != (201, "Succeeded", f"k{number}-{turn}a"):
                    problems.append((put.status_code, ended, got))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert problems == []
    assert (accepted.count(201), accepted.count(409)) == (1, 15)
    listed = Caller(server.emulator).send("GET", f"{WORKSPACE}/computes").json["value"]
    assert len(listed) == len({one["name"] for one in listed}) == 16 * 4 + 1
    assert len(server.emulator.requests) == 16 * (1 + 4 * 3) + 1


def test_attaches_and_detaches_of_one_name_at_once_end_in_one_state(server: EmulatorServer) -> None:
    """Whatever the order, each accepted write is one operation, the others are told 409, and one state is left."""
    server.emulator.provisioning(polls=1)
    url = f"{server.url}{WORKSPACE}/computes/k8s1?api-version=2024-04-01"
    seen: list[tuple[str, int]] = []

    def work(number: int) -> None:
        with requests.Session() as session:
            session.headers.update(HEADERS)
            for turn in range(6):
                method = ("PUT", "DELETE")[(number + turn) % 2]
                query = "" if method == "PUT" else "&underlyingResourceAction=Detach"
                body = attach_body(server.emulator.aks_id) if method == "PUT" else None
                answer = session.request(method, url + query, json=body, timeout=30)
                seen.append((method, answer.status_code))
                if answer.status_code in (201, 202):
                    session.get(answer.headers["Azure-AsyncOperation"], timeout=30)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(seen) == 8 * 6
    assert {status for method, status in seen if method == "PUT"} <= {201, 409}
    assert {status for method, status in seen if method == "DELETE"} <= {202, 204, 409}
    state = Caller(server.emulator).compute("GET", "k8s1")
    assert state.status == 404 or state.json["properties"]["provisioningState"] == "Succeeded"


def test_a_client_that_stalls_holds_up_nobody(server: EmulatorServer) -> None:
    """An open connection without a request blocks neither others nor the stop."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as idle:
        assert requests.get(server.url + READ, headers=HEADERS, timeout=5).status_code == 200
        began_s = time.monotonic()
        server.stop()
        assert time.monotonic() - began_s < 3
        assert idle.recv(1) == b""


def test_stopping_twice_is_no_error_and_the_port_is_free(emulator: Emulator) -> None:
    """After the stop nobody listens; the address is known only while it runs."""
    server = EmulatorServer(emulator).start()
    port = server.port
    server.stop()
    server.stop()
    with pytest.raises(EmulatorError, match="not started"):
        _ = server.url
    with EmulatorServer(emulator, port=port) as again:
        assert again.port == port


def test_a_taken_port_is_an_error(server: EmulatorServer) -> None:
    """The message names address and port."""
    with pytest.raises(EmulatorError, match=str(server.port)):
        EmulatorServer(server.emulator, port=server.port).start()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_only_loopback_unless_told(emulator: Emulator, host: str) -> None:
    """Other addresses need allow_remote."""
    with pytest.raises(EmulatorError, match="loopback"):
        EmulatorServer(emulator, host)
    with EmulatorServer(emulator, "0.0.0.0", allow_remote=True) as server:
        assert server.port > 0


def test_the_config_file_is_whole_and_opens_the_default_workspace(server: EmulatorServer, tmp_path: Path) -> None:
    """Four keys; the folder is made; a second write replaces the file."""
    folder = tmp_path / "a" / "b"
    assert server.write_config(folder) == server.write_config(folder) == folder / "config.json"
    assert json.loads((folder / "config.json").read_text()) == {
        "subscription_id": "00000000-0000-0000-0000-000000000000",
        "resource_group": "rg",
        "workspace_name": "ws",
        "resource_manager": server.url,
    }
    assert [one.name for one in folder.iterdir()] == ["config.json"]
    (tmp_path / "file").write_text("")
    with pytest.raises(EmulatorError, match="cannot be written"):
        server.write_config(tmp_path / "file")


def test_https_is_trusted_with_the_private_ca_only(emulator: Emulator, tmp_path: Path) -> None:
    """The CA in the folder is enough for a strict client, and needed, under each name of this machine."""
    with EmulatorServer(emulator, tls_dir=tmp_path / "tls") as server:
        assert server.url.startswith("https://127.0.0.1:")
        trusted = {"verify": str(server.ca_file), "headers": HEADERS, "timeout": 5}
        for base in (server.url, f"https://localhost:{server.port}"):
            assert requests.get(base + READ, **trusted).json()["name"] == "ws"
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(server.url + READ, headers=HEADERS, timeout=5)
        context = ssl.create_default_context(cafile=server.ca_file)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        with (
            socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection,
            context.wrap_socket(connection, server_hostname="127.0.0.1") as secure,
        ):
            assert secure.version() in ("TLSv1.2", "TLSv1.3")
        assert requests.get(server.url + READ, **trusted).status_code == 200


def test_faults_travel_over_tls(emulator: Emulator, tmp_path: Path) -> None:
    """A reset and a cut body, below TLS."""
    with EmulatorServer(emulator, tls_dir=tmp_path) as server:
        trusted = {"verify": str(server.ca_file), "headers": HEADERS, "timeout": 5}
        emulator.faults.reset_before()
        with pytest.raises(requests.ConnectionError):
            requests.get(server.url + READ, **trusted)
        emulator.faults.add(truncate=True)
        with pytest.raises(requests.RequestException):
            requests.get(server.url + READ, **trusted)
        assert requests.get(server.url + READ, **trusted).status_code == 200


def test_the_tls_folder_holds_three_files_and_no_ca_key(emulator: Emulator, tmp_path: Path) -> None:
    """The server's key is the owner's alone, even if the file was open to all before; the CA's key is nowhere."""
    (tmp_path / "server.key").write_text("old")
    (tmp_path / "server.key").chmod(0o666)
    with EmulatorServer(emulator, tls_dir=tmp_path):
        assert sorted(one.name for one in tmp_path.iterdir()) == ["ca.pem", "server.key", "server.pem"]
        assert stat.S_IMODE((tmp_path / "server.key").stat().st_mode) == 0o600
        texts = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert [name for name, text in texts.items() if "PRIVATE KEY" in text] == ["server.key"]


def test_a_tls_folder_that_cannot_be_written_is_named(emulator: Emulator, tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "tls").write_text("")
    with pytest.raises(EmulatorError, match="TLS folder"):
        EmulatorServer(emulator, tls_dir=tmp_path / "tls").start()


def test_ipv6_loopback_works(emulator: Emulator) -> None:
    """The URL has brackets."""
    try:
        server = EmulatorServer(emulator, "::1").start()
    except EmulatorError:
        pytest.skip("this machine has no IPv6")
    assert server.url == f"http://[::1]:{server.port}"
    assert requests.get(server.url + READ, headers=HEADERS, timeout=5).status_code == 200
    server.stop()
