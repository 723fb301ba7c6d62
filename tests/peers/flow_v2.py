"""Runs in azure-ai-ml's environment: one flow, named by the first argument; the last line is its result as JSON.

azure-ai-ml is led to the emulator by ARM_CLOUD_METADATA_URL and AZUREML_CURRENT_CLOUD alone.
"""

import json
import os
import sys
import time

from azure.ai.ml import MLClient, command
from azure.ai.ml.entities import IdentityConfiguration, KubernetesCompute, ManagedIdentityConfiguration
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError


class FakeCredential:
    """A credential whose token is a word; keeps the scopes that were asked for."""

    def __init__(self):
        self.scopes = []

    def get_token(self, *scopes, **kwargs):
        self.scopes.extend(scopes)
        return AccessToken("fake", int(time.time()) + 3600)


CREDENTIAL = FakeCredential()


def lifecycle(client):
    """Attach, read, list, use in a command, detach."""
    asked = KubernetesCompute(name="k8s1", resource_id=os.environ["AKS"], namespace="ns1")
    attached = client.compute.begin_attach(asked).result()
    result = {
        "location": client.workspaces.get("ws").location,
        "state": attached.provisioning_state,
        "namespace": attached.namespace,
        "cluster": client.compute.get("k8s1").resource_id,
        "listed": [(one.name, one.type) for one in client.compute.list()],
        "command_compute": command(command="true", environment="azureml:any:1", compute=attached.name).compute,
    }
    client.compute.begin_delete("k8s1", action="Detach").result()
    return {**result, "left": [one.name for one in client.compute.list()], "scopes": sorted(set(CREDENTIAL.scopes))}


def identity(client):
    """Attach with a user-assigned identity, tags, a description and instance types; read back."""
    mine = ManagedIdentityConfiguration(resource_id=os.environ["IDENTITY"])
    asked = KubernetesCompute(
        name="k8s2",
        resource_id=os.environ["ARC"],
        namespace="ns1",
        description="d",
        tags={"a": "b"},
        properties={"instanceTypes": {"cpu": {"resources": {"limits": {"cpu": "1"}}}}},
        identity=IdentityConfiguration(type="user_assigned", user_assigned_identities=[mine]),
    )
    client.compute.begin_create_or_update(asked).result()
    read = client.compute.get("k8s2")
    ids = [one.resource_id for one in read.identity.user_assigned_identities]
    return {"type": read.identity.type, "ids": ids, "tags": read.tags, "description": read.description}


def failure(client):
    """Read what is absent, attach what fails, be refused."""
    result = {}
    try:
        client.compute.get("absent")
    except ResourceNotFoundError as error:
        result["absent"] = error.status_code
    try:
        client.compute.begin_attach(KubernetesCompute(name="broken", resource_id=os.environ["BROKEN"])).result()
    except HttpResponseError as error:
        result["failed"] = str(error)
    try:
        client.compute.begin_attach(KubernetesCompute(name="bad--", resource_id=os.environ["AKS"])).result()
    except HttpResponseError as error:
        result["refused"] = [error.status_code, str(error)]
    read = client.compute.get("broken")
    return {**result, "state": read.provisioning_state, "errors": read.provisioning_errors}


def shared(client):
    """See, use and detach what another client attached."""
    read = client.compute.get("ours")
    job = command(command="true", environment="azureml:any:1", compute=read.name)
    client.compute.begin_delete("ours", action="Detach").result()
    return {"namespace": read.namespace, "command_compute": job.compute}


if __name__ == "__main__":
    ml_client = MLClient(CREDENTIAL, os.environ["SUBSCRIPTION"], "rg", "ws")
    print(json.dumps(globals()[sys.argv[1]](ml_client)))
