"""An HTTP answer that is over by a deadline, however slowly its status line, headers and body drip in.

A read time-out alone does not bound an answer: it begins anew with every byte that arrives.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any


class BoundedResponse(http.client.HTTPResponse):
    """An answer that raises TimeoutError when it takes longer than `limit_s` seconds, counted from its first read."""

    limit_s = 120.0

    def __init__(self, sock: socket.socket, *args: Any, **settings: Any) -> None:
        super().__init__(sock, *args, **settings)
        arriving = self.fp.detach()
        self.fp = io.BufferedReader(_Arriving(arriving, sock, time.monotonic() + self.limit_s))


class _Arriving(io.RawIOBase):
    """Bytes of a socket, each read of which waits no longer than to the deadline."""

    def __init__(self, arriving: io.RawIOBase, sock: socket.socket, ends_s: float) -> None:
        super().__init__()
        self._arriving, self._sock, self._ends_s = arriving, sock, ends_s
        self._timeout_s = sock.gettimeout()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left_s = self._ends_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the answer took too long")
        self._sock.settimeout(left_s if self._timeout_s is None else min(self._timeout_s, left_s))
        return self._arriving.readinto(buffer)

    def close(self) -> None:
        self._arriving.close()
        super().close()
