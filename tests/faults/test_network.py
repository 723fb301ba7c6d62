"""Over real sockets on this machine: certificates, proxies, .netrc, drips, sizes, and what urllib3 logs."""

from __future__ import annotations

import gzip
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from azureml_k8s import Cloud, ComputeTarget, KubernetesCompute, Workspace
from azureml_k8s import exceptions as e
from azureml_k8s.emulator import Emulator, EmulatorServer, FakeClock
from faults.harness import SUB, Credential, check_secrecy, texts_of
from faults.servers import RawServer, tunnel

_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*_VARIABLES, *(name.lower() for name in _VARIABLES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(polls=1)


@pytest.fixture
def tls(emulator: Emulator, tmp_path: Path) -> Iterator[EmulatorServer]:
    """A TLS server with a private CA, as behind a corporate proxy."""
    with EmulatorServer(emulator, tls_dir=tmp_path / "tls") as server:
        yield server


def opened(cloud: Cloud, fake: FakeClock, **settings: Any) -> Workspace:
    given: dict[str, Any] = {"credential": Credential(), "clock": fake, "sleep": fake.sleep, **settings}
    return Workspace(SUB, "rg", "ws", cloud=cloud, **given)


def real_cloud(server: EmulatorServer) -> Cloud:
    """A cloud that is no emulator, so that every rule for real ones holds."""
    origin = f"https://localhost:{server.port}"
    return Cloud("private", origin, f"{origin}/.default", "https://login.example")


def lifecycle(workspace: Workspace, emulator: Emulator) -> None:
    configuration = KubernetesCompute.attach_configuration(emulator.aks_id)
    target = ComputeTarget.attach(workspace, "k8s1", configuration)
    target.wait_for_completion()
    assert target.get_status() == "Succeeded"
    target.detach()
    target.wait_for_completion()
    assert ComputeTarget.list(workspace) == []


def test_a_forked_process_has_connections_of_its_own(
    emulator: Emulator, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On its parent's, parent and child would read the answers to each other's requests."""
    connections: list[socket.socket] = []
    seen: list[int] = []

    def answer(connection: socket.socket, _: bytes) -> None:
        connections.append(connection)
        connection.settimeout(0.5)
        while True:
            seen.append(connections.index(connection))
            connection.sendall(answer_of(b'{"value": []}', Content_Length="13"))
            if not connection.recv(65536):
                return

    with RawServer(answer) as server, opened(Cloud.emulator(server.url), clock) as workspace:
        for process in (1, 1, 2, 2):
            monkeypatch.setattr("azureml_k8s._transport.os.getpid", lambda process=process: process)
            ComputeTarget.list(workspace)
    assert seen == [0, 0, 1, 1]


# Certificates


def test_an_unknown_ca_is_told_at_once(tls: EmulatorServer, clock: FakeClock, emulator: Emulator) -> None:
    """Without the CA: certificate verification failed, the variable's name, no retry (MachineLearningNotebooks#836)."""
    with (
        opened(real_cloud(tls), clock) as workspace,
        pytest.raises(e.UnreachableException, match="certificate verification failed") as caught,
    ):
        ComputeTarget.list(workspace)
    assert "REQUESTS_CA_BUNDLE" in str(caught.value)
    assert clock.naps_s == []
    assert emulator.requests == []
    check_secrecy(caught.value, [])


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_private_ca_holds_for_every_call(
    tls: EmulatorServer, clock: FakeClock, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """With the variable set, each call of a lifecycle trusts the CA (azureml-sdk-for-r#210)."""
    monkeypatch.setenv(variable, str(tls.ca_file))
    with opened(real_cloud(tls), clock) as workspace:
        lifecycle(workspace, emulator)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_bundle_that_is_none_is_told_at_once(
    tls: EmulatorServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    """A variable that leads to no file, or to no certificates, is named (azure-sdk-for-python#31450)."""
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_text(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    with (
        opened(real_cloud(tls), clock) as workspace,
        pytest.raises(e.UnreachableException, match="REQUESTS_CA_BUNDLE"),
    ):
        ComputeTarget.list(workspace)
    assert clock.naps_s == []


def test_a_name_with_the_word_in_it_is_no_certificate_error(clock: FakeClock) -> None:
    """A compute named certificate-1 on a dead host is an ordinary connection error, and retried."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        opened(Cloud.emulator(f"http://127.0.0.1:{port}"), clock) as workspace,
        pytest.raises(e.UnreachableException) as caught,
    ):
        ComputeTarget(workspace, "certificate-1")
    assert "REQUESTS_CA_BUNDLE" not in str(caught.value)
    assert len(clock.naps_s) >= 4


# Proxies


def test_every_call_goes_through_the_proxy(
    tls: EmulatorServer, clock: FakeClock, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTPS_PROXY holds for all calls alike; the token is inside the tunnel only (azure-cli#12911)."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tls.ca_file))
    with RawServer(tunnel) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with opened(real_cloud(tls), clock) as workspace:
            lifecycle(workspace, emulator)
    assert proxy.heads
    assert all(head.startswith(f"CONNECT localhost:{tls.port} ".encode()) for head in proxy.heads)
    assert not any(b"opaque" in head for head in proxy.heads)


def test_no_proxy_is_obeyed(
    tls: EmulatorServer, clock: FakeClock, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host in NO_PROXY is reached directly (azure-sdk-for-python#33607)."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tls.ca_file))
    with RawServer(tunnel) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "localhost")
        with opened(real_cloud(tls), clock) as workspace:
            lifecycle(workspace, emulator)
    assert proxy.heads == []


def test_a_proxy_that_refuses_is_named(tls: EmulatorServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy's own failure says so, without the proxy's password."""
    with RawServer(lambda connection, _: connection.sendall(b"HTTP/1.1 407 Proxy Auth\r\n\r\n")) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//user:opaquePassword@"))
        with (
            opened(real_cloud(tls), clock) as workspace,
            pytest.raises(e.UnreachableException, match="HTTPS_PROXY") as caught,
        ):
            ComputeTarget.list(workspace)
    check_secrecy(caught.value, [])


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_an_emulator_is_never_behind_a_proxy(
    emulator: Emulator, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Loopback is reached directly, whatever the variables say."""
    with RawServer(tunnel) as proxy, EmulatorServer(emulator) as server:
        monkeypatch.setenv(variable, proxy.url)
        with opened(Cloud.emulator(server.url), clock) as workspace:
            lifecycle(workspace, emulator)
    assert proxy.heads == []


def test_a_netrc_never_replaces_the_token(
    emulator: Emulator, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A .netrc with a password for the host changes nothing."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password mine\ndefault login me password mine\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with EmulatorServer(emulator) as server, opened(Cloud.emulator(server.url), clock) as workspace:
        lifecycle(workspace, emulator)
    assert {request.headers["Authorization"] for request in emulator.requests} == {"Bearer opaqueOne"}


# Answers without end


def answer_of(body: bytes, **headers: str) -> bytes:
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body


def drip(server: list[RawServer], head: bytes) -> Any:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while not server[0].is_over:
            connection.sendall(b"x")
            time.sleep(0.02)

    return answer


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nX-", b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"],
    ids=["status line", "headers", "body"],
)
def test_a_drip_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    """A byte every 20 ms keeps every read time-out quiet; the bound of the whole answer holds, headers included."""
    monkeypatch.setattr("azureml_k8s._transport.ANSWER_LIMIT_S", 0.4)
    servers: list[RawServer] = []
    with RawServer(drip(servers, head)) as server:
        servers.append(server)
        began_s = time.monotonic()
        with (
            opened(Cloud.emulator(server.url), FakeClock(), sleep=lambda _: None, clock=time.monotonic) as workspace,
            pytest.raises(e.UnreachableException),
        ):
            ComputeTarget.list(workspace)
        assert time.monotonic() - began_s < 5
    assert len(server.heads) == 2


@pytest.mark.parametrize("is_gzip", [False, True])
def test_an_answer_that_is_too_large_is_not_read(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch, is_gzip: bool
) -> None:
    """More than 64 MiB, unpacked, is refused at once, and not asked for again."""
    size = 70 << 20
    body = gzip.compress(b" " * size, 1) if is_gzip else b""

    def answer(connection: socket.socket, _: bytes) -> None:
        if is_gzip:
            connection.sendall(answer_of(body, Content_Length=str(len(body)), Content_Encoding="gzip"))
            return
        connection.sendall(answer_of(b"", Content_Length=str(size)))
        for _ in range(70):
            connection.sendall(b" " * (1 << 20))

    with (
        RawServer(answer) as server,
        opened(Cloud.emulator(server.url), clock) as workspace,
        pytest.raises(e.UnreachableException, match="larger than 64 MiB"),
    ):
        ComputeTarget.list(workspace)
    assert len(server.heads) == 1
    assert clock.naps_s == []


@pytest.mark.parametrize(
    "where", [b"https://evil.example/a", b"http://[evil.example", b"\xff\xfe//evil", b"//a\x1b[31mb"]
)
def test_a_redirect_is_not_read_beyond_the_limit(clock: FakeClock, where: bytes) -> None:
    """Its body is bounded like any other, and an address that is none breaks nothing; both are asked for once."""
    packed = gzip.compress(b" " * (70 << 20), 1)
    head = b"HTTP/1.1 302 Found\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nLocation: %b\r\n\r\n"

    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head % (len(packed), where) + packed)

    with (
        RawServer(answer) as server,
        opened(Cloud.emulator(server.url), clock) as workspace,
        pytest.raises(e.UnreachableException, match="larger than 64 MiB"),
    ):
        ComputeTarget.list(workspace)
    assert len(server.heads) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
    ],
    ids=["nothing", "no HTTP", "cut", "cut chunk", "bad chunk", "no gzip", "many", "long", "status"],
)
def test_a_broken_answer_is_retried_then_told(clock: FakeClock, answer: bytes) -> None:
    """Bytes that are no whole HTTP answer: repeated at least four times, then one error of our own kind."""
    with (
        RawServer(lambda connection, _: connection.sendall(answer)) as server,
        opened(Cloud.emulator(server.url), clock) as workspace,
        pytest.raises(e.UnreachableException),
    ):
        ComputeTarget.list(workspace)
    assert 5 <= len(server.heads) <= 6


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_emulator_that_has_ended_is_told(clock: FakeClock, scheme: str) -> None:
    """A config file outlives the emulator that wrote it: the error asks for the emulator, not for the network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"{scheme}://127.0.0.1:{free.getsockname()[1]}"
        with opened(Cloud.emulator(url), clock) as workspace, pytest.raises(e.UnreachableException) as caught:
            ComputeTarget.list(workspace)
    assert str(caught.value).startswith(f"nothing listens at {url}; is the emulator still running?\n")


def test_a_read_time_out_is_repeated_once(clock: FakeClock) -> None:
    """No answer within the read time-out: one more try, then told."""
    with RawServer(lambda connection, _: time.sleep(0.5)) as server:
        with (
            opened(Cloud.emulator(server.url), clock, read_timeout=0.1) as workspace,
            pytest.raises(e.UnreachableException, match="no answer in time"),
        ):
            ComputeTarget.list(workspace)
        assert len(server.heads) == 2


@pytest.mark.parametrize("path", ["a b", "\u00e9", "%zz", "a|b", '"', "%00", "{x}"])
def test_an_operation_url_of_odd_characters_breaks_nothing(emulator: Emulator, clock: FakeClock, path: str) -> None:
    """A URL of the service's own host with characters that no URL has: our errors, or a look at the compute."""
    with EmulatorServer(emulator) as server, opened(Cloud.emulator(server.url), clock) as workspace:
        configuration = KubernetesCompute.attach_configuration(emulator.aks_id)
        try:
            target = ComputeTarget.attach(workspace, "k8s1", configuration)
            pending = target._pending
            assert pending
            object.__setattr__(pending, "url", f"{server.url}/{path}")
            target.wait_for_completion(timeout=100)
        except e.ComputeTargetException as error:
            check_secrecy(error, [])
        else:
            assert target.get_status() == "Succeeded"


# Logs


def test_the_debug_lines_of_urllib3_show_no_signature(
    emulator: Emulator, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """urllib3 logs each path with its query; the operation URL's signature is masked there too."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "urllib3")  # whose level older releases of the kubernetes package set
    with EmulatorServer(emulator) as server, opened(Cloud.emulator(server.url), clock) as workspace:
        configuration = KubernetesCompute.attach_configuration(emulator.aks_id)
        target = ComputeTarget.attach(workspace, "k8s1", configuration)
        pending = target._pending
        target.wait_for_completion()
    assert pending
    signature = str(pending.url).rpartition("&s=")[2][:40]
    assert "urllib3.connectionpool" in {record.name for record in caplog.records}
    assert "computeOperationsStatus" in caplog.text
    assert signature not in caplog.text
    assert "opaque" not in caplog.text


def test_a_dead_host_shows_no_signature(emulator: Emulator, clock: FakeClock) -> None:
    """requests' own errors name the URL; ours and the chained copy mask its signature."""
    with EmulatorServer(emulator) as server, opened(Cloud.emulator(server.url), clock) as workspace:
        configuration = KubernetesCompute.attach_configuration(emulator.aks_id)
        target = ComputeTarget.attach(workspace, "k8s1", configuration)
        pending = target._pending
        server.stop()
        with pytest.raises(e.UnreachableException) as caught:
            target.wait_for_completion()
    assert pending
    assert str(pending.url).rpartition("&s=")[2][:40] not in texts_of(caught.value)
    assert caught.value.__cause__ is not None
    check_secrecy(caught.value, [])
