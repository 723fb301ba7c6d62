"""Loopback servers that answer by hand: raw bytes, and a proxy that records."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable, Iterator

_WAIT_S = 10.0


class RawServer:
    """Reads one request per connection and hands the connection to `answer`; a context manager."""

    def __init__(self, answer: Callable[[socket.socket, bytes], None]) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.heads: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def is_over(self) -> bool:
        return self._is_over.is_set()

    def __enter__(self) -> RawServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(_WAIT_S)
        self._listener.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.is_over:
            with contextlib.suppress(TimeoutError):
                connection, _ = self._listener.accept()
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(_WAIT_S)
            head = b""
            while b"\r\n\r\n" not in head and (piece := connection.recv(65536)):
                head += piece
            self.heads.append(head)
            self._answer(connection, head)


def tunnel(connection: socket.socket, head: bytes) -> None:
    """What a proxy does with CONNECT: lead the bytes to and fro."""
    host, _, port = head.split()[1].decode().rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_WAIT_S) as other:
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        for source, target in _arriving(connection, other):
            data = source.recv(65536)
            if not data:
                return
            target.sendall(data)


def _arriving(one: socket.socket, other: socket.socket) -> Iterator[tuple[socket.socket, socket.socket]]:
    while True:
        ready, _, _ = select.select([one, other], [], [], _WAIT_S)
        if not ready:
            return
        for source in ready:
            yield (source, other if source is one else one)
