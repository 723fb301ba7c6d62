"""TensorFlow takes what we give it, and our class does what TensorFlow's does.

The numbers are those of the list of cases.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

tf = pytest.importorskip("tensorflow")

from hypothesis import given, settings  # noqa: E402 - only with TensorFlow
from hypothesis import strategies as st  # noqa: E402

from azureml_k8s.cluster_resolver import (  # noqa: E402
    ClusterSpec,
    KubernetesClusterResolver,
    register_with_tensorflow,
)

resolvers = tf.distribute.cluster_resolver
GIVEN = {"worker": ["a:1", "b:1"], "ps": {1: "c:1", 3: "d:1"}, "evaluator": []}

clusters = st.dictionaries(
    st.text(alphabet="abc", min_size=1, max_size=3),
    st.lists(st.text(alphabet="ab:1", max_size=4), max_size=3)
    | st.dictionaries(st.integers(0, 9), st.text(alphabet="ab:1", max_size=4), max_size=3),
    max_size=3,
)


class Client:
    """A client of typed pods, or of mocks."""

    def __init__(self, pods):
        self.pods = pods

    def list_pod_for_all_namespaces(self, label_selector):
        """As CoreV1Api's."""
        return SimpleNamespace(items=self.pods)


def pod(name, ip="10.0.0.1", phase="Running", host_ip="10.0.0.1"):
    return SimpleNamespace(
        metadata=SimpleNamespace(name=name, namespace="default", uid=name),
        status=SimpleNamespace(phase=phase, pod_ip=ip, host_ip=host_ip),
    )


def outcome(call):
    """Return what a call gives: its result, or its error's type and text."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    return result


def test_case_97_spec_is_accepted():
    """tf.train.ClusterSpec takes our spec, and both are equal in both directions."""
    ours = ClusterSpec(GIVEN)
    theirs = tf.train.ClusterSpec(ours)
    assert theirs == ours
    assert ours == theirs
    assert theirs.as_dict() == ours.as_dict()
    assert ClusterSpec(theirs) == ours
    assert ClusterSpec(theirs.as_cluster_def()) == ours


def test_case_98_normalized():
    """What strategies normalise specs with takes ours."""
    from tensorflow.python.distribute import multi_worker_util

    assert multi_worker_util.normalize_cluster_spec(ClusterSpec(GIVEN)) == ClusterSpec(GIVEN)


def test_case_99_definition():
    """With TensorFlow imported, a definition is its message, equal to the one it makes itself."""
    definition = ClusterSpec(GIVEN).as_cluster_def()
    assert isinstance(definition, tf.train.ClusterDef)
    assert definition == tf.train.ClusterSpec(GIVEN).as_cluster_def()
    assert ClusterSpec(definition) == ClusterSpec(GIVEN)


@given(clusters)
@settings(max_examples=300, deadline=None)
def test_specs_agree(cluster):
    """Whatever the cluster, all accessors of both specs agree, errors included."""
    ours, theirs = ClusterSpec(cluster), tf.train.ClusterSpec(cluster)
    assert repr(ours) == repr(theirs)
    assert (ours.jobs, ours.as_dict(), bool(ours)) == (theirs.jobs, theirs.as_dict(), bool(theirs))
    assert ours.as_cluster_def() == theirs.as_cluster_def()
    for job in [*ours.jobs, "zz"]:
        for method in ("num_tasks", "task_indices"):
            assert outcome(lambda m=method, j=job: getattr(ours, m)(j)) == outcome(
                lambda m=method, j=job: getattr(theirs, m)(j)
            )
        for index in (0, 1, -1, "1", None):
            assert outcome(lambda j=job, i=index: ours.task_address(j, i)) == outcome(
                lambda j=job, i=index: theirs.task_address(j, i)
            )
        if ours.get(job) or job == "zz":
            assert outcome(lambda j=job: ours.job_tasks(j)) == outcome(lambda j=job: theirs.job_tasks(j))


@pytest.mark.parametrize(
    "cluster",
    [
        ["a"],
        None,
        "a",
        3,
        {"w": "a"},
        {"w": None},
        {"w": {"a"}},
        {"w": [1]},
        {"w": [None]},
        {1: ["a"]},
        {None: []},
        {"w": {"x": "a"}},
    ],
)
def test_specs_refuse_alike(cluster):
    """What TensorFlow's spec refuses, ours refuses with the same error."""
    assert outcome(lambda: ClusterSpec(cluster)) == outcome(lambda: tf.train.ClusterSpec(cluster))


@pytest.mark.parametrize("cluster", [{"w": {2**31: "a"}}])
def test_out_of_range(cluster):
    """An index that does not fit is a ValueError of both."""
    for kind in (ClusterSpec, tf.train.ClusterSpec):
        with pytest.raises(ValueError, match=r"(?i)out of range"):
            kind(cluster)


phases = st.sampled_from(["Running"] * 6 + ["Pending", "Failed"])
pods = st.lists(
    st.builds(
        pod,
        st.text(alphabet="ab-12", min_size=1, max_size=4),
        phase=phases,
        host_ip=st.sampled_from(["10.0.0.1", "10.0.0.2", None, "fd00::1"]),
    ),
    max_size=5,
)


@given(pods, st.sampled_from([8470, "2222", 70000, None]), st.sampled_from([None, {"a": ["x", "y"], "b": "zz"}]))
@settings(max_examples=300, deadline=None)
def test_literal_is_literal(pods, port, jobs):
    """With literal=True, our class gives what TensorFlow's gives, whatever the pods."""
    ours = KubernetesClusterResolver(jobs, port, override_client=Client(pods), literal=True)
    theirs = resolvers.KubernetesClusterResolver(jobs, port, override_client=Client(pods))
    assert outcome(ours.cluster_spec) == outcome(theirs.cluster_spec)
    for job, index, layer in [(None, None, None), ("worker", 0, None), ("a", 1, "x"), ("zz", 0, ""), ("a", "0", None)]:
        assert outcome(lambda j=job, i=index, x=layer: ours.master(j, i, x)) == outcome(
            lambda j=job, i=index, x=layer: theirs.master(j, i, x)
        )


names = st.lists(st.text(alphabet="abcdef", min_size=1, max_size=4), max_size=5, unique=True)


@given(names, st.sampled_from([8470, "2222"]))
@settings(max_examples=200, deadline=None)
def test_stand_ins_give_the_same(names, port):
    """By default, too, mocks written for TensorFlow's class give the same, in order and address."""
    pods = []
    for i, name in enumerate(names):
        made = MagicMock()
        made.metadata.name, made.status.phase, made.status.host_ip = name, "Running", f"10.0.0.{i}"
        pods.append(made)
    ours = KubernetesClusterResolver(None, port, override_client=Client(pods))
    theirs = resolvers.KubernetesClusterResolver(None, port, override_client=Client(pods))
    assert ours.cluster_spec() == theirs.cluster_spec()
    assert ours.cluster_spec().as_dict() == theirs.cluster_spec().as_dict()


def test_accelerators_by_default_and_literally():
    """Literally, the devices here are counted, as TensorFlow does; by default, those of the pod's limits."""
    limits = {"nvidia.com/gpu": "2"}
    one = pod("w-0")
    one.spec = SimpleNamespace(containers=[SimpleNamespace(resources=SimpleNamespace(limits=limits))])
    client = Client([one])
    assert KubernetesClusterResolver(override_client=client).num_accelerators("worker", 0) == {"GPU": 2}
    literal = KubernetesClusterResolver(override_client=client, literal=True)
    theirs = resolvers.KubernetesClusterResolver(override_client=client)
    assert literal.num_accelerators() == theirs.num_accelerators()
    assert outcome(lambda: literal.num_accelerators("zz", 0)) == outcome(lambda: theirs.num_accelerators("zz", 0))


def test_registered():
    """Our resolver is a ClusterResolver to TensorFlow, and may be part of a union; registering again is harmless."""
    ours = KubernetesClusterResolver(override_client=Client([pod("w-0")]))
    register_with_tensorflow()
    ours.register_with_tensorflow()
    assert isinstance(ours, resolvers.ClusterResolver)
    union = resolvers.UnionResolver(ours, resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"ps": ["p:1"]})))
    assert union.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"], "ps": ["p:1"]}


def test_resolver_made_before_tensorflow_is_imported():
    """A resolver that was made first is registered by a call."""
    code = (
        "from azureml_k8s.cluster_resolver import KubernetesClusterResolver, register_with_tensorflow\n"
        "from types import SimpleNamespace\n"
        "ours = KubernetesClusterResolver(override_client=SimpleNamespace(list_pod_for_all_namespaces=print))\n"
        "register_with_tensorflow()\n"
        "import tensorflow as tf\n"
        "print(isinstance(ours, tf.distribute.cluster_resolver.ClusterResolver))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "True", done.stderr[-3000:]


def test_tf_config_is_read(monkeypatch):
    """TensorFlow's TFConfigClusterResolver reads our TF_CONFIG back, gaps included."""
    gaps = [pod("w-0", phase="Failed"), pod("w-1"), pod("w-2")]
    ours = KubernetesClusterResolver(override_client=Client(gaps), not_running="skip")
    ours.task_type, ours.task_id = "worker", 2
    monkeypatch.setenv("TF_CONFIG", ours.tf_config())
    theirs = resolvers.TFConfigClusterResolver()
    assert theirs.cluster_spec() == ours.cluster_spec()
    assert (theirs.task_type, theirs.task_id, theirs.rpc_layer) == ("worker", 2, "grpc")
    assert theirs.master() == ours.master()


def free_ports(number):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [str(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def test_case_100_one_worker():
    """A strategy of one worker starts with our resolver."""
    (port,) = free_ports(1)
    code = (
        "import tensorflow as tf\n"
        "from types import SimpleNamespace as N\n"
        "from azureml_k8s.cluster_resolver import KubernetesClusterResolver\n"
        "one = N(metadata=N(name='w-0'), status=N(phase='Running', pod_ip='127.0.0.1'))\n"
        "client = N(list_pod_for_all_namespaces=lambda label_selector: N(items=[one]))\n"
        f"resolver = KubernetesClusterResolver(None, {port}, override_client=client)\n"
        "resolver.task_type, resolver.task_id = 'worker', 0\n"
        "print(tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver).num_replicas_in_sync)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "1", done.stderr[-3000:]


SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "cluster_resolver_training.py"


def test_sample_trains():
    """The sample trains, here as the only worker; instead of a cluster there is a client."""
    (port,) = free_ports(1)
    code = (
        "import runpy, sys\n"
        "from types import SimpleNamespace as N\n"
        "import azureml_k8s.cluster_resolver as module\n"
        "one = N(metadata=N(name='w-0', namespace='own'), status=N(phase='Running', pod_ip='127.0.0.1'))\n"
        "client = N(list_namespaced_pod=lambda namespace, label_selector: N(items=[one]))\n"
        "real = module.KubernetesClusterResolver\n"
        "def resolver(jobs, namespace):\n"
        f"    return real(jobs, {port}, override_client=client, namespace=[namespace])\n"
        "module.KubernetesClusterResolver = resolver\n"
        "sys.argv = ['sample', '1']\n"
        f"runpy.run_path({str(SAMPLE)!r}, run_name='__main__')\n"
    )
    environment = os.environ | {"HOSTNAME": "w-0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=180, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Epoch 2/2" in done.stdout


def test_two_workers_train_a_step():
    """Two processes find each other with our resolver, and their step is that of both."""
    ports = free_ports(2)
    script = Path(__file__).with_name("worker.py")
    workers = [
        subprocess.Popen(
            [sys.executable, script, *ports],
            env=os.environ | {"HOSTNAME": f"w-{i}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(2)
    ]
    try:
        outputs = [worker.communicate(timeout=180) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    first, second = (json.loads(out.splitlines()[-1]) for out, _ in outputs)
    # From w = 0: the gradients are 2 * (0 - 3) * 1 and 2 * (0 - 3) * 2, together -18.
    assert first == {"task": ["worker", 0], "replicas": 2, "loss": 9.0, "weight": pytest.approx(1.8)}
    assert second == {"task": ["worker", 1], "replicas": 2, "loss": 9.0, "weight": pytest.approx(1.8)}
