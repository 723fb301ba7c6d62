"""Runs in azureml-core's environment: one flow, named by the first argument; the last line is its result as JSON.

azureml-core is led to the emulator by an authentication object of its own kind: its cloud is AzureCloud with another
resource manager, its token a JSON web token that nobody signed (azureml-core reads the expiry from it).
"""

import base64
import copy
import json
import os
import sys
import time
from collections import namedtuple

from azureml.core import ScriptRunConfig, Workspace
from azureml.core.authentication import AbstractAuthentication
from azureml.core.compute import ComputeTarget, KubernetesCompute
from azureml.core.compute_target import ComputeTargetException

SUBSCRIPTION = os.environ["SUBSCRIPTION"]
Subscription = namedtuple("Subscription", "subscription_name subscription_id")


class EmulatorAuthentication(AbstractAuthentication):
    """Signs in to the emulator."""

    def __init__(self):
        super().__init__("AzureCloud")
        self._cloud_type = copy.copy(self._cloud_type)
        self._cloud_type.endpoints = copy.copy(self._cloud_type.endpoints)
        self._cloud_type.endpoints.resource_manager = os.environ["URL"] + "/"

    def _token(self):
        claims = {"exp": int(time.time()) + 3600, "tid": SUBSCRIPTION}
        parts = [json.dumps({"alg": "none"}), json.dumps(claims), "nobody signed this"]
        return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)

    _get_arm_token = _get_graph_token = _get_azureml_client_token = _token

    def _get_all_subscription_ids(self):
        return [Subscription("emulated", SUBSCRIPTION)], SUBSCRIPTION

    def _get_workspace(self, *args):
        return None


def lifecycle(ws):
    """Attach, wait, list, read, use in a run configuration, detach."""
    configuration = KubernetesCompute.attach_configuration(os.environ["AKS"], "ns1")
    target = ComputeTarget.attach(ws, "k8s1", configuration)
    attached = target.provisioning_state
    target.wait_for_completion(show_output=True)
    result = {
        "location": ws.location,
        "first_state": attached,
        "status": target.get_status().serialize()["provisioningState"],
        "namespace": target.namespace,
        "cluster": target.cluster_resource_id,
        "listed": [(one.name, one.type) for one in ComputeTarget.list(ws)],
        "by_name": sorted(ws.compute_targets),
        "class": type(ComputeTarget(ws, "k8s1")).__name__,
        "run_target": ScriptRunConfig(".", script="train.py", compute_target=target).run_config.target,
    }
    target.detach()
    target.wait_for_completion(is_delete_operation=True)
    return {**result, "left": sorted(ws.compute_targets)}


def identity(ws):
    """Attach with a user-assigned identity and without a namespace, read back, detach."""
    configuration = KubernetesCompute.attach_configuration(
        os.environ["AKS"], identity_type="UserAssigned", identity_ids=[os.environ["IDENTITY"]]
    )
    target = ComputeTarget.attach(ws, "k8s2", configuration)
    target.wait_for_completion()
    read = ComputeTarget(ws, "k8s2")
    return {"type": read.identity_type, "ids": list(read.identity_ids), "serialized": read.serialize()["name"]}


def failure(ws):
    """Read what is absent, attach what fails."""
    result = {}
    try:
        ComputeTarget(ws, "absent")
    except ComputeTargetException as error:
        result["absent"] = error.message
    target = ComputeTarget.attach(ws, "broken", KubernetesCompute.attach_configuration(os.environ["BROKEN"], "ns1"))
    try:
        target.wait_for_completion()
    except ComputeTargetException as error:
        result["failed"] = error.message
    read = ComputeTarget(ws, "broken")
    return {**result, "state": read.provisioning_state, "errors": read.provisioning_errors}


def shared(ws):
    """See, use and detach what another client attached."""
    target = ws.compute_targets["ours"]
    by_name = ScriptRunConfig(".", script="train.py", compute_target="ours").run_config.target
    target.detach()
    target.wait_for_completion(is_delete_operation=True)
    return {"namespace": target.namespace, "run_target": by_name}


if __name__ == "__main__":
    workspace = Workspace(SUBSCRIPTION, "rg", "ws", auth=EmulatorAuthentication())
    print(json.dumps(globals()[sys.argv[1]](workspace)))
