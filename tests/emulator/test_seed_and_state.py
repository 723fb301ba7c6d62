"""What exists at the start: seeds; and what survives a restart: the state file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from azureml_k8s.emulator import Emulator, EmulatorError, FakeClock

from .calls import WORKSPACE, Caller

OTHER = "22222222-2222-2222-2222-222222222222"
SEED: dict[str, Any] = {
    "subscription_id": OTHER,
    "resource_group": "team",
    "workspace_name": "lab",
    "location": "eastus2",
    "aks": ["plain", {"name": "bare", "extension": False}],
    "arc": [{"name": "edge", "properties": {"connectivityStatus": "Offline"}}],
    "identities": ["id-a"],
    "computes": [
        {"name": "cpu", "type": "AmlCompute"},
        {"name": "broken", "type": "Kubernetes", "properties": {"provisioningState": "Failed"}},
    ],
    "providers": {"Microsoft.Kubernetes": "NotRegistered"},
}
YAML = """
subscription_id: 22222222-2222-2222-2222-222222222222
resource_group: team
workspace_name: lab
aks:
  - name: old
    extension: {name: ml, properties: {provisioningState: Failed}}
resources:
  - id: /subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/team/providers/X.Y/z/one
    type: X.Y/z
"""


def test_the_default_world_is_the_documented_one() -> None:
    """Subscription of zeros, rg, ws in westeurope, aks1 and arc1 with the extension, id1."""
    emulator = Emulator()
    assert emulator.subscription_id == "00000000-0000-0000-0000-000000000000"
    assert (emulator.resource_group, emulator.workspace_name, emulator.world.location) == ("rg", "ws", "westeurope")
    assert [one.rsplit("/", 1)[-1] for one in (emulator.aks_id, emulator.arc_id, emulator.identity_id)] == [
        "aks1",
        "arc1",
        "id1",
    ]
    caller = Caller(emulator)
    assert caller.attach("one", cluster=emulator.aks_id)["properties"]["provisioningState"] == "Succeeded"
    assert caller.attach("two", cluster=emulator.arc_id)["properties"]["provisioningState"] == "Succeeded"


def test_a_mapping_describes_another_world() -> None:
    """Names, clusters, computes and registrations are as described; nothing of the default world is left."""
    emulator = Emulator(seed=SEED)
    world = emulator.world
    assert (emulator.subscription_id, emulator.resource_group, emulator.workspace_name) == (OTHER, "team", "lab")
    assert [one["name"] for _, one in world.children(f"{world.workspace_id}/computes")] == ["cpu", "broken"]
    assert emulator.aks_id.endswith("/managedClusters/plain")
    arc = world.find(emulator.arc_id)
    assert arc is not None
    assert arc["properties"]["connectivityStatus"] == "Offline"
    assert arc["properties"]["distribution"] == "k3s"
    assert "rg" not in json.dumps(world.dump()["resources"]).split("/")
    path = f"/subscriptions/{OTHER}/providers/Microsoft.Kubernetes"
    assert Caller(emulator).send("GET", path, version="2021-04-01").json["registrationState"] == "NotRegistered"


def test_seed_files_are_json_or_yaml(tmp_path: Path) -> None:
    """The form follows the content."""
    (tmp_path / "seed.json").write_text(json.dumps(SEED))
    (tmp_path / "seed.yaml").write_text(YAML)
    assert Emulator(seed=tmp_path / "seed.json").world.dump() == Emulator(seed=SEED).world.dump()
    world = Emulator(seed=str(tmp_path / "seed.yaml")).world
    assert [one["name"] for one in world.under(f"/subscriptions/{OTHER}", "X.Y/z") if "name" in one] == []
    assert len(list(world.under(f"/subscriptions/{OTHER}", "X.Y/z"))) == 1


def test_a_seed_of_names_only_keeps_the_default_clusters() -> None:
    """Whoever renames the workspace still has something to attach."""
    emulator = Emulator(seed={"workspace_name": "mine"})
    assert emulator.world.find(emulator.world.workspace_id) is not None
    assert emulator.aks_id.endswith("/aks1")


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ({"clusters": []}, "unknown: clusters"),
        ({"location": 5}, "location must be a text"),
        ({"aks": "one"}, "aks must be a list"),
        ({"aks": [5]}, "every item must be a name or a mapping"),
        ({"aks": [{"extension": True}]}, "name"),
        ({"computes": [{"name": "a", "workspace": "/subscriptions/x"}]}, "needs a workspace"),
        ({"resources": [{"type": "x"}]}, "id"),
        ({"resources": [{"id": "/a/computes/k"}]}, "member name must be a text"),
        ({"aks": [{"name": "a", "properties": None}]}, "member properties.provisioningState must be a text"),
        ({"providers": {"Microsoft.Kubernetes": 1}}, "must be a text"),
        ({"providers": ["Microsoft.Kubernetes"]}, "items"),
    ],
)
def test_a_wrong_seed_says_what_is_wrong(seed: dict[str, Any], said: str) -> None:
    """Unknown keys and wrong types are named."""
    with pytest.raises(EmulatorError, match=said):
        Emulator(seed=seed)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("seed.json", "{", "is no JSON"),
        ("seed.yaml", "a: [", "neither JSON nor YAML"),
        ("seed.yaml", "- a", "one mapping"),
        ("seed.yaml", "!!python/object/apply:os.system [ls]", "neither JSON nor YAML"),
        ("seed.yaml", None, "cannot be read"),
    ],
)
def test_a_seed_file_that_cannot_be_used_is_named(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    """Absent, broken and hostile files are refused."""
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(EmulatorError, match=said) as caught:
        Emulator(seed=path)
    assert name in str(caught.value)


def test_the_state_survives_a_restart(tmp_path: Path) -> None:
    """Computes, running operations and the order of lists go on where they were."""
    path = tmp_path / "state.json"
    before = Caller(Emulator(state=path, polls=3))
    before.attach("one")
    running = before.put("two")
    before.poll(running)
    after = Caller(Emulator(state=path))
    assert after.emulator.world.dump() == before.emulator.world.dump()
    assert after.poll(running).json["status"] == "InProgress"
    assert after.poll(running).json["status"] == "Succeeded"
    assert after.detach("one").status == 202
    assert path.stat().st_mode & 0o777 == 0o600


def test_seconds_go_on_after_a_restart(tmp_path: Path) -> None:
    """What was left of an operation's time is left after the restart, whatever the clock says then."""
    path = tmp_path / "state.json"
    clock, later = FakeClock(5_000), FakeClock(3)
    running = Caller(Emulator(state=path, provisioning_seconds=10, clock=clock)).put()
    after = Caller(Emulator(state=path, clock=later))
    later.sleep(9.5)
    assert after.poll(running).json["status"] == "InProgress"
    later.sleep(0.5)
    assert after.poll(running).json["status"] == "Succeeded"


def test_a_planned_failure_and_its_error_survive_a_restart(tmp_path: Path) -> None:
    """Both what will fail and what has failed is kept."""
    path = tmp_path / "state.json"
    before = Caller(Emulator(state=path))
    before.emulator.faults.fail_next("A", "a", details=[("B", "b")])
    failed = before.wait(running := before.put())
    assert Caller(Emulator(state=path)).poll(running).json == failed
    assert failed["error"]["details"] == [{"code": "B", "message": "b"}]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": 2, "world": {}}', '{"format": 1, "world": 5}'])
def test_a_damaged_state_file_is_refused_and_left_as_it_was(tmp_path: Path, content: str) -> None:
    """Nothing is overwritten: perhaps somebody can still repair it."""
    path = tmp_path / "state.json"
    path.write_text(content)
    with pytest.raises(EmulatorError, match="damaged"):
        Emulator(state=path)
    assert path.read_text() == content


@pytest.mark.parametrize("member", ["id", "kind", "status", "seconds_left", "planned", "extra"])
def test_a_damaged_operation_is_noticed_at_the_start(tmp_path: Path, member: str) -> None:
    """Not only the world is checked before the emulator runs."""
    path = tmp_path / "state.json"
    Caller(Emulator(state=path)).put()
    content = json.loads(path.read_text())
    content["operations"][0][member] = ["x"]
    path.write_text(json.dumps(content))
    with pytest.raises(EmulatorError, match="damaged"):
        Emulator(state=path)


def test_a_state_file_that_cannot_be_written_answers_500(tmp_path: Path) -> None:
    """The client is told; the emulator goes on."""
    folder = tmp_path / "gone"
    folder.mkdir()
    caller = Caller(Emulator(state=folder / "state.json"))
    (folder / "state.json").unlink()
    folder.rmdir()
    assert caller.put().json["error"]["code"] == "StateFileNotWritten"


def test_a_state_file_that_can_never_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    """A folder that does not exist is no surprise for the first request."""
    with pytest.raises(EmulatorError, match=r"absent.state\.json cannot be written"):
        Emulator(state=tmp_path / "absent" / "state.json")


DAMAGE = [None, 7, "x", [], {}]


@given(st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_state_file_with_any_one_damage_is_refused_or_served(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever member is missing or of another type, the start refuses the file, or every request gets an answer."""
    path = tmp_path / "state.json"
    path.unlink(missing_ok=True)
    before = Caller(Emulator(state=path, polls=3))
    running = before.put()
    content = json.loads(path.read_text())
    place = content
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        if not (isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans())):
            break
        place = place[key]
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(st.sampled_from(DAMAGE))
    damaged = json.dumps(content)
    path.write_text(damaged)
    try:
        after = Caller(Emulator(state=path))
    except EmulatorError:
        assert path.read_text() == damaged
        return
    statuses = [after.poll(running).status for _ in range(3)]
    statuses += [after.put("two", cluster=before.emulator.aks_id).status, after.detach().status]
    statuses += [after.compute("GET", "k8s1").status, after.send("GET", f"{WORKSPACE}/computes").status]
    assert 500 not in statuses


def test_no_part_of_a_state_file_is_ever_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a write fails half-way the old file is whole, and no temporary file is left."""
    import os

    path = tmp_path / "state.json"
    caller = Caller(Emulator(state=path))
    caller.attach()
    old = path.read_text()

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert caller.put("two").status == 500
    assert path.read_text() == old
    assert [one.name for one in tmp_path.iterdir()] == ["state.json"]
