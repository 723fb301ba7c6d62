"""A client, an emulated service with a fault script, and a record of all that was sent, slept and said."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests

from azureml_k8s import ComputeTarget, KubernetesCompute, Workspace
from azureml_k8s.emulator import Emulator, EmulatorAdapter, FakeClock

ORIGIN = "https://management.azure.com"
SUB = "00000000-0000-0000-0000-000000000000"
#: No pattern of a secret, so that only its absence helps.
TOKEN = "opaqueOne"


def kind_of(method: str, path: str) -> str:
    """What a request is about: put, delete, compute, list, workspace, workspaces, operation."""
    parts = [part.lower() for part in path.strip("/").split("/")]
    if "computeoperationsstatus" in parts:
        return "operation"
    if method in ("PUT", "DELETE"):
        return method.lower()
    if parts[-1] in ("computes", "workspaces"):
        return {"computes": "list", "workspaces": "workspaces"}[parts[-1]]
    return "compute" if "computes" in parts else "workspace"


def about(*kinds: str) -> Callable[[Any], bool]:
    """A match of the fault script for these kinds."""
    return lambda request: kind_of(request.method, request.path) in kinds


@dataclass(frozen=True)
class Sent:
    """One request that left the client."""

    method: str
    url: str
    kind: str
    headers: Mapping[str, str] = field(repr=False)
    timeout: tuple[float, float] = (0.0, 0.0)
    at_s: float = 0.0


class RecordingAdapter(EmulatorAdapter):
    """The emulator in this process; notes each request before it is answered."""

    def __init__(self, emulator: Emulator, clock: FakeClock) -> None:
        super().__init__(emulator, sleep=clock.sleep)
        self.sent: list[Sent] = []
        self._clock = clock
        self.before: Callable[[Sent], object] | None = None

    def send(self, request: requests.PreparedRequest, stream: bool = False, timeout: Any = None, **more: Any) -> Any:
        url = str(request.url)
        kind = kind_of(str(request.method), urlsplit(url).path)
        one = Sent(str(request.method), url, kind, dict(request.headers), timeout, self._clock())
        self.sent.append(one)
        if self.before:
            self.before(one)
        return super().send(request, stream=stream, timeout=timeout, **more)


@dataclass
class Token:
    token: str
    expires_on: float


class Credential:
    """Gives the tokens in turn, the last one for ever; counts."""

    def __init__(self, *tokens: str, life_s: float = 3600, clock: FakeClock | None = None) -> None:
        self.tokens = tokens or (TOKEN, "opaqueTwo", "opaqueThree")
        self.asked: list[dict[str, Any]] = []
        self.life_s, self._clock = life_s, clock

    def get_token(self, *scopes: str, **arguments: Any) -> Token:
        import time

        text = self.tokens[min(len(self.asked), len(self.tokens) - 1)]
        self.asked.append(arguments)
        return Token(text, time.time() + self.life_s)


class Rig:
    """All of it, wired up; naps are on the fake clock, so tests take no time."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock()
        self.emulator = Emulator(clock=self.clock)
        self.faults = self.emulator.faults
        self.adapter = RecordingAdapter(self.emulator, self.clock)
        self.credential = Credential()
        self.settings = {
            "credential": self.credential,
            "clock": self.clock,
            "sleep": self.clock.sleep,
            "transport": self.adapter,
            **settings,
        }
        self.workspace = self.another_workspace()
        self.configuration = KubernetesCompute.attach_configuration(self.emulator.aks_id, "team")
        self.other_configuration = KubernetesCompute.attach_configuration(self.emulator.aks_id, "other")

    def another_workspace(self, **settings: Any) -> Workspace:
        return Workspace(SUB, "rg", "ws", **{**self.settings, **settings})

    def attached(self, configuration: Any = None) -> KubernetesCompute:
        """A compute named k8s1, Succeeded; the records are cleared."""
        target = ComputeTarget.attach(self.workspace, "k8s1", configuration or self.configuration)
        target.wait_for_completion()
        self.forget()
        return target

    def forget(self) -> None:
        """Clear the records."""
        self.adapter.sent.clear()
        self.clock.naps_s.clear()
        self.began_s = self.clock()

    @property
    def sent(self) -> list[Sent]:
        return self.adapter.sent

    def kinds(self) -> list[str]:
        return [one.kind for one in self.sent]

    def count(self, kind: str) -> int:
        return self.kinds().count(kind)

    def compute_in_service(self, name: str = "k8s1") -> Any:
        """The compute as the service holds it, None if it is absent."""
        path = f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.MachineLearningServices/workspaces/ws"
        return self.emulator.world.find(f"{path}/computes/{name}")


def texts_of(error: BaseException) -> str:
    """What people get to see of an error: text, repr, the facts, the traceback with all that is chained."""
    facts = [f"{name}={value!r}" for name, value in vars(error).items()]
    return "\n".join([str(error), repr(error), *facts, *traceback.format_exception(error)])


def locals_of(error: BaseException) -> str:
    """The library's local variables that tools show beside a traceback."""
    shown = []
    for one in linked(error):
        for frame in traceback.TracebackException.from_exception(one, capture_locals=True).stack:
            if "/azureml_k8s/" in frame.filename and "/emulator/" not in frame.filename:
                shown += [f"{name}={value}" for name, value in (frame.locals or {}).items()]
    return "\n".join(shown)


def linked(error: BaseException) -> Iterator[BaseException]:
    """The error, its causes and its contexts, suppressed ones too."""
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            pending.extend(other for other in (one.__cause__, one.__context__) if other is not None)


def check_trust(sent: list[Sent], origin: str = ORIGIN) -> None:
    """Nothing left for another host, and each request had an id of its own."""
    assert [one.url for one in sent if not one.url.startswith(origin + "/")] == []
    ids = [one.headers["x-ms-client-request-id"] for one in sent]
    assert len(set(ids)) == len(ids)
    assert {one.headers["User-Agent"].partition("/")[0] for one in sent} <= {"azureml-k8s"}


def check_secrecy(error: BaseException | None, records: list[logging.LogRecord]) -> None:
    """No token in what was raised or logged, and no way from the error to the library that was used."""
    said = "\n".join(record.getMessage() for record in records)
    if error is not None:
        said += texts_of(error)
        foreign = [one for one in linked(error) if isinstance(one, requests.RequestException | OSError)]
        assert [one for one in foreign if not type(one).__module__.startswith("azureml_k8s")] == []
        assert TOKEN not in locals_of(error)
        assert "opaqueTwo" not in locals_of(error)
    assert "opaque" not in said


def padded(reply: Any) -> Any:
    """The same JSON, long enough to drip for minutes."""
    from dataclasses import replace

    return replace(reply, body=reply.body + b" " * 4096)
