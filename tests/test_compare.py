"""Whether an asked and a present value mean the same, as the service compares; and the public comparison."""

from __future__ import annotations

from typing import Any

import pytest
from bodies import AKS, ARC, UAI, UAI2, compute, sent
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import (
    ComputeTargetException,
    Difference,
    KubernetesCompute,
    NotFoundException,
    Workspace,
    _compare,
)
from azureml_k8s.emulator import Emulator

configuration = KubernetesCompute.attach_configuration
#: Whatever a service may send in place of what it should.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def test_no_difference_is_an_empty_list_after_one_get(workspace: Workspace, emulator: Emulator) -> None:
    """The compute is as asked."""
    emulator.world.put(compute())
    assert KubernetesCompute.compare(workspace, "k8s1", configuration(AKS.upper(), "default")) == []
    assert sent(emulator) == ["GET computes/k8s1"]


def test_differences_come_in_the_order_of_the_arguments(workspace: Workspace, emulator: Emulator) -> None:
    """Each tells the argument, the asked and the present value."""
    emulator.world.put(compute())
    found = KubernetesCompute.compare(workspace, "k8s1", configuration(ARC, "ml", "UserAssigned", [UAI]))
    assert found == [
        Difference("resource_id", ARC, AKS),
        Difference("namespace", "ml", "default"),
        Difference("identity_type", "UserAssigned", "SystemAssigned"),
        Difference("identity_ids", [UAI], None),
    ]
    assert str(found[1]) == "namespace: 'ml' is asked for, 'default' is there"


def test_a_comparison_of_an_absent_compute_raises(workspace: Workspace) -> None:
    """Nothing to compare with."""
    with pytest.raises(NotFoundException):
        KubernetesCompute.compare(workspace, "k8s1", configuration(AKS))


def test_a_comparison_with_another_type_names_it(workspace: Workspace, emulator: Emulator) -> None:
    """An AmlCompute is not a cluster with other settings."""
    emulator.world.add_compute("k8s1", "AmlCompute")
    with pytest.raises(ComputeTargetException, match="AmlCompute"):
        KubernetesCompute.compare(workspace, "k8s1", configuration(AKS))


def test_a_comparison_needs_a_configuration(workspace: Workspace, emulator: Emulator) -> None:
    """A wrong type is told before any request."""
    with pytest.raises(TypeError, match="attach_configuration"):
        KubernetesCompute.compare(workspace, "k8s1", {"namespace": "ml"})  # type: ignore[arg-type]
    assert emulator.requests == []


def test_a_secret_among_the_differences_is_masked(workspace: Workspace, emulator: Emulator) -> None:
    """Tags may hold what their name gives away."""
    emulator.world.put(compute(top={"tags": {"apiToken": "old-value"}}))
    (found,) = KubernetesCompute.compare(workspace, "k8s1", configuration(AKS, tags={"apiToken": "new-value"}))
    assert "value" not in repr(found)


@pytest.mark.parametrize(
    ("asked", "present", "same"),
    [
        ("SystemAssigned", "systemassigned", True),
        ("SystemAssigned", "SystemAssigned, UserAssigned", False),
        ("SystemAssigned", "None", False),
        ("SystemAssigned", None, False),
        ("UserAssigned", 7, False),
    ],
)
def test_identity_types(asked: str, present: object, *, same: bool) -> None:
    """In any letter case; a combination is something else."""
    assert _compare.identity_types(asked, present) is same


@pytest.mark.parametrize(
    ("asked", "present", "same"),
    [
        ([UAI], {UAI.upper(): {}}, True),
        ([UAI], {UAI.lstrip("/"): None}, True),
        ([UAI, UAI2], {UAI: {}}, True),
        ([UAI, UAI2], {UAI2: {}}, False),
        ([UAI], {UAI: {}, UAI2: {}}, False),
        ([UAI], {UAI2: {}}, False),
        ([UAI], {}, False),
        ([UAI], None, False),
        ([UAI], [UAI], False),
    ],
)
def test_identities(asked: list[str], present: object, *, same: bool) -> None:
    """The first counts, for the service uses no other; one that was not asked for is a difference."""
    assert _compare.identities({one: {} for one in asked}, present) is same


@pytest.mark.parametrize(
    ("asked", "present", "same"),
    [
        ({"limits": {"cpu": "1", "nvidia.com/gpu": None}}, {"limits": {"cpu": 1}}, True),
        ({"nodeSelector": None, "resources": {}}, {}, True),
        ({}, None, True),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, False),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1", "memory": "1Gi"}}, False),
        ({"limits": {}}, [], False),
    ],
)
def test_instance_types(asked: dict[str, Any], present: object, *, same: bool) -> None:
    """Nulls and empty objects are missing, quantities may be numbers or texts, names have no letter case."""
    assert _compare.instance_types({"GPU": asked}, {"gpu": present, "another": {}}) is same


@pytest.mark.parametrize(
    ("asked", "present", "same"),
    [
        ({"A": "1"}, {"a": "1", "b": "2"}, True),
        ({"a": "1"}, {"a": "2"}, False),
        ({"a": "1"}, {"a": "1 "}, False),
        ({"a": "1"}, None, False),
        ({}, None, True),
    ],
)
def test_tags(asked: dict[str, str], present: object, *, same: bool) -> None:
    """Names have no letter case, values do; further tags were not asked about."""
    assert _compare.tags(asked, present) is same


def test_a_namespace_is_compared_to_the_letter() -> None:
    """A missing one is the service's default."""
    assert _compare.namespaces("default", None)
    assert _compare.namespaces("ml", "ml")
    assert not _compare.namespaces("ml", None)
    assert not _compare.namespaces("ml", "ML")


RULES: list[tuple[Any, Any]] = [
    (_compare.texts, "a"),
    (_compare.words, "a"),
    (_compare.ids, AKS),
    (_compare.namespaces, "a"),
    (_compare.identity_types, "SystemAssigned"),
    (_compare.identities, {UAI: {}}),
    (_compare.tags, {"a": "b"}),
    (_compare.instance_types, {"a": {"b": "c"}}),
]


@given(JSON)
def test_no_json_breaks_a_comparison(present: object) -> None:
    """Whatever the service sends is the same or a difference, never an error."""
    for rule, asked in RULES:
        assert rule(asked, present) in (True, False)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4))
def test_every_setting_is_the_same_as_itself(texts: dict[str, str]) -> None:
    """A value read back as it was sent is no difference."""
    names = {name.casefold() for name in texts}
    if len(names) == len(texts):
        assert _compare.tags(texts, dict(texts))
        types = {name: {"resources": {"limits": {"cpu": value}}} for name, value in texts.items()}
        assert _compare.instance_types(types, types)
