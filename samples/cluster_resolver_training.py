"""Distributed training in the pods of an Indexed Job: every pod runs this, and they find each other by their labels.

    python cluster_resolver_training.py WORKERS

The service account needs the verbs list and watch on pods in its namespace; docs/cluster-resolver.md has the Role.
"""

import sys

import tensorflow as tf

from azureml_k8s.cluster_resolver import KubernetesClusterResolver


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    resolver = KubernetesClusterResolver({"worker": ["app=train"]}, namespace="own")
    resolver.wait(int(sys.argv[1]), timeout=15 * 60)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
    data = tf.data.Dataset.from_tensor_slices((tf.random.normal([1024, 4]), tf.random.normal([1024, 1])))
    model.fit(data.batch(32), epochs=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
