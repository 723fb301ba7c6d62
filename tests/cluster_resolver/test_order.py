"""Properties of the order of pods, whatever they are called."""

from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s.cluster_resolver.order import arrange
from azureml_k8s.cluster_resolver.pods import Pod

names = st.text(alphabet="ab-019", min_size=1, max_size=6) | st.integers(0, 10**60).map("w-{}".format)
phases = st.sampled_from(["Running", "Running", "Failed", "Pending"])
pods = st.builds(
    Pod,
    name=names,
    namespace=st.sampled_from([None, "a", "b"]),
    phase=phases,
    index=st.none() | st.integers(0, 5),
    job_index=st.none() | st.integers(0, 2),
)
groups = st.lists(st.lists(pods, max_size=6, unique_by=lambda pod: pod.key), max_size=3)


def live(groups):
    return [pod for group in groups for pod in group if not pod.is_finished]


@given(groups, st.sampled_from(["auto", "name"]))
def test_each_live_pod_once(groups, order):
    """Each pod that has not ended has one index, and the indices ascend."""
    arranged = arrange(groups, order=order)
    placed = [pod for pod in arranged.values() if not pod.is_finished]
    assert sorted(map(id, placed)) == sorted(map(id, live(groups)))
    assert list(arranged) == sorted(arranged)


@given(groups, st.randoms(use_true_random=False))
def test_the_servers_order_does_not_matter(groups, random):
    """However the server orders a list, the indices are the same."""
    shuffled = [random.sample(group, len(group)) for group in groups]
    assert [pod.key for pod in arrange(groups, order="auto").values()] == [
        pod.key for pod in arrange(shuffled, order="auto").values()
    ]


@given(st.lists(st.integers(0, 10**70), unique=True), st.sampled_from(["w-", "", "a.b-0x"]))
def test_numbers_in_names_order_as_numbers(numbers, prefix):
    """Names that differ only in their trailing number are in the order of the numbers, however long."""
    arranged = arrange([[Pod(name=f"{prefix}{number}") for number in numbers]], order="auto")
    assert [pod.name for pod in arranged.values()] == [f"{prefix}{number}" for number in sorted(numbers)]


@given(st.sets(st.integers(0, 999_999)))
def test_distinct_labels_are_the_indices(indices):
    """Labels that are all different are the indices, gaps included."""
    arranged = arrange([[Pod(name="w", uid=str(index), index=index) for index in indices]], order="auto")
    assert {index: pod.index for index, pod in arranged.items()} == {index: index for index in indices}


@given(st.lists(st.text(alphabet="abc-", min_size=1), unique=True))
def test_other_names_order_as_text(names):
    """Names without numbers at their ends are in TensorFlow's order."""
    arranged = arrange([[Pod(name=name) for name in names]], order="auto")
    assert [pod.name for pod in arranged.values()] == sorted(names)
