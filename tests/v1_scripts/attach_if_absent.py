"""Look the name up; attach the cluster where the lookup fails."""

import sys

from azureml.core import Workspace
from azureml.core.compute import ComputeTarget, KubernetesCompute
from azureml.core.compute_target import ComputeTargetException

resource_id = sys.argv[1]
ws = Workspace.from_config()
name = "k8s1"
try:
    target = ComputeTarget(ws, name)
    print("found", target.name)
except ComputeTargetException as error:
    print("absent:", "not found" in error.message)
    config = KubernetesCompute.attach_configuration(resource_id=resource_id)
    target = ComputeTarget.attach(ws, name, config)
    target.wait_for_completion(show_output=True)
print(target.provisioning_state)
