"""What is done where the program has imported TensorFlow, with a stand-in for it; the real one has tests of its own."""

import sys
from abc import ABC
from types import ModuleType, SimpleNamespace

import pytest

from azureml_k8s.cluster_resolver import (
    ClusterDef,
    ClusterResolver,
    ClusterSpec,
    KubernetesClusterResolver,
    register_with_tensorflow,
)

from .helpers import Client


@pytest.fixture
def tensorflow(monkeypatch):
    """A module of that name, with an abstract class of resolvers and two devices."""

    class Theirs(ABC):  # noqa: B024 - as TensorFlow's, which others register with
        pass

    module = ModuleType("tensorflow")
    module.distribute = SimpleNamespace(cluster_resolver=SimpleNamespace(ClusterResolver=Theirs))
    module.config = SimpleNamespace(
        list_logical_devices=lambda: [
            SimpleNamespace(device_type=kind, name=f"/job:worker/replica:0/task:{i}/device:{kind}:0")
            for i, kind in enumerate(["CPU", "GPU", "GPU"])
        ]
    )
    monkeypatch.setitem(sys.modules, "tensorflow", module)
    return module


def test_resolvers_are_taken_for_tensorflows(tensorflow):
    """Making a resolver where TensorFlow is imported makes it one of TensorFlow's; so does a subclass of the base."""

    class Own(ClusterResolver):
        def cluster_spec(self):
            return ClusterSpec({})

        def master(self, task_type=None, task_id=None, rpc_layer=None):
            return ""

        def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
            return {}

    theirs = tensorflow.distribute.cluster_resolver.ClusterResolver
    own = Own()
    assert isinstance(KubernetesClusterResolver(override_client=Client()), theirs)
    assert isinstance(own, theirs)
    assert (own.task_type, own.task_id, own.environment, own.rpc_layer) == (None, None, "", None)
    own.task_type, own.task_id = "ps", 1
    assert (own.task_type, own.task_id) == ("ps", 1)


def test_registering_by_hand(tensorflow):
    """register_with_tensorflow() does the same for resolvers that were made before."""
    register_with_tensorflow()
    assert issubclass(KubernetesClusterResolver, tensorflow.distribute.cluster_resolver.ClusterResolver)


def test_half_imported_tensorflow(monkeypatch):
    """While TensorFlow is being imported, it is as if it were not."""
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    made = KubernetesClusterResolver(override_client=Client(), literal=True)
    assert isinstance(made.cluster_spec().as_cluster_def(), ClusterDef)
    assert made.num_accelerators() == {}


def test_registering_without_tensorflow(monkeypatch):
    """Without TensorFlow, registering is an ImportError."""
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(ImportError, match="tensorflow"):
        register_with_tensorflow()


def test_definition_is_tensorflows(tensorflow):
    """Where TensorFlow is imported, a definition is its message."""
    tensorflow.train = SimpleNamespace(ClusterDef=Message)
    definition = ClusterSpec({"w": [b"a", "b"], "p": {3: "c"}}).as_cluster_def()
    assert isinstance(definition, Message)
    assert [(job.name, job.tasks) for job in definition.job] == [("p", {3: "c"}), ("w", {0: "a", 1: "b"})]


class Message:
    """A stand-in for tf.train.ClusterDef."""

    def __init__(self):
        self.job = self
        self.jobs = []

    def add(self):
        """Add a job."""
        self.jobs.append(SimpleNamespace(name="", tasks={}))
        return self.jobs[-1]

    def __iter__(self):
        return iter(self.jobs)


def test_literal_accelerators(tensorflow):
    """Literally, this machine's devices are counted, CPUs aside, and by name where a task is given."""
    pods = [
        SimpleNamespace(metadata=SimpleNamespace(name="w"), status=SimpleNamespace(phase="Running", host_ip="h"))
    ] * 3
    made = KubernetesClusterResolver(override_client=Client(*pods), literal=True)
    assert made.num_accelerators() == {"GPU": 2}
    assert made.num_accelerators("worker", 2) == {"GPU": 1}
    with pytest.raises(ValueError, match="No such job"):
        made.num_accelerators("zz", 0)
