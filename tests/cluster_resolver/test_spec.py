"""`ClusterSpec` against tf.train.ClusterSpec's interface; the numbers are those of the list of cases."""

import copy
import json
import pickle
from collections import OrderedDict
from types import MappingProxyType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s.cluster_resolver import ClusterDef, ClusterSpec, JobDef

GIVEN = {"worker": ["a:1", "b:1"], "ps": {1: "c:1", 3: "d:1"}}

clusters = st.dictionaries(
    st.text(max_size=5),
    st.lists(st.text(max_size=5), max_size=4) | st.dictionaries(st.integers(0, 50), st.text(max_size=5), max_size=4),
    max_size=4,
)


@pytest.fixture
def spec():
    return ClusterSpec(GIVEN)


def test_case_11_definition():
    """A definition has the jobs sorted by name, with their tasks by index."""
    spec = ClusterSpec({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
    assert [(job.name, job.tasks) for job in spec.as_cluster_def().job] == [
        ("ps", {0: "c:1"}),
        ("worker", {0: "a:1", 1: "b:1"}),
    ]


def test_case_13_from_definition(spec):
    """A spec made of a definition is equal."""
    assert ClusterSpec(spec.as_cluster_def()) == spec
    assert ClusterSpec(ClusterDef([JobDef("x", {2: "y"})])) == {"x": {2: "y"}}


def test_case_14_from_dict(spec):
    """A spec made of its own dict is equal both ways."""
    again = ClusterSpec(spec.as_dict())
    assert again == spec
    assert spec == again
    assert (again != spec) is False


def test_case_80_accessors(spec):
    """The accessors see what was given."""
    assert spec.jobs == ["worker", "ps"]
    assert (spec.num_tasks("worker"), spec.num_tasks("ps")) == (2, 2)
    assert spec.task_indices("ps") == [1, 3]
    assert spec.task_address("ps", 3) == "d:1"
    assert spec.job_tasks("ps") == [None, "c:1", None, "d:1"]
    assert spec.job_tasks("worker") == ["a:1", "b:1"]


def test_case_81_as_dict(spec):
    """Jobs without gaps come as lists, others as dicts, an empty one as an empty dict."""
    assert spec.as_dict() == GIVEN
    assert ClusterSpec({"w": []}).as_dict() == {"w": {}}
    assert list(ClusterSpec({"w": {7: "h", 5: "g"}}).as_dict()["w"]) == [5, 7]


@pytest.mark.parametrize("method", ["num_tasks", "task_indices", "job_tasks", "task_address"])
def test_case_82_unknown_job(spec, method):
    """An unknown job is a ValueError that names it."""
    with pytest.raises(ValueError, match=r"^No such job in cluster: 'zz'$"):
        getattr(spec, method)("zz", *([0] if method == "task_address" else []))


@pytest.mark.parametrize("index", [0, 2, "1", None, -1])
def test_case_83_unknown_index(spec, index):
    """An unknown index is a ValueError that names it."""
    with pytest.raises(ValueError, match=f"^No task with index {index!r} in job 'ps'$"):
        spec.task_address("ps", index)


@pytest.mark.parametrize("tasks", ["a:1", None, {"a:1"}, 3, iter(["a:1"])])
def test_case_84_tasks_of_another_type(tasks):
    """Tasks that are no list, tuple or dict are refused by the job's name."""
    with pytest.raises(TypeError, match=r"^The tasks for job 'worker' must be a list or a dictionary"):
        ClusterSpec({"worker": tasks})


@pytest.mark.parametrize(
    "cluster", [["a"], None, "a", 3, MappingProxyType({"a": ["b"]}), SimpleNamespace(job="ab"), object()]
)
def test_case_85_no_cluster(cluster):
    """What is no cluster is refused with TensorFlow's text."""
    with pytest.raises(TypeError, match=r"^`cluster` must be a dictionary mapping one or more job names to lists of"):
        ClusterSpec(cluster)


@pytest.mark.parametrize("cluster", [{"w": [1]}, {"w": [None]}, {1: ["a"]}, {None: ["a"]}, {1: []}])
def test_case_86_names_and_addresses_are_text(cluster):
    """Names and addresses that are no text are refused."""
    with pytest.raises(TypeError, match="must be bytes or unicode"):
        ClusterSpec(cluster)


def test_text_mixed_with_bytes():
    """Names of both kinds have no order, and are refused when the spec is made."""
    with pytest.raises(TypeError, match="not supported between instances"):
        ClusterSpec({"w": [], b"x": []})


def test_case_87_truth():
    """A spec is false only without jobs."""
    assert not ClusterSpec({})
    assert ClusterSpec({"w": []})


def test_case_88_comparisons(spec):
    """A spec equals one with the same tasks, and a dict of dicts with them, in any order; nothing else."""
    inner = {"ps": {3: "d:1", 1: "c:1"}, "worker": {1: "b:1", 0: "a:1"}}
    assert spec == ClusterSpec(inner)
    assert spec == inner
    assert inner == spec
    assert (spec != inner) is False
    assert spec != GIVEN
    assert spec != ClusterSpec({"worker": ["a:1"]})
    assert spec != None  # noqa: E711 - this comparison is the test
    assert spec != "spec"


def test_case_89_not_hashable(spec):
    """A spec is no key."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(spec)


def test_case_90_repr():
    """The repr is TensorFlow's: jobs sorted."""
    spec = ClusterSpec({"worker": ["a:1", "b:1"], "ps": {1: "c:1"}})
    assert repr(spec) == "ClusterSpec({'ps': {1: 'c:1'}, 'worker': ['a:1', 'b:1']})"


def test_case_91_copies():
    """Neither what was given nor what is given out is the spec's own."""
    tasks = ["a:1"]
    given = {"w": tasks, "p": {0: "b:1"}}
    spec = ClusterSpec(given)
    tasks.append("x")
    given["p"][1] = "y"
    given["q"] = []
    for taken in (spec.as_dict(), spec.copy()):
        taken["w"][0] = "z"
    spec.job_tasks("w")[0] = "z"
    spec.jobs.append("z")
    spec.as_cluster_def().job[0].tasks[0] = "z"
    assert spec == {"w": {0: "a:1"}, "p": {0: "b:1"}}


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda spec: pickle.loads(pickle.dumps(spec)), ClusterSpec.copy]
)
def test_case_92_copying(spec, copied):
    """copy, deepcopy and pickle give an equal spec with the same methods."""
    twin = copied(spec)
    assert twin == spec
    assert type(twin) is ClusterSpec
    assert repr(twin) == repr(spec)


def test_case_93_index_keys_become_numbers():
    """Index keys go through int()."""
    assert ClusterSpec({"w": {"1": "a", 2.9: "b"}}) == {"w": {1: "a", 2: "b"}}


def test_case_94_index_key_is_no_number():
    """An index that is no number is a ValueError."""
    with pytest.raises(ValueError, match="invalid literal"):
        ClusterSpec({"w": {"x": "a"}})


def test_case_95_tasks_of_an_empty_job():
    """An empty job has no tasks, which is no error."""
    assert ClusterSpec({"w": []}).job_tasks("w") == []


def test_case_96_extreme_indices():
    """Negative indices are accepted as TensorFlow does, those beyond 32 bits are refused."""
    assert ClusterSpec({"w": {-1: "a"}}).as_dict() == {"w": {-1: "a"}}
    with pytest.raises(ValueError, match="Value out of range"):
        ClusterSpec({"w": {2**31: "a"}})


def test_bytes_stay_until_a_round_trip():
    """Bytes are kept as they are; a definition has text."""
    spec = ClusterSpec({b"w": [b"a"]})
    assert spec == {b"w": {0: b"a"}}
    assert ClusterSpec(spec.as_cluster_def()) == {"w": {0: "a"}}


def test_subclass_of_dict_is_accepted():
    """Any dict will do."""
    assert ClusterSpec(OrderedDict(w=("a",))) == {"w": {0: "a"}}


@given(clusters)
def test_round_trips(cluster):
    """Whatever the cluster, its dict, its definition, its copy and its JSON make an equal spec."""
    spec = ClusterSpec(cluster)
    assert ClusterSpec(spec.as_dict()) == ClusterSpec(spec.as_cluster_def()) == ClusterSpec(spec) == spec
    assert ClusterSpec(json.loads(json.dumps(spec))) == spec
    for job in spec.jobs:
        tasks = spec.job_tasks(job)
        assert {index: tasks[index] for index in spec.task_indices(job)} == spec[job]
        assert sum(task is not None for task in tasks) == spec.num_tasks(job)
