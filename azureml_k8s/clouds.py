"""Azure's clouds: where the service is, and for what a token is asked.

Every URL and every token scope of this library comes from a `Cloud`. Those of Azure are built in; others (Azure Stack,
a test server) are made in code. Plain http exists for a server on this machine only, through `Cloud.emulator`.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import ClassVar

from azureml_k8s.exceptions import UserErrorException

__all__ = ["DEFAULT_API_VERSION", "Cloud", "check_api_version"]

# The newest version seen in recorded traffic; later ones have the same Kubernetes fields, and sovereign clouds lag.
DEFAULT_API_VERSION = "2024-04-01"

_API_VERSION = re.compile(
    r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(-(private)?preview)?", re.ASCII | re.IGNORECASE
)
# What may stand between "://" and the path. Whatever is not plainly a host and a port is refused, not interpreted:
# parsers disagree on user info, backslashes and non-ASCII dots, and a token must not depend on which one is right.
_AUTHORITY = re.compile(
    r"(?P<host>[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:]+\])(:(?P<port>\d{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#\\\s]+)(?P<rest>[/?#][^\x00-\x1f\x7f]*)?", re.ASCII | re.IGNORECASE
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class _Origin:
    """Scheme, host and port, in one spelling; equal when a browser would call them the same origin."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> tuple[_Origin, str] | None:
        """Split a URL into its origin and the rest; None where it is not plainly absolute http or https."""
        if not (parts := _URL.fullmatch(url)) or not (authority := _AUTHORITY.fullmatch(parts["authority"])):
            return None
        scheme, host = parts["scheme"].lower(), authority["host"].lower()
        port = int(authority["port"] or _DEFAULT_PORTS[scheme])
        if not 0 < port < 65536 or len(host) > 253 or (host[0] == "[" and not _is_ipv6(host[1:-1])):
            return None
        return cls(scheme, host, port), parts["rest"] or ""

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, by its name or by an address in ordinary spelling."""
        if self.host in ("localhost", "[::1]"):
            return True
        try:
            return ipaddress.IPv4Address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _shown(url: str) -> str:
    """Show an address without what may be secret: user information and query."""
    return ascii(re.sub(r"//.*@", "//...@", re.split(r"[?#]", url, maxsplit=1)[0], flags=re.DOTALL)[:200])


def _check_origin(argument: str, value: object) -> _Origin:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    found = _Origin.of(value)
    if found is None or found[1] not in ("", "/"):
        raise UserErrorException(
            f"{argument}: {_shown(value)} is not the address of a server. Give scheme, host and, if needed, port, for "
            "example https://management.azure.com, without user name, path, query or fragment.",
            target=argument,
        )
    return found[0]


def check_api_version(value: object, argument: str = "api_version") -> str:
    """Return an API version unchanged if it is spelled as one; sends nothing.

    Args:
        value: For example ``2024-04-01`` or ``2024-10-01-preview``.
        argument: The name that errors use.

    Raises:
        UserErrorException: It is missing or not a date with an optional ``-preview`` or ``-privatepreview``.
        TypeError: It is not text.
    """
    if value is None:
        raise UserErrorException(f"Missing argument: {argument}.", target=argument)
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    if not _API_VERSION.fullmatch(value):
        raise UserErrorException(
            f"{argument}: {value[:80]!a} is no API version. Give a date such as {DEFAULT_API_VERSION}, "
            "with -preview after it for a preview.",
            target=argument,
        )
    return value


@dataclass(frozen=True)
class Cloud:
    """One cloud: the host that is called, and where and for what its tokens are issued.

    Args:
        name: What it is called in messages.
        resource_manager: Address of Azure Resource Manager; https, no path.
        token_scope: Scope that tokens are asked for, ending in ``/.default``.
        authority: Address of the sign-in service; https, no path (the tenant is not part of it).
        api_version: Version of the service's interface that is spoken, unless a workspace says otherwise.

    Raises:
        UserErrorException: An address is not https or holds more than host and port, or another value is malformed.
        TypeError: A value is not text.
    """

    name: str
    resource_manager: str
    token_scope: str
    authority: str
    api_version: str = DEFAULT_API_VERSION

    is_emulator: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for argument in ("name", "token_scope"):
            _check_text(argument, getattr(self, argument))
        for argument in ("resource_manager", "authority"):
            origin = _check_origin(argument, getattr(self, argument))
            self._check_scheme(argument, origin)
            object.__setattr__(self, argument, str(origin))
        check_api_version(self.api_version)

    def _check_scheme(self, argument: str, origin: _Origin) -> None:
        if origin.scheme != "https":
            raise UserErrorException(
                f"{argument}: {origin} must be https. Plain http is for a server on this machine only, "
                "by Cloud.emulator(url).",
                target=argument,
            )

    @staticmethod
    def named(name: str) -> Cloud:
        """Return a built-in cloud by its name in any letter case.

        Raises:
            UserErrorException: There is none of that name; the message lists the known ones.
            TypeError: The name is not text.
        """
        if not isinstance(name, str):
            raise TypeError(f"cloud must be the name of a cloud or a Cloud, not {type(name).__name__}")
        for cloud in _BUILT_IN:
            if cloud.name.lower() == name.strip().lower():
                return cloud
        known = ", ".join(cloud.name for cloud in _BUILT_IN)
        raise UserErrorException(
            f"cloud: {name[:80]!a} is not known. Known are {known}; for another, give a Cloud(...).", target="cloud"
        )

    @staticmethod
    def of(value: str | Cloud) -> Cloud:
        """Return the cloud itself, or the built-in one of that name; errors as `named`."""
        return value if isinstance(value, Cloud) else Cloud.named(value)

    @staticmethod
    def emulator(url: str, *, api_version: str = DEFAULT_API_VERSION) -> Cloud:
        """Return a cloud that is a server on this machine, over http or https.

        Args:
            url: ``http://127.0.0.1:PORT``, or with another address of 127.0.0.0/8, ``[::1]`` or ``localhost``.
            api_version: As for any cloud.

        Raises:
            UserErrorException: The URL names another host, or holds more than host and port.
            TypeError: The URL is not text.
        """
        origin = str(_check_origin("url", url))
        return _EmulatorCloud("emulator", origin, f"{origin}/.default", origin, api_version)

    @property
    def origin(self) -> str:
        """``scheme://host[:port]`` of Resource Manager, without a default port."""
        return self.resource_manager

    @property
    def host(self) -> str:
        """Host of Resource Manager, in lower case; an IPv6 address in brackets."""
        return _check_origin("resource_manager", self.resource_manager).host

    def owns(self, url: str) -> bool:
        """Whether a URL leads to this cloud's Resource Manager, so that a token may go there.

        Scheme, host (in any letter case) and port (a default one may be left out) must be the same. Not owned is a
        relative URL, one with user information, or with a backslash, blank, control or non-ASCII character before the
        path, or with an ASCII control character anywhere.
        """
        found = _Origin.of(url) if isinstance(url, str) else None
        return found is not None and found[0] == _check_origin("resource_manager", self.resource_manager)


class _EmulatorCloud(Cloud):
    """A cloud on this machine: http is legal, another machine is not."""

    is_emulator: ClassVar[bool] = True

    def _check_scheme(self, argument: str, origin: _Origin) -> None:
        if not origin.is_loopback:
            raise UserErrorException(
                f"{argument}: {origin} is not on this machine. An emulator's address is http://127.0.0.1:PORT, "
                "http://[::1]:PORT or http://localhost:PORT.",
                target=argument,
            )


def _check_text(argument: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    if not value.isprintable() or value != value.strip() or not value:
        raise UserErrorException(
            f"{argument}: {value[:200]!a} is empty or holds blanks or control characters at its ends.", target=argument
        )


_BUILT_IN = (
    Cloud(
        "AzureCloud",
        "https://management.azure.com",
        "https://management.azure.com/.default",
        "https://login.microsoftonline.com",
    ),
    Cloud(
        "AzureChinaCloud",
        "https://management.chinacloudapi.cn",
        "https://management.chinacloudapi.cn/.default",
        "https://login.chinacloudapi.cn",
    ),
    Cloud(
        "AzureUSGovernment",
        "https://management.usgovcloudapi.net",
        # azure-core asks for this audience; the host's own name is another application in that cloud.
        "https://management.core.usgovcloudapi.net/.default",
        "https://login.microsoftonline.us",
    ),
)
