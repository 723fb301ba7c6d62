"""Requests made by hand, so that the service's rules are tested without a client."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from azureml_k8s.emulator import Emulator, Reply

BASE = "https://management.azure.com"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"
WORKSPACE = f"{GROUP}/providers/Microsoft.MachineLearningServices/workspaces/ws"


class Caller:
    """Sends requests to an emulator as a client would."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator

    def send(
        self,
        method: str,
        path: str,
        *,
        json_body: Any = None,
        version: str | None = "2024-04-01",
        headers: dict[str, str] | None = None,
        **query: str,
    ) -> Reply:
        """Send one request; ``path`` may be a whole URL, which is then used as it is."""
        url = path
        if not path.startswith("https://"):
            parameters = {**({} if version is None else {"api-version": version}), **query}
            url = f"{BASE}{path}?{urlencode(parameters)}"
        body = b"" if json_body is None else json.dumps(json_body).encode()
        return self.emulator.handle(method, url, {"Authorization": "Bearer t", **(headers or {})}, body)

    def compute(self, method: str, name: str, **arguments: Any) -> Reply:
        """Send a request about one compute."""
        return self.send(method, f"{WORKSPACE}/computes/{name}", **arguments)

    def put(self, name: str = "k8s1", *, cluster: str | None = None, **changes: Any) -> Reply:
        """Attach a cluster; ``changes`` go into the inner properties."""
        return self.compute("PUT", name, json_body=attach_body(cluster or self.emulator.aks_id, **changes))

    def attach(self, name: str = "k8s1", **arguments: Any) -> dict[str, Any]:
        """Attach a cluster, wait, and return the compute."""
        self.wait(self.put(name, **arguments))
        return self.compute("GET", name).json

    def detach(self, name: str = "k8s1", action: str = "Detach") -> Reply:
        """Detach a compute."""
        return self.compute("DELETE", name, underlyingResourceAction=action)

    def poll(self, reply: Reply) -> Reply:
        """Read the operation that an accepted request started, once."""
        return self.send("GET", reply.headers["Azure-AsyncOperation"])

    def wait(self, reply: Reply) -> dict[str, Any]:
        """Read the operation until it is over, and return its last body."""
        assert "Azure-AsyncOperation" in reply.headers, (reply.status, reply.body)
        for _ in range(20):
            body = self.poll(reply).json
            if body["status"] != "InProgress":
                return body
        raise AssertionError("the operation does not end")


def attach_body(cluster: str, **inner: Any) -> dict[str, Any]:
    """What a client sends to attach a cluster."""
    properties = {"computeType": "Kubernetes", "resourceId": cluster, "properties": inner}
    return {"location": "westeurope", "properties": properties}


def error_of(reply: Reply) -> tuple[int, str]:
    """Status and code of a refusal."""
    return reply.status, reply.json["error"]["code"]
