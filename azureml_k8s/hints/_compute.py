"""The compute and the cluster behind it."""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_REATTACH = "Detach, and attach again with exactly the same compute name and namespace, so that endpoints find it."
_STATE = (
    "az aks show -g <group> -n <cluster> --query '[powerState.code, provisioningState]', or for Arc "
    "az connectedk8s show -g <group> -n <cluster> --query connectivityStatus"
)

COMPUTE: tuple[Hint, ...] = (
    *(
        Hint(
            code,
            fragment,
            "The service could not read the compute: the cluster is stopped or out of reach, or the compute is wrongly "
            "configured.",
            f"Check that the cluster runs ({_STATE}) and start it if need be (az aks start ...). {_REATTACH}",
            "compute",
        )
        for code, fragment in (("GenericComputeError", None), (None, "failed to get compute information"))
    ),
    Hint(
        "ComputeNotFound",
        None,
        "The compute was detached while an endpoint still points at it.",
        "Attach the cluster again under the same compute name and namespace, or make the endpoint anew.",
        "compute",
    ),
    Hint(
        "ComputeNotAccessible",
        None,
        "The workspace's identity has no access to the AKS cluster.",
        "Grant the workspace's identity, on the cluster: Reader, Kubernetes Extension Contributor and Azure Kubernetes "
        'Service Cluster Admin: az role assignment create --assignee-object-id <principal id> --role "<role>" '
        "--scope <cluster id>.",
        "compute",
    ),
    Hint(
        "InvalidComputeInformation",
        None,
        "The compute is gone, or its settings or the extension's have changed since it was attached.",
        _REATTACH,
        "compute",
    ),
    *(
        Hint(
            code,
            fragment,
            "The service found no way into the cluster: no Relay configuration (Arc), or no AKS configuration.",
            f"For Arc, check the Relay in the cluster's group (az relay namespace list -g <group>). {_REATTACH}",
            "compute",
        )
        for code, fragment in (
            ("InvalidComputeNoKubernetesConfiguration", None),
            (None, "kubeconfig is invalid"),
        )
    ),
    Hint(
        "GenericClusterError",
        None,
        "A request to the cluster failed.",
        f"Check the cluster's state ({_STATE}) and the network between it and Azure ML, then repeat.",
        "compute",
    ),
    Hint(
        "ClusterNotReachable",
        None,
        "Azure ML cannot reach the cluster's API server.",
        "Start the cluster if it is stopped (az aks start -g <group> -n <cluster>); open the network (authorized IP "
        "ranges, firewall); with a private cluster check the private endpoint and its DNS zone.",
        "compute",
    ),
    Hint(
        "ClusterNotFound",
        None,
        "The cluster was deleted or moved, or the compute was attached with a wrong resource id.",
        "Compare the compute's cluster id with az aks list --query '[].id' (or az connectedk8s list); detach, and "
        "attach the right id.",
        "compute",
    ),
    Hint(
        "ClusterServiceNotFound",
        None,
        "The extension's service azureml-ingress-nginx-controller has no running pod behind it.",
        "kubectl get pods -n azureml, find out why the nginx pods do not run (kubectl describe pod ...), and restore "
        "them; reinstall the extension if they are gone.",
        "compute",
    ),
    Hint(
        "ClusterUnauthorized",
        None,
        "The Trusted Access token to the cluster has expired.",
        "Repeat after some minutes.",
        "compute",
    ),
    Hint(
        "KubernetesUnaccessible",
        "invalidcertificate",
        "The AKS cluster's certificate was rotated or has expired, and the service still uses the old one.",
        "Rotate an expired one (az aks rotate-certs -g <group> -n <cluster>); the service reads the new configuration "
        "within about 5 hours, or at once after a detach and attach.",
        "compute",
    ),
    Hint(
        "RefreshExtensionIdentityNotSet",
        None,
        "On AKS, the identity of the extension is not set on the node pools.",
        "Check that the extension's identity stands in the node pools' scale sets (az vmss identity show -g <node "
        "group> -n <scale set>); else reinstall the extension, then attach again, with replace=True.",
        "compute",
    ),
)
