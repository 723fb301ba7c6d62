"""The emulator behind HTTP or HTTPS, for people and for other clients."""

from __future__ import annotations

import ipaddress
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from azureml_k8s.emulator._connection import Server
from azureml_k8s.emulator.config_file import write_config_file
from azureml_k8s.emulator.errors import EmulatorError
from azureml_k8s.emulator.service import Emulator

__all__ = ["EmulatorServer"]


class EmulatorServer:
    """Serves an emulator on a socket, until it is stopped; a context manager.

    Args:
        emulator: Who answers.
        host: The address to listen on. Whoever reaches it may do everything, so it is loopback unless
            ``allow_remote`` is given.
        port: The port; 0 takes a free one.
        tls_dir: A folder; given, the server speaks HTTPS, and ``ca.pem``, ``server.pem`` and ``server.key`` are written
            there at every start. The key of the CA is not kept.
        log: Called with one readable line per request.
        allow_remote: Permits an address other than loopback.

    Raises:
        EmulatorError: The address is not loopback, cannot be listened on, or the folder cannot be written.
    """

    def __init__(
        self,
        emulator: Emulator,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        tls_dir: str | Path | None = None,
        log: Callable[[str], object] | None = None,
        allow_remote: bool = False,
    ) -> None:
        if not (allow_remote or _is_loopback(host)):
            raise EmulatorError(
                f"{host} is no loopback address, and anybody who reaches the emulator may change it: if that is wanted,"
                " say so with allow_remote (--allow-remote)"
            )
        self.emulator = emulator
        self._host, self._port, self._log = host, port, log
        self._tls_dir = None if tls_dir is None else Path(tls_dir)
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that it listens on, once it is started."""
        return self._running.server_address[1]

    @property
    def url(self) -> str:
        """Scheme, host and port, without a slash at the end, once it is started."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls_dir else 'http'}://{host}:{self.port}"

    @property
    def ca_file(self) -> Path | None:
        """The certificate that clients must trust (REQUESTS_CA_BUNDLE), None for plain HTTP."""
        return None if self._tls_dir is None else self._tls_dir / "ca.pem"

    def start(self) -> EmulatorServer:
        """Listen, and answer from now on in the background."""
        context = self._context()
        try:
            server = Server((self._host, self._port), self.emulator, self._log, context)
        except OSError as error:
            raise EmulatorError(f"cannot listen on {self._host} port {self._port}: {error}") from error
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="azureml-emulator", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering and close every connection; stopping twice is no error."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.close_connections()
        if self._thread is not None:
            self._thread.join(timeout=5)
            self._thread = None

    def write_config(self, folder: str | Path) -> Path:
        """Write a ``config.json`` that names this server, atomically, and return its path; call it once started."""
        return write_config_file(folder, self.emulator, self.url)

    def __enter__(self) -> EmulatorServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _running(self) -> Server:
        if self._server is None:
            raise EmulatorError("the emulator's server is not started")
        return self._server

    def _context(self) -> ssl.SSLContext | None:
        if self._tls_dir is None:
            return None
        from azureml_k8s.emulator.tls import write_certificates

        certificate, key = write_certificates(self._tls_dir, host=self._host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        return context


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
