"""Attach a cluster, wait, and show what the workspace now holds.

    python attach.py NAME CLUSTER_ID [NAMESPACE]

The workspace comes from a config.json, here or above (the portal offers it for download; `azureml-k8s emulator
--write-config DIR` writes one for a trial without Azure). Run it again as often as you like: what is there as asked is
left alone.
"""

import json
import sys

from azureml_k8s import ComputeTarget, ComputeTargetException, KubernetesCompute, Workspace


def main() -> int:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    name, cluster_id, *rest = sys.argv[1:]
    with Workspace.from_config() as ws:
        config = KubernetesCompute.attach_configuration(cluster_id, namespace=rest[0] if rest else "default")
        target = ComputeTarget.attach(ws, name, config)
        target.wait_for_completion(show_output=True, timeout=45 * 60)
        print(json.dumps(target.serialize(), indent=2))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ComputeTargetException as error:
        sys.exit(str(error))
