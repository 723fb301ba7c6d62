"""The address that stands for a pod in the cluster spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal, TypeAlias

from azureml_k8s.cluster_resolver.pods import Pod

__all__ = ["ADDRESSES", "Address", "Addressing", "join"]

Address: TypeAlias = Literal["pod_ip", "ipv4", "ipv6", "host_ip", "dns"]
ADDRESSES: tuple[Address, ...] = ("pod_ip", "ipv4", "ipv6", "host_ip", "dns")


@dataclass(frozen=True, kw_only=True)
class Addressing:
    """How pods are addressed.

    Attributes:
        address: ``"pod_ip"``: the primary address; ``"ipv4"``, ``"ipv6"``: the first of that family; ``"host_ip"``: the
            node's; ``"dns"``: the name that a headless service gives it; a function: what it returns for the pod.
        port: Put behind each, but for what a function returns.
        cluster_domain: Put behind DNS names, for example ``"cluster.local"``; None for none.
    """

    address: Address | Callable[[Pod], str] = "pod_ip"
    port: int = 8470
    cluster_domain: str | None = None

    def of(self, pod: Pod) -> str:
        """Return the pod's address with a port.

        Raises:
            RuntimeError: It has no such address, or has none yet.
            TypeError: The caller's function returned no text.
        """
        if callable(self.address):
            if not isinstance(address := self.address(pod), str):
                raise TypeError(f'the address function returned {address!r} for pod "{pod.name}", not text')
            return address
        return join(self._host(pod), self.port)

    def is_known(self, pod: Pod) -> bool:
        """Whether the API server has told all that the address is made of; for a wait."""
        if self.address == "host_ip":
            return pod.host_ip is not None
        return self.address == "dns" or pod.pod_ip is not None

    def _host(self, pod: Pod) -> str:
        if self.address == "dns":
            return self._dns_name(pod)
        if self.address == "host_ip":
            return _present(pod.host_ip, pod, what="host IP address")
        primary = _present(pod.pod_ip, pod, what="IP address")
        if self.address == "pod_ip":
            return primary
        return _of_family(pod, 4 if self.address == "ipv4" else 6)

    def _dns_name(self, pod: Pod) -> str:
        if missing := [name for name in ("hostname", "subdomain", "namespace") if getattr(pod, name) is None]:
            verb = "is" if len(missing) == 1 else "are"
            raise RuntimeError(
                f'Pod "{pod.name}" has no DNS name: its {" and ".join(missing)} {verb} not set; '
                'an Indexed Job with a headless service sets them, and address="pod_ip" does without'
            )
        name = f"{pod.hostname}.{pod.subdomain}.{pod.namespace}.svc"
        return f"{name}.{self.cluster_domain}" if self.cluster_domain else name


def join(host: str, port: int | str) -> str:
    """Return ``host:port``, with the brackets that an IPv6 address needs."""
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def _present(value: str | None, pod: Pod, *, what: str) -> str:
    if value is None:
        raise RuntimeError(f'Pod "{pod.name}" has no {what} yet')
    return value


def _of_family(pod: Pod, version: int) -> str:
    for ip in pod.pod_ips:
        try:
            if ip_address(ip.strip("[]")).version == version:
                return ip
        except ValueError:
            continue
    raise RuntimeError(f'Pod "{pod.name}" has no IPv{version} address; it has {", ".join(pod.pod_ips)}')
