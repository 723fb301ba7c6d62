"""Look into the workspace's dictionary; attach with a namespace and an identity, and print the status."""

import json
import sys

import azureml.core
from azureml.core import Workspace
from azureml.core.compute import KubernetesCompute
from azureml.core.compute.kubernetescompute import KubernetesComputeAttachConfiguration

print("SDK version:", azureml.core.VERSION)
ws = Workspace.from_config(path=".")
print(ws.name, ws.resource_group, ws.location, ws.subscription_id, sep="\t")
name = "k8s2"
if name in ws.compute_targets:
    target = ws.compute_targets[name]
    if target and type(target) is KubernetesCompute:
        print("found", name)
else:
    config = KubernetesCompute.attach_configuration(sys.argv[1], namespace="ml", identity_type="SystemAssigned")
    assert isinstance(config, KubernetesComputeAttachConfiguration)
    print(json.dumps(config.to_dict()))
    target = KubernetesCompute.attach(ws, name, config)
    target.wait_for_completion(show_output=True)
    print(json.dumps(target.get_status().serialize()))
print(target.namespace, target.identity_type, target.provisioning_state)
