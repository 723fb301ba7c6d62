"""Reading lists item by item gives what the standard library gives."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s.cluster_resolver.pages import read_list

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
layouts = st.sampled_from([{}, {"indent": 1}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def read(text):
    return read_list(text, lambda item: item)


@given(st.lists(values, max_size=5) | st.none(), st.dictionaries(st.text(max_size=5), values, max_size=4), layouts)
def test_as_the_standard_library(items, fields, layout):
    """Items and fields are those of json.loads, wherever the items stand and however the text is laid out."""
    fields.pop("items", None)
    before = dict(list(fields.items())[:2])
    after = {name: value for name, value in fields.items() if name not in before}
    assert read(f" {json.dumps({**before, 'items': items, **after}, **layout)}\n") == (items or [], fields)


@given(st.text() | st.text(alphabet='{}[]",: items0'))
def test_any_text(text):
    """Any text is a list of the standard library's opinion, or a ValueError."""
    try:
        whole = json.loads(text)
        assert isinstance(whole, dict)
        assert isinstance(whole.get("items", ...), list | None)
    except (ValueError, AssertionError):
        with pytest.raises(json.JSONDecodeError):
            read(text)
    else:
        assert read(text)[0] == (whole["items"] or [])


@pytest.mark.parametrize(
    "text",
    [
        '{"items":[]} x',
        '{"items":[],}',
        '{"items":[1,]}',
        '{"items":[1 2]}',
        '{"items":[]',
        '{"items":nullx}',
        '{"items"}',
        "{}",
        '{1:2,"items":[]}',
        '{"items":"x"}',
    ],
)
def test_damaged_lists(text):
    """What is no JSON, or no list, is a ValueError."""
    with pytest.raises(json.JSONDecodeError):
        read(text)


def test_one_item_at_a_time():
    """Each item is handed over before the next is parsed."""
    seen = []
    with pytest.raises(json.JSONDecodeError):
        read_list('{"items":[1,2,x]}', seen.append)
    assert seen == [1, 2]
