"""One of two workers: finds the cluster with our resolver, trains a step in it, prints what it has then.

python worker.py PORT_0 PORT_1      (with HOSTNAME=w-0 or w-1, as in a pod)
"""

import json
import sys
from types import SimpleNamespace

import tensorflow as tf

from azureml_k8s.cluster_resolver import KubernetesClusterResolver


class Client:
    """A cluster of two pods; on one machine they have one address and two ports."""

    def list_pod_for_all_namespaces(self, label_selector):
        """As CoreV1Api's."""
        return SimpleNamespace(
            items=[
                SimpleNamespace(
                    metadata=SimpleNamespace(name=f"w-{i}"),
                    status=SimpleNamespace(phase="Running", pod_ip="127.0.0.1"),
                    spec=None,
                )
                for i in range(2)
            ]
        )


def main(*ports):
    """Train w in loss = sum over workers of (w * x - 3)**2, with x = 1 and 2, one step at rate 0.1 from w = 0."""
    resolver = KubernetesClusterResolver(
        {"worker": "app=train"},
        override_client=Client(),
        address=lambda pod: f"127.0.0.1:{ports[int(pod.name[-1])]}",
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    with strategy.scope():
        weight = tf.Variable(0.0)

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = (weight * x - 3.0) ** 2
        gradient = tape.gradient(loss, weight)
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, gradient)
        weight.assign_sub(0.1 * total)
        return loss

    @tf.function
    def step(x):
        return strategy.run(replica_step, args=(x,))

    loss = step(tf.constant(resolver.task_id + 1.0))
    print(
        json.dumps(
            {
                "task": [resolver.task_type, resolver.task_id],
                "replicas": strategy.num_replicas_in_sync,
                "loss": float(loss),
                "weight": float(weight.numpy()),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
