"""Small parts: the fake clock, names that resolve, what a missing package says, bounds on what is kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from azureml_k8s import emulator as package
from azureml_k8s.emulator import Emulator, EmulatorError, EmulatorServer, FakeClock, World, _operations, service

from .calls import WORKSPACE, Caller


def test_every_public_name_resolves() -> None:
    """``__all__``, ``dir`` and attribute access agree; others are AttributeErrors."""
    assert [name for name in package.__all__ if getattr(package, name) is None] == []
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="Emulater"):
        _ = package.Emulater


def test_the_fake_clock_moves_by_sleeping_only() -> None:
    """It notes every sleep, and refuses what time.sleep refuses."""
    clock = FakeClock(5)
    clock.sleep(2.5)
    clock.sleep(0)
    assert (clock(), clock(), clock.naps_s) == (7.5, 7.5, [2.5, 0])
    with pytest.raises(ValueError, match="non-negative"):
        clock.sleep(-1)


def test_times_follow_the_clock(caller: Caller, clock: FakeClock) -> None:
    """modifiedOn is as much later as the clock moved."""
    from datetime import datetime

    reply = caller.put()
    clock.sleep(3600)
    caller.wait(reply)
    properties = caller.compute("GET", "k8s1").json["properties"]
    created, modified = (
        datetime.fromisoformat(properties[name][:26] + "+00:00") for name in ("createdOn", "modifiedOn")
    )
    assert (modified - created).total_seconds() == 3600


@pytest.mark.parametrize("value", ["", "not-a-guid", "{", "\r\n"])
def test_a_client_id_that_is_no_guid_is_not_echoed(caller: Caller, value: str) -> None:
    """Nothing that a client invents gets into the answer's headers."""
    mine = {"x-ms-client-request-id": value, "x-ms-correlation-request-id": value}
    headers = caller.send("GET", WORKSPACE, headers={**mine, "x-ms-return-client-request-id": "true"}).headers
    assert "x-ms-client-request-id" not in headers
    assert headers["x-ms-correlation-request-id"] == headers["x-ms-request-id"]


def test_a_world_without_a_cluster_says_so() -> None:
    """The short-cuts to the first cluster name what is missing."""
    with pytest.raises(LookupError, match="managedClusters"):
        _ = Emulator(seed={"resource_groups": ["other"]}).aks_id


def test_extensions_need_a_cluster_that_exists() -> None:
    """Neither another resource nor an absent cluster has extensions."""
    world = World()
    for wrong in (
        world.workspace_id,
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Kubernetes/connectedClusters/c",
    ):
        with pytest.raises(ValueError, match="cluster that exists"):
            world.add_extension(wrong)


def test_a_cluster_in_a_new_subscription_brings_it_along() -> None:
    """Group and subscription come into being, with their providers registered."""
    other = "33333333-3333-3333-3333-333333333333"
    emulator = Emulator()
    cluster = emulator.world.add_aks("far", subscription_id=other, resource_group="new", location="uksouth")
    reply = Caller(emulator).send("GET", cluster, version="2024-09-01")
    assert (reply.status, reply.json["location"]) == (200, "uksouth")


def test_finished_operations_are_forgotten_at_last(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest finished ones go first; a running one is never lost."""
    monkeypatch.setattr(_operations, "_MAX_KEPT", 3)
    first = caller.put("one")
    caller.wait(first)
    running = caller.put("two")
    for name in ("three", "four", "five"):
        caller.wait(caller.put(name))
    assert caller.poll(first).status == 404
    assert caller.poll(running).status == 200


def test_the_request_log_keeps_the_newest(caller: Caller, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that runs for weeks does not grow without end."""
    monkeypatch.setattr(service, "_MAX_RECORDED", 20)
    for number in range(50):
        caller.compute("GET", f"k{number}")
    assert len(emulator.requests) <= 20
    assert emulator.requests[-1].path.endswith("/k49")


def test_without_pyyaml_a_yaml_seed_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON seeds need nothing."""
    (tmp_path / "seed.yaml").write_text("aks: [a]")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(EmulatorError, match=r"azureml-k8s\[cli\]"):
        Emulator(seed=tmp_path / "seed.yaml")


def test_without_cryptography_tls_says_what_to_install(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain HTTP needs nothing."""
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(EmulatorError, match=r"azureml-k8s\[cli\]"):
        EmulatorServer(emulator, tls_dir=tmp_path).start()


def test_an_unreadable_state_file_is_refused(tmp_path: Path) -> None:
    """A folder where the file should be."""
    with pytest.raises(EmulatorError, match="cannot be read"):
        Emulator(state=tmp_path)
