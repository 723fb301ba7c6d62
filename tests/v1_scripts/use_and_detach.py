"""Use a cluster that is attached, print it, and detach it."""

import json

from azureml.core import ComputeTarget, Workspace
from azureml.core.authentication import InteractiveLoginAuthentication, ServicePrincipalAuthentication
from azureml.core.compute import KubernetesCompute
from azureml.exceptions import AzureMLException, ComputeTargetException

print(InteractiveLoginAuthentication.__name__, ServicePrincipalAuthentication.__name__)
ws = Workspace.from_config()
target = KubernetesCompute(ws, "k8s1")
print(target.name, target.default_instance_type, target.cluster_resource_id)
again = KubernetesCompute.deserialize(ws, json.loads(json.dumps(target.serialize())))
print(again.name, [one.name for one in ComputeTarget.list(ws)])
try:
    target.delete()
except ComputeTargetException as error:
    print(error.message)
target.detach()
print(target.provisioning_state)
target.wait_for_completion(show_output=True, is_delete_operation=True)
try:
    KubernetesCompute(ws, "k8s1")
except AzureMLException as error:
    print("gone:", isinstance(error, ComputeTargetException))
