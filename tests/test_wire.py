"""The one table of fields, and the converter behind it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from bodies import AKS, UAI, compute
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import KubernetesCompute, _wire

JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers())
JSON |= st.dictionaries(st.text(max_size=5), JSON, max_size=3)


def placed(path: str, value: object) -> dict[str, Any]:
    """A body with one value at a path."""
    body: Any = value
    for key in reversed(path.split(".")):
        body = {key: body}
    made: dict[str, Any] = body
    return made


def test_each_field_is_declared_once() -> None:
    """Names and paths are unique, and every field has a meaning."""
    fields = _wire.KUBERNETES_FIELDS
    assert len({field.name for field in fields}) == len(fields)
    assert len({field.path for field in fields}) == len(fields)
    assert all(field.doc.endswith(".") for field in fields)


def test_what_is_compared_is_what_can_be_asked() -> None:
    """A setting without a rule of comparison could be asked for and never checked."""
    asked = KubernetesCompute.attach_configuration(
        AKS,
        "ml",
        "UserAssigned",
        UAI,
        default_instance_type="a",
        instance_types={"a": {}},
        tags={},
        description="",
    )._asked()
    assert set(asked) == {field for field in _wire.KUBERNETES_FIELDS if field.same is not None}
    assert not any(field.readonly for field in asked)


def test_the_secrets_of_the_specification_are_marked() -> None:
    """The two that it flags as such; the service alone writes them."""
    secret = [field for field in _wire.KUBERNETES_FIELDS if field.secret]
    assert {field.path.rpartition(".")[2] for field in secret} == {
        "relayConnectionString",
        "serviceBusConnectionString",
    }
    assert all(field.readonly for field in secret)


@pytest.mark.parametrize("field", _wire.KUBERNETES_FIELDS, ids=lambda field: field.name)
@given(value=JSON)
def test_no_json_breaks_a_field(field: _wire.Field[Any], value: object) -> None:
    """It is converted, or reads as None; the others stay as they are."""
    reading = _wire.Reading(placed(field.path, value))
    first = reading.value(field)
    assert first is None or value is not None
    assert repr(reading.value(field)) == repr(first)
    assert field.raw(reading.body) is value or value != value
    assert reading.text(field) is None or isinstance(value, str)


@pytest.mark.parametrize("field", _wire.KUBERNETES_FIELDS, ids=lambda field: field.name)
@pytest.mark.parametrize("body", [{}, {"properties": None}, {"properties": []}, {"properties": {"properties": 7}}])
def test_a_path_that_leads_nowhere_is_none(field: _wire.Field[Any], body: dict[str, Any]) -> None:
    """Null, lists and numbers on the way are no error."""
    assert _wire.Reading(body).value(field) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-07-24T08:34:22.0060469+00:00", datetime(2024, 7, 24, 8, 34, 22, 6046, UTC)),
        ("2024-07-24T08:34:22.006046+00:00", datetime(2024, 7, 24, 8, 34, 22, 6046, UTC)),
        ("2024-07-24T08:34:22.9999999Z", datetime(2024, 7, 24, 8, 34, 22, 999999, UTC)),
        ("2024-07-24T08:34:22Z", datetime(2024, 7, 24, 8, 34, 22, 0, UTC)),
        ("2024-07-24T08:34:22", datetime(2024, 7, 24, 8, 34, 22, 0, UTC)),
        ("2024-07-24T10:34:22.5+02:00", datetime(2024, 7, 24, 8, 34, 22, 500000, UTC)),
    ],
)
def test_times_of_every_precision(text: str, moment: datetime) -> None:
    """The service writes six or seven digits; each is read to the microsecond."""
    read = _wire.Reading(placed(_wire.CREATED_ON.path, text)).value(_wire.CREATED_ON)
    assert read == moment
    assert read is not None
    assert read.tzinfo is not None


def test_values_are_copies() -> None:
    """A caller's change reaches neither the next caller nor the body."""
    body = compute(top={"tags": {"a": "1"}})
    reading = _wire.Reading(body)
    tags = reading.value(_wire.TAGS)
    assert tags is not None
    tags["a"] = "2"
    assert reading.value(_wire.TAGS) == {"a": "1"}
    assert body["tags"] == {"a": "1"}


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.dictionaries(st.text(min_size=1, max_size=8), st.none() | st.integers() | st.text(max_size=5), max_size=3),
        max_size=3,
    )
)
def test_instance_types_are_sent_as_given(limits: dict[str, dict[str, Any]]) -> None:
    """Keys with dots and slashes, numbers, nulls and empty objects pass unchanged."""
    types = {name: {"nodeSelector": {}, "resources": {"limits": value}} for name, value in limits.items()}
    body = _wire.body_of({_wire.INSTANCE_TYPES: types, _wire.RESOURCE_ID: AKS})
    assert body["properties"]["properties"] == {"instanceTypes": types}


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=4))
def test_tags_are_sent_as_given(tags: dict[str, str]) -> None:
    """Dots in names, and empty values too."""
    assert _wire.body_of({_wire.TAGS: tags}) == {"tags": tags, "properties": {"properties": {}}}


def test_read_only_fields_are_never_sent() -> None:
    """Whatever is asked, only what a caller may set goes into a body."""
    asked = {field: "x" for field in _wire.KUBERNETES_FIELDS if field.readonly and field.type == "str"}
    assert _wire.body_of(asked) == {"properties": {"properties": {}}}


def test_masking_goes_by_the_table_and_by_names() -> None:
    """A masked copy; the body itself is left alone."""
    body = compute(properties={"relayConnectionString": "hush", "x": {"somePassword": "hush"}})
    shown = _wire.masked(body)
    assert "hush" not in repr(shown)
    assert body["properties"]["properties"]["relayConnectionString"] == "hush"
