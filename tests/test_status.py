"""The status of a compute: a text with facts."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from bodies import AKS, GONE, compute, sent
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import ComputeTarget, ComputeTargetException, KubernetesCompute, KubernetesComputeStatus, Workspace
from azureml_k8s.emulator import Emulator

STATES = ["Creating", "Updating", "Deleting", "Succeeded", "Failed", "Canceled", "Unknown"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Failed", "Failed"),
        (GONE, "Unknown"),
        (None, "Unknown"),
        ("", "Unknown"),
        (7, "Unknown"),
        ("Paused", "Paused"),
        ("succeeded", "Succeeded"),
        ("CREATING", "Creating"),
        ("Cancelled", "Canceled"),
        *((state, state) for state in STATES),
    ],
)
def test_the_status_reads_as_its_state(workspace: Workspace, emulator: Emulator, raw: object, shown: str) -> None:
    """azure-sdk-for-python#14147: never None, known words in one spelling, unknown ones unchanged."""
    emulator.world.put(compute())
    emulator.faults.add("computes/k8s1", every=1, body=compute(provisioningState=raw))
    target = ComputeTarget(workspace, "k8s1")
    for status in (target.get_status(), target.status):
        assert isinstance(status, KubernetesComputeStatus)
        assert isinstance(status, str)
        assert status == shown
        assert str(status) == shown
        assert status.provisioning_state == shown
        assert status.lower() == shown.lower()
        assert json.dumps(status) == f'"{shown}"'
        assert f"{status:>10}" == f"{shown:>10}"
        assert {shown: 1}[status] == 1
    assert target.provisioning_state == shown


STRANGE = "Creating\x1b[31m\ud800\u202e\nforged line" + "x" * 5000


def test_strange_words_are_made_fit_to_be_shown(
    workspace: Workspace, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """A state or a type can't command a terminal, forge a line of a log, or fill one."""
    caplog.set_level("DEBUG", "azureml_k8s")
    emulator.world.put(compute(provisioningState=STRANGE))
    target = ComputeTarget(workspace, "k8s1")
    assert target.get_status().startswith("Creating [31m   forged linex")
    with pytest.raises(ComputeTargetException, match="is still Creating") as timed_out:
        target.wait_for_completion(timeout=0)
    emulator.world.put(compute(computeType=STRANGE))
    with pytest.raises(ComputeTargetException, match="is of type Creating") as other_type:
        KubernetesCompute(workspace, "k8s1")
    with pytest.raises(ComputeTargetException, match="is of type Creating") as present:
        ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(AKS))
    with pytest.raises(ComputeTargetException, match="is of type Creating") as refusal:
        ComputeTarget.list(workspace)[0].detach()
    shown = [error.value.message for error in (timed_out, other_type, present, refusal)]
    for text in (*shown, *(record.getMessage() for record in caplog.records if record.name.startswith("azureml_k8s"))):
        assert text.isprintable()
        assert len(text) < 500


def test_the_errors_are_readable_on_the_status(workspace: Workspace, emulator: Emulator) -> None:
    """azure-sdk-for-python#14147: a failed provisioning has its errors."""
    errors = [{"error": {"code": "InvalidPropertyValue", "message": "m"}}]
    emulator.world.put(compute(provisioningState="Failed", provisioningErrors=errors))
    target = ComputeTarget(workspace, "k8s1")
    assert target.get_status().errors == errors
    assert target.provisioning_errors == errors
    target.status.errors.clear()
    assert target.status.errors == errors


@pytest.mark.parametrize("errors", [None, GONE, "text", {"error": {}}, 7])
def test_errors_of_another_shape_read_as_none_at_all(workspace: Workspace, emulator: Emulator, errors: object) -> None:
    """The service sends null, or nothing."""
    emulator.world.put(compute(provisioningErrors=errors))
    assert ComputeTarget(workspace, "k8s1").status.errors == []


def test_the_documented_states_are_listed() -> None:
    """azure-sdk-for-python#14147, MachineLearningNotebooks#645: which values can it have?"""
    for state in STATES:
        assert state in (KubernetesComputeStatus.__doc__ or "")


@pytest.mark.parametrize("compute_type", ["Kubernetes", "AmlCompute", "QuantumThing"])
def test_the_status_is_of_one_type_for_every_target(
    workspace: Workspace, emulator: Emulator, compute_type: str
) -> None:
    """azureml-core gave a plain text for some; and it is one GET."""
    emulator.world.put(compute(computeType=compute_type))
    target = ComputeTarget(workspace, "k8s1")
    emulator.requests.clear()
    assert type(target.get_status()) is KubernetesComputeStatus
    assert sent(emulator) == ["GET computes/k8s1"]


def test_get_status_renews_the_target(workspace: Workspace, emulator: Emulator) -> None:
    """As azureml-core's does."""
    emulator.world.put(compute(provisioningState="Creating"))
    target = ComputeTarget(workspace, "k8s1")
    emulator.world.put(compute(description="new"))
    assert target.provisioning_state == "Creating"
    assert target.get_status() == "Succeeded"
    assert target.provisioning_state == "Succeeded"


def test_seven_digits_of_a_second_are_read_and_kept(workspace: Workspace, emulator: Emulator) -> None:
    """The service writes seven; Python keeps six, serialize all."""
    text = "2024-07-24T08:34:22.0060469+00:00"
    emulator.world.put(compute(createdOn=text, modifiedOn=text))
    status = ComputeTarget(workspace, "k8s1").get_status()
    assert status.creation_time == datetime(2024, 7, 24, 8, 34, 22, 6046, UTC)
    assert status.serialize() == {"creationTime": text, "modifiedTime": text, "provisioningState": "Succeeded"}


@pytest.mark.parametrize(
    "text", ["2024-01-01T00:00:00Z", "2024-01-01T02:00:00+02:00", "2024-01-01T00:00:00", "2024-01-01T00:00:00.0Z"]
)
def test_times_always_have_a_zone(workspace: Workspace, emulator: Emulator, text: str) -> None:
    """A time without a zone is UTC, so that two times can be compared."""
    emulator.world.put(compute(createdOn=text))
    target = ComputeTarget(workspace, "k8s1")
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    assert target.get_status().creation_time == moment
    assert target.created_on == moment


@pytest.mark.parametrize("text", ["yesterday", 7, "", "2024-13-01T00:00:00Z", {}])
def test_an_unreadable_time_is_none(workspace: Workspace, emulator: Emulator, text: object) -> None:
    """It is not worth an error."""
    emulator.world.put(compute(createdOn=text))
    target = ComputeTarget(workspace, "k8s1")
    assert target.get_status().creation_time is None
    assert target.created_on is None


def test_a_status_survives_its_own_serialisation() -> None:
    """azureml-core's serialize and deserialize; nothing gives None."""
    made = KubernetesComputeStatus("2024-01-01T00:00:00Z", datetime(2024, 1, 2, tzinfo=UTC), "succeeded")
    again = KubernetesComputeStatus.deserialize(made.serialize())
    assert again is not None
    assert again.serialize() == made.serialize()
    assert (again.creation_time, again.modified_time) == (made.creation_time, made.modified_time)
    assert KubernetesComputeStatus.deserialize(None) is None
    assert KubernetesComputeStatus.deserialize({}) is None


def test_a_status_is_read_from_the_services_properties() -> None:
    """azureml-core's deserialize takes createdOn, modifiedOn, provisioningState."""
    made = KubernetesComputeStatus.deserialize(compute()["properties"])
    assert made == "Succeeded"
    assert made is not None
    assert made.creation_time == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("junk", [7, True, ["x"], {"a": 1}])
def test_junk_in_the_services_properties_is_nothing(junk: Any) -> None:
    """Times are times or None, errors a list, the state a text."""
    names = ("createdOn", "modifiedOn", "provisioningState")
    made = KubernetesComputeStatus.deserialize({**dict.fromkeys(names, junk), "provisioningErrors": "err"})
    assert made == "Unknown"
    assert made is not None
    assert (made.creation_time, made.modified_time, made.errors) == (None, None, [])
    assert made.serialize() == {"creationTime": None, "modifiedTime": None, "provisioningState": "Unknown"}


@pytest.mark.parametrize("junk", ["Succeeded", [1], 7])
def test_a_status_is_not_read_from_something_else(junk: Any) -> None:
    """A wrong type is a TypeError."""
    with pytest.raises(TypeError, match="object_dict"):
        KubernetesComputeStatus.deserialize(junk)


def test_copies_and_pickles_keep_the_facts() -> None:
    """A status may travel to another process."""
    made = KubernetesComputeStatus("2024-01-01T00:00:00Z", None, "Failed", [{"code": "c"}])
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(other) is KubernetesComputeStatus
        assert other == made
        assert other.serialize() == made.serialize()
        assert other.errors == made.errors


def test_a_status_sends_nothing_and_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """An ordinary one is silent."""
    with caplog.at_level(logging.DEBUG, "azureml_k8s"):
        made = KubernetesComputeStatus("2024-01-01T00:00:00.1234567+00:00", None, None)
        assert made.creation_time
        assert made.modified_time is None
        assert made == "Unknown"
    assert caplog.records == []


@given(st.none() | st.text(max_size=20))
def test_any_word_is_a_state(word: str | None) -> None:
    """Reading it twice changes nothing."""
    status = KubernetesComputeStatus(provisioning_state=word)
    assert status
    assert KubernetesComputeStatus(provisioning_state=str(status)) == status


_LIGHT = """
import sys
from azureml_k8s import Cloud, ComputeTarget, KubernetesCompute, Workspace
from azureml_k8s.emulator import Emulator, EmulatorAdapter
emulator = Emulator()
emulator.world.add_compute("k8s1", "Kubernetes")
emulator.world.add_compute("aml1", "AmlCompute")
with Workspace(
    emulator.subscription_id,
    "rg",
    "ws",
    cloud=Cloud.emulator("http://localhost:1"),
    transport=EmulatorAdapter(emulator),
) as workspace:
    for target in [*ComputeTarget.list(workspace), *KubernetesCompute.list(workspace)]:
        print(target.name, target.id, target.type, target.provisioning_state, target.location, repr(target))
        print(target.get_status(), target.status.serialize(), target.status.errors, target.serialize())
        target.wait_for_completion()
    heavy = {name.partition(".")[0] for name in sys.modules} & {"msrest", "azure", "kubernetes", "isodate"}
    assert not heavy, heavy
    assert target.created_on
    assert "msrest" in sys.modules
"""


def test_lists_and_a_plain_status_never_load_msrest() -> None:
    """Name, id, type, state and location come straight from the body; a field that needs converting loads it."""
    done = subprocess.run([sys.executable, "-c", _LIGHT], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
