"""Random fault scripts and random bodies through every verb: only ComputeTargetException comes out, in bounded time."""

from __future__ import annotations

import copy
import json
import logging
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from azureml_k8s import ComputeTarget, ComputeTargetException, KubernetesCompute, Workspace
from faults.harness import SUB, Rig, about, check_secrecy, check_trust

#: The longest that one verb may take on the fake clock: every request slow and dripping, every delay obeyed.
LONGEST_S = 8_000.0


def lifecycle(rig: Rig) -> None:
    target = ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration)
    target.wait_for_completion(timeout=600)
    show(target)
    target.detach()
    target.wait_for_completion(timeout=600)


def replaced(rig: Rig) -> None:
    ComputeTarget.attach(rig.workspace, "k8s1", rig.other_configuration, replace=True).wait_for_completion(timeout=600)


def show(target: ComputeTarget) -> None:
    """Everything that reads what the service sent."""
    for name in dir(type(target)):
        if not name.startswith("_") and not callable(getattr(type(target), name)):
            getattr(target, name)
    repr(target)
    json.dumps(target.serialize())
    json.dumps(target.serialize(include_secrets=True))
    json.dumps(target.status.serialize())


def waited(rig: Rig) -> None:
    target = ComputeTarget(rig.workspace, "k8s1")
    target.wait_for_completion(timeout=300)
    show(target)


def reattached(rig: Rig) -> None:
    show(ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration))


def compared(rig: Rig) -> None:
    for one in KubernetesCompute.compare(rig.workspace, "k8s1", full_configuration(rig)):
        str(one)


def full_configuration(rig: Rig) -> Any:
    return KubernetesCompute.attach_configuration(
        rig.emulator.aks_id,
        "team",
        "UserAssigned",
        [rig.emulator.identity_id],
        default_instance_type="a",
        instance_types={"a": {"nodeSelector": {"x": "y"}, "resources": {"limits": {"cpu": 1}}}},
        tags={"a": "b"},
        description="text",
    )


def listed(rig: Rig) -> None:
    for target in ComputeTarget.list(rig.workspace):
        show(target)
    rig.workspace.compute_targets  # noqa: B018 - reading it sends the request


def described(rig: Rig) -> None:
    workspace = rig.another_workspace()
    for name in ("location", "tags", "sku", "discovery_url"):
        getattr(workspace, name)
    for found in Workspace.list(SUB, **rig.settings).values():
        for one in found:
            assert isinstance(one.location, str)
            repr((one.tags, one.sku, one.discovery_url, one.id))


def got(rig: Rig) -> None:
    Workspace.get("ws", subscription_id=SUB, resource_group="rg", **rig.settings)
    Workspace.get("ws", subscription_id=SUB, **rig.settings)


def read(rig: Rig) -> None:
    target = ComputeTarget(rig.workspace, "k8s1")
    target.get()
    target.get_status()
    show(target)


VERBS: dict[str, Callable[[Rig], None]] = {
    "lifecycle": lifecycle,
    "replace": replaced,
    "wait": waited,
    "attach again": reattached,
    "compare": compared,
    "list": listed,
    "workspace": described,
    "get": got,
    "read": read,
}

texts = st.text(max_size=20) | st.sampled_from(
    [
        "Kubernetes",
        "kubernetes",
        "Succeeded",
        "Failed",
        "Deleting",
        "Creating",
        "2024-01-01T00:00:00Z",
        "2024-01-01",
        "9999-12-31T23:59:59.9999999Z",
        "\ud800",
        "\x00",
        "None",
        "UserAssigned",
        "https://evil.example/",
        "//[",
        "/subscriptions/x",
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
keys = texts | st.sampled_from(
    ["value", "nextLink", "properties", "status", "error", "message", "code", "id", "name", "details", "innererror"]
)
bodies = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
raw_bodies = st.binary(max_size=60) | bodies.map(lambda body: json.dumps(body).encode()) | st.just(b"[" * 3000)
header_values = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x00"), max_size=30) | st.sampled_from(
    ["0", "7", "1e9", "-1", "nan", "Fri, 02 Jan 2026 03:04:35 GMT", "https://evil.example/x", "/relative", "gzip"]
)
headers = st.dictionaries(
    st.sampled_from(
        [
            "Retry-After",
            "retry-after-ms",
            "Location",
            "Azure-AsyncOperation",
            "Content-Type",
            "WWW-Authenticate",
            "Date",
        ]
    ),
    header_values,
    max_size=3,
)
lines = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from([200, 201, 202, 204, 301, 307, 400, 401, 403, 404, 408, 409, 410, 412, 418])
        | st.sampled_from([429, 500, 502, 503, 504, 599]),
        "headers": headers,
        "body": raw_bodies,
        "html": st.booleans(),
        "delay_s": st.sampled_from([0, 1, 29, 31, 1000]),
        "drip_s": st.sampled_from([0, 1, 29, 31]),
        "reset": st.booleans(),
        "truncate": st.booleans(),
        "after": st.booleans(),
    },
)
whens = st.one_of(
    st.fixed_dictionaries({"nth": st.integers(1, 8), "times": st.integers(1, 4)}),
    st.fixed_dictionaries({"every": st.integers(1, 3)}),
    st.fixed_dictionaries({"chance": st.floats(0, 1), "seed": st.integers(0, 99)}),
)
kinds = st.lists(
    st.sampled_from(["put", "delete", "compute", "list", "workspace", "workspaces", "operation"]), min_size=1
)
scripts = st.lists(st.tuples(kinds, whens, lines), min_size=1, max_size=4)

#: More of them, for a night: FAULT_EXAMPLES=2000.
_MANY = settings(
    max_examples=int(os.environ.get("FAULT_EXAMPLES", "30")), deadline=None, suppress_health_check=list(HealthCheck)
)


def run(rig: Rig, verb: str, records: list[logging.LogRecord]) -> None:
    """Do it; what is raised must be ours, in time, and show nothing."""
    began_s = rig.clock()
    error: ComputeTargetException | None = None
    try:
        VERBS[verb](rig)
    except ComputeTargetException as raised:
        error = raised
        str(raised).encode()
    assert rig.clock() - began_s <= LONGEST_S
    check_trust(rig.sent)
    check_secrecy(error, records)


@pytest.mark.parametrize("verb", VERBS)
@_MANY
@given(script=scripts)
def test_random_fault_scripts(verb: str, script: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the faults and their mixture: our errors only, in bounded time, nothing leaked."""
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    rig = Rig()
    if verb not in ("lifecycle",):
        rig.attached()
    for match, when, line in script:
        rig.faults.add(about(*match), **{**when, **line})
    run(rig, verb, caplog.records)


@pytest.mark.parametrize("verb", VERBS)
@_MANY
@given(body=raw_bodies, kind=kinds, status=st.sampled_from([200, 201, 400, 404, 500]), once=st.booleans())
def test_random_bodies(
    verb: str, body: bytes, kind: list[str], status: int, once: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever JSON, or bytes, stand in an answer: our errors only."""
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    rig = Rig()
    if verb not in ("lifecycle",):
        rig.attached()
    rig.faults.add(about(*kind), status=status, body=body, **({"times": 1} if once else {"every": 1}))
    run(rig, verb, caplog.records)


def paths_of(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in JSON."""
    found = [here] if here else []
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        found += paths_of(member, (*here, key))
    return found


@pytest.mark.parametrize("verb", VERBS)
@_MANY
@given(data=st.data(), junk=bodies)
def test_random_members(verb: str, data: st.DataObject, junk: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Real answers with one member of a wrong type: read as far as they go, else our errors only."""
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    rig = Rig()
    if verb not in ("lifecycle",):
        rig.attached(full_configuration(rig))
    choice = data.draw(st.integers(0, 10_000))

    def edit(reply: Any) -> Any:
        from dataclasses import replace

        if not reply.body:
            return reply
        body = copy.deepcopy(reply.json)
        paths = paths_of(body)
        if not paths:
            return reply
        *way, last = paths[choice % len(paths)]
        place = body
        for key in way:
            place = place[key]
        place[last] = junk
        return replace(reply, body=json.dumps(body).encode())

    rig.faults.add(None, every=1, edit=edit)
    run(rig, verb, caplog.records)
