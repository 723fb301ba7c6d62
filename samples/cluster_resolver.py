"""Wait for the workers of a job, and print what TensorFlow needs to know of them.

    python cluster_resolver.py NAMESPACE WORKERS [SELECTOR]

Run it in one of the pods, or anywhere with a kube context; `pip install "azureml-k8s[kubernetes]"` is enough,
TensorFlow is not needed. In a pod that is one of the workers, the last line is the value for TF_CONFIG.
"""

import sys

from azureml_k8s.cluster_resolver import (
    KubernetesApiError,
    KubernetesClusterResolver,
    PodCannotRunError,
    WaitTimeoutError,
)


def main() -> int:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    namespace, workers, *rest = sys.argv[1:]
    resolver = KubernetesClusterResolver({"worker": rest or ["job-name=tensorflow"]}, namespace=namespace)
    try:
        spec = resolver.wait(int(workers), timeout=10 * 60)
    except (KubernetesApiError, PodCannotRunError, WaitTimeoutError) as error:
        sys.exit(str(error))
    for index in spec.task_indices("worker"):
        print(index, spec.task_address("worker", index))
    if resolver.task_type is not None:
        print(resolver.tf_config(spec))
    return 0


if __name__ == "__main__":
    sys.exit(main())
