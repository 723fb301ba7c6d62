"""The emulator behind requests, in the same process: for tests, without a socket."""

from __future__ import annotations

import http.client
import io
import time
from collections.abc import Callable, Mapping
from typing import Any

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter

from azureml_k8s.emulator._http import Reply
from azureml_k8s.emulator.service import Emulator

__all__ = ["EmulatorAdapter"]

_PIECE_BYTES = 256


class EmulatorAdapter(BaseAdapter):
    """A transport adapter that answers every request from an emulator, whatever host it goes to.

    It honours time-outs and the fault script as a connection would: a delay longer than the read time-out sleeps the
    time-out and raises requests' ReadTimeout, a reset raises its ConnectionError, a cut or dripping body fails or slows
    the reader.

    Args:
        emulator: Who answers.
        sleep: Called with the seconds of a delay; give a fake clock's in tests.
    """

    def __init__(self, emulator: Emulator, *, sleep: Callable[[float], object] | None = None) -> None:
        super().__init__()
        self._emulator = emulator
        self._sleep = sleep or time.sleep

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Answer a prepared request; the arguments are requests' own."""
        del verify, cert, proxies  # there is no connection
        body = request.body or b""
        reply = self._emulator.handle(
            request.method or "GET",
            request.url or "/",
            dict(request.headers),
            body.encode() if isinstance(body, str) else bytes(body),
        )
        read_timeout_s = timeout[1] if isinstance(timeout, tuple) else timeout
        self._pass(reply, request, read_timeout_s)
        response = _response(request, reply, _Body(reply, self._sleep, read_timeout_s))
        if not stream:
            _ = response.content  # as requests' session does
        return response

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _pass(self, reply: Reply, request: requests.PreparedRequest, read_timeout_s: float | None) -> None:
        if read_timeout_s is not None and reply.delay_s > read_timeout_s:
            self._sleep(read_timeout_s)
            raise requests.ReadTimeout(f"Read timed out. (read timeout={read_timeout_s:g})", request=request)
        if reply.delay_s:
            self._sleep(reply.delay_s)
        if reply.reset:
            reset = ConnectionResetError(104, "Connection reset by peer")
            cause = urllib3.exceptions.ProtocolError("Connection aborted.", reset)
            raise requests.ConnectionError(cause, request=request) from reset


class _Body(io.RawIOBase):
    """The bytes of an answer as they come over a connection: perhaps in drips, perhaps cut off."""

    def __init__(self, reply: Reply, sleep: Callable[[float], object], read_timeout_s: float | None) -> None:
        super().__init__()
        sent = reply.body[: len(reply.body) // 2] if reply.truncate else reply.body
        self._left, self._missing = memoryview(sent), len(reply.body) - len(sent)
        self._drip_s, self._sleep, self._timeout_s = reply.drip_s, sleep, read_timeout_s

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = len(self._left) if size is None or size < 0 else size
        pieces = b""
        while len(pieces) < wanted and self._left:
            pieces += self.read1(wanted - len(pieces))
        if self._missing and (size is None or size < 0):
            raise http.client.IncompleteRead(pieces, self._missing)
        return pieces

    def read1(self, size: int = -1, /) -> bytes:
        if self._drip_s and self._left:
            self._wait()
            size = min(size, _PIECE_BYTES) if size >= 0 else _PIECE_BYTES
        end = len(self._left) if size < 0 else size
        piece, self._left = bytes(self._left[:end]), self._left[end:]
        return piece

    def readinto(self, buffer: Any, /) -> int:
        piece = self.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _wait(self) -> None:
        if self._timeout_s is not None and self._drip_s > self._timeout_s:
            self._sleep(self._timeout_s)
            raise TimeoutError("timed out")
        self._sleep(self._drip_s)


def _response(request: requests.PreparedRequest, reply: Reply, body: _Body) -> requests.Response:
    headers = {name: value for name, value in reply.headers.items() if name.lower() != "content-length"}
    raw = urllib3.HTTPResponse(
        body=body,
        headers={**headers, "Content-Length": str(len(reply.body))},
        status=reply.status,
        reason=http.client.responses.get(reply.status, ""),
        preload_content=False,
        request_method=request.method,
    )
    return HTTPAdapter().build_response(request, raw)
