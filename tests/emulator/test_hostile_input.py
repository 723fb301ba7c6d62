"""Whatever is sent, the emulator answers: with JSON, with a sensible status, and its world stays whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from azureml_k8s.emulator import Emulator, Reply

from .calls import BASE, SUBSCRIPTION, WORKSPACE, Caller, attach_body

EMULATOR = Emulator(polls=1)
METHODS = st.sampled_from(["GET", "PUT", "PATCH", "POST", "DELETE", "HEAD", "OPTIONS", "", "get", "X" * 50])
WORDS = st.sampled_from(
    [*WORKSPACE.strip("/").split("/"), "computes", "k8s1", "listKeys", "rp", "locations", "westeurope", "register"]
)
SEGMENTS = st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=12)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=12,
)


def check(reply: Reply) -> None:
    """An answer is JSON or empty, its headers fit on a wire, and no defect shows."""
    assert 200 <= reply.status < 502
    assert reply.status != 500
    assert b"Traceback" not in reply.body
    if reply.body:
        json.loads(reply.body)
    for name, value in reply.headers.items():
        assert f"{name}: {value}".encode("latin-1")
        assert not {"\r", "\n"} & {*name, *value}


@settings(max_examples=150, deadline=None)
@given(METHODS, st.text(max_size=200), st.dictionaries(st.text(max_size=20), st.text(max_size=20)), st.binary())
def test_any_request_line_is_answered(method: str, url: str, headers: dict[str, str], body: bytes) -> None:
    """Random verbs, URLs, headers and bytes."""
    check(EMULATOR.handle(method, url, headers, body))


@settings(max_examples=300, deadline=None)
@given(METHODS, SEGMENTS, st.sampled_from(["2024-04-01", "2023-05-01", "", "x"]), st.one_of(st.binary(), JSON))
def test_any_path_of_known_words_is_answered(method: str, segments: list[str], version: str, body: object) -> None:
    """Paths that look almost right, with a token."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    url = f"{BASE}/{'/'.join(segments)}?api-version={version}&underlyingResourceAction=Detach"
    check(EMULATOR.handle(method, url, {"Authorization": "Bearer t"}, sent))


def put_bodies() -> st.SearchStrategy[Any]:
    """Attach bodies of which one member, at any depth, holds something random."""
    spots = [
        *[("location",), ("tags",), ("identity",), ("identity", "type"), ("identity", "userAssignedIdentities")],
        *[("properties", name) for name in ("computeType", "resourceId", "description", "provisioningState")],
        *[("properties", name) for name in ("computeLocation", "disableLocalAuth", "properties")],
        *[("properties", "properties", name) for name in ("namespace", "instanceTypes", "defaultInstanceType")],
        *[("properties", "properties", name) for name in ("extensionInstanceReleaseTrain", "vcName")],
        ("properties", "properties", "instanceTypes", "a"),
    ]

    def place(spot: tuple[str, ...], value: object) -> Any:
        body: Any = attach_body(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/x")
        body["properties"]["resourceId"] = EMULATOR.aks_id
        inner = body
        for name in spot[:-1]:
            inner = inner.setdefault(name, {})
        inner[spot[-1]] = value
        return body

    return st.builds(place, st.sampled_from(spots), JSON)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(["PUT", "PATCH"]), put_bodies())
def test_any_attach_body_is_accepted_or_refused_and_the_rest_still_works(method: str, body: object) -> None:
    """One member at a time is something else: the answer is a status of the table, and reads go on working."""
    caller = Caller(EMULATOR)
    EMULATOR.world.remove(f"{WORKSPACE}/computes/k8s1")
    reply = caller.compute(method, "k8s1", json_body=body)
    check(reply)
    assert reply.status in (201, 400, 404)
    listed = caller.send("GET", f"{WORKSPACE}/computes")
    assert listed.status == 200
    if reply.status == 201:
        caller.wait(reply)
        check(caller.compute("GET", "k8s1"))
        caller.wait(caller.detach())


def test_a_strange_location_does_not_get_into_headers() -> None:
    """The operation's region is the workspace's, so no header holds what a body said."""
    body = {**attach_body(EMULATOR.aks_id), "location": "\r\nX-Evil: 1 \u0101 \ud800"}
    caller = Caller(EMULATOR)
    reply = caller.compute("PUT", "strange", json_body=body)
    check(reply)
    assert reply.status == 201
    caller.wait(reply)
    EMULATOR.world.remove(f"{WORKSPACE}/computes/strange")


@pytest.mark.parametrize("size", [4 * 1024 * 1024 + 1])
def test_a_huge_body_is_413(size: int) -> None:
    """ARM takes 4 MiB."""
    reply = EMULATOR.handle("PUT", f"{BASE}{WORKSPACE}", {"Authorization": "Bearer t"}, b" " * size)
    assert reply.status == 413


class Lifecycles(RuleBasedStateMachine):
    """Any order of writes and reads of a few names, compared with a model of a few lines."""

    NAMES = st.sampled_from(["one", "two", "ONE"])

    def __init__(self) -> None:
        super().__init__()
        self.caller = Caller(Emulator(polls=2))
        self.state: dict[str, str] = {}
        self.reads: dict[str, int] = {}

    def look(self, name: str) -> None:
        """One read of a compute or of its operation."""
        if name not in self.reads:
            return
        self.reads[name] += 1
        if self.reads[name] == 2:
            del self.reads[name]
            if self.state[name] == "Deleting":
                del self.state[name]
            else:
                self.state[name] = "Succeeded"

    @rule(name=NAMES)
    def put(self, name: str) -> None:
        """A PUT is accepted unless something goes on."""
        key = name.lower()
        assert self.caller.put(name).status == (409 if key in self.reads else 201)
        if key not in self.reads:
            self.state[key], self.reads[key] = "Creating", 0

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        """A DELETE is accepted if there is something and nothing goes on."""
        key = name.lower()
        expected = 409 if key in self.reads else 202 if key in self.state else 204
        assert self.caller.detach(name).status == expected
        if expected == 202:
            self.state[key], self.reads[key] = "Deleting", 0

    @rule(name=NAMES)
    def get(self, name: str) -> None:
        """A GET shows the state after this look."""
        key = name.lower()
        self.look(key)
        reply = self.caller.compute("GET", name)
        shown = reply.json["properties"]["provisioningState"] if reply.status == 200 else None
        assert shown == self.state.get(key)

    @invariant()
    def world_holds_just_these(self) -> None:
        """No compute is lost, none is doubled."""
        world = self.caller.emulator.world
        found = [body["name"].lower() for _, body in world.children(f"{WORKSPACE}/computes")]
        assert sorted(found) == sorted(self.state)


TestLifecycles = Lifecycles.TestCase
TestLifecycles.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
