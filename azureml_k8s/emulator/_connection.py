"""One connection to the emulator: HTTP in, the service's reply out, faults included."""

from __future__ import annotations

import contextlib
import http.client
import io
import logging
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from azureml_k8s.emulator._answers import arm_refusal
from azureml_k8s.emulator._http import HOST, Refusal, Reply
from azureml_k8s.emulator.service import MAX_BODY_BYTES, Emulator

__all__ = ["Server"]

_log = logging.getLogger(__name__)
_PIECE_BYTES = 256
_IDLE_S = 60.0


class Server(ThreadingHTTPServer):
    """A thread per connection; knows which connections are open, so that a stop can end them."""

    daemon_threads = True
    block_on_close = False  # an idle connection must not hold up the stop
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        emulator: Emulator,
        log: Callable[[str], object] | None,
        context: ssl.SSLContext | None,
    ) -> None:
        self.emulator, self.log, self.context = emulator, log, context
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        # In the connection's own thread, so that a client that stalls in the handshake stops nobody else.
        request.settimeout(_IDLE_S)
        if self.context is not None:
            request = self.context.wrap_socket(request, server_side=True)
        with self._tracked(request):
            super().finish_request(request, client_address)

    @contextlib.contextmanager
    def _tracked(self, connection: socket.socket) -> Iterator[None]:
        with self._connections_lock:
            self._connections.add(connection)
        try:
            yield
        finally:
            with self._connections_lock:
                self._connections.discard(connection)
            if self.context is not None:
                connection.close()

    def close_connections(self) -> None:
        """End what clients keep open."""
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away, or speaks no TLS, is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    """Reads requests of one connection, one after another."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "azureml-emulator"
    sys_version = ""
    timeout = _IDLE_S
    wbufsize = -1  # one packet per answer, where it fits

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if len(self.raw_requestline) > 65536:
            self.requestline, self.request_version, self.command = "", "HTTP/1.1", ""
            self.send_error(414)
            return
        if not self.raw_requestline:
            self.close_connection = True
            return
        if self.parse_request():
            self._answer()
            self.wfile.flush()

    def handle_expect_100(self) -> bool:
        """Tell a client that asked before it sends its body to go on, at once: it waits for that."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def _answer(self) -> None:
        began_s = time.perf_counter()
        try:
            body = self._body()
        except Refusal as refusal:
            self.close_connection = True  # what follows on the connection cannot be told from the body
            self._send(refusal.reply)
            return
        reply = self._handled(body)
        if reply.delay_s:
            time.sleep(reply.delay_s)
        if self.server.log:
            self.server.log(_line(self.command, self.path, reply, (time.perf_counter() - began_s) * 1_000))
        self._send(reply)

    def _handled(self, body: bytes) -> Reply:
        try:
            return self.server.emulator.handle(self.command, self._url(), dict(self.headers.items()), body)
        except Exception as error:
            _log.exception("the emulator cannot answer %s", self.command)
            return arm_refusal(500, "EmulatorDefect", f"The emulator failed: {type(error).__name__}.").reply

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding"):
            raise arm_refusal(411, "LengthRequired", "The request has no Content-Length.")
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()):
            raise arm_refusal(400, "InvalidRequestContent", "Content-Length must be a number.")
        if len(length) > 12 or int(length) > MAX_BODY_BYTES:
            raise arm_refusal(413, "RequestEntityTooLarge", f"The request is longer than {MAX_BODY_BYTES} bytes.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise arm_refusal(400, "InvalidRequestContent", "The request is shorter than its Content-Length.")
        return body

    def _url(self) -> str:
        host = self.headers.get("Host", "")
        if not HOST.fullmatch(host):
            host = "{}:{}".format(*self.server.server_address[:2])
        return f"{'https' if self.server.context else 'http'}://{host}/{self.path.lstrip('/')}"

    def _send(self, reply: Reply) -> None:
        if reply.reset:
            self._reset()
            return
        self.send_response_only(reply.status, http.client.responses.get(reply.status))
        for name, value in reply.headers.items():
            if name.lower() not in ("content-length", "connection"):
                self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self._send_body(reply)

    def _send_body(self, reply: Reply) -> None:
        sent = reply.body[: len(reply.body) // 2] if reply.truncate else reply.body
        pieces = io.BytesIO(sent)
        while piece := pieces.read(_PIECE_BYTES if reply.drip_s else -1):
            if reply.drip_s:
                self.wfile.flush()
                time.sleep(reply.drip_s)
            self.wfile.write(piece)
        if reply.truncate:
            self.close_connection = True

    def _reset(self) -> None:
        # Linger 0 makes the close a reset, so the client sees ECONNRESET and no orderly end.
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.socket.close(self.connection)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no HTTP request in the shape of every other error."""
        del explain
        self.close_connection = True
        self.request_version = "HTTP/1.1"  # what cannot be read counts as HTTP/0.9, which has no status line
        text = (message or http.client.responses.get(code, "")).encode("ascii", "replace").decode()[:200]
        self._send(arm_refusal(code, "BadRequest", f"The request cannot be read: {text}").reply)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing; the server's own log has a line per request."""


def _line(method: str, target: str, reply: Reply, took_ms: float) -> str:
    path, _, query = target.partition("?")
    parts = path.split("/")
    if "computeOperationsStatus" in parts:
        path, query = f".../computeOperationsStatus/{parts[-1]}", ""  # its signature is as good as a password
    shown = "&".join(one for one in query.split("&") if one.lower().startswith(("underlyingresourceaction", "$skip")))
    outcome = "reset" if reply.reset else str(reply.status)
    return f"{method} {path}{'?' if shown else ''}{shown} -> {outcome} ({took_ms:.0f} ms)"
