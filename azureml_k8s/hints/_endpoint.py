"""Online endpoints and deployments on a Kubernetes compute."""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_LOGS = "az ml online-deployment get-logs -e <endpoint> -n <deployment>"


def _rows(codes: tuple[str, ...], cause: str, remedy: str, *, verified: bool = True) -> tuple[Hint, ...]:
    return tuple(Hint(code, None, cause, remedy, "endpoint", verified) for code in codes)


ENDPOINT: tuple[Hint, ...] = (
    *_rows(
        ("ACRSecretError",),
        "The cluster got no pull secret for the container registry: no role assignment, or an old extension.",
        "Grant the identity AcrPull on the registry; bring the extension above version 1.1.25.",
    ),
    *_rows(
        ("TokenRefreshFailed", "GetAADTokenFailed"),
        "The extension got no token: its identity is not set properly, or Microsoft Entra ID is out of reach.",
        "Check the extension's identity, and that the cluster reaches login.microsoftonline.com (proxy, firewall); "
        "repeat; else reinstall the extension.",
    ),
    *_rows(
        ("ACRAuthenticationChallengeFailed", "ACRTokenExchangeFailed"),
        "The container registry is out of reach, or the role AcrPull is not effective yet.",
        "Check the registry's network rules (az acr check-health -n <registry>), wait some minutes, repeat.",
    ),
    *_rows(
        ("ImagePullLoopBackOff",),
        "The nodes cannot pull the image.",
        "Check the image's name, the registry's reachability from the nodes, and AcrPull: kubectl describe pod ...",
    ),
    *_rows(
        ("ImageBuildFailure",),
        "The environment's image could not be built.",
        "Read the build log (in the studio: Environments, Build log) and correct the environment.",
    ),
    *_rows(
        ("DeploymentCrashLoopBackOff", "KubernetesCrashLoopBackOff"),
        "The container ends again and again after its start.",
        f"Read its log ({_LOGS}); check memory limits and the probes.",
    ),
    *_rows(
        ("UserScriptInitFailed",),
        "The scoring script's init() raised.",
        f"Read the log ({_LOGS}) and correct init().",
    ),
    *_rows(
        ("UserScriptImportError",),
        "The scoring script imports something that its environment lacks.",
        "Add the package to the environment.",
    ),
    *_rows(
        ("UserScriptFunctionNotFound",),
        "The scoring script lacks init() or run().",
        "Define both in the scoring script.",
    ),
    *_rows(
        ("NamespaceNotFound",),
        "The compute's namespace does not exist in the cluster; attaching neither creates nor checks it.",
        "kubectl create namespace <namespace>, or detach and attach again with one that exists.",
    ),
    *_rows(
        ("EndpointNotFound",),
        "The endpoint is gone.",
        "az ml online-endpoint list; make it anew if need be.",
    ),
    *_rows(
        ("EndpointAlreadyExists",),
        "The endpoint's name is taken in this workspace and cluster, perhaps by remains of an earlier one.",
        "Choose another name, or remove the remains: kubectl get onlineendpoints -A.",
    ),
    *_rows(
        ("ScoringFeUnhealthy",),
        "The pods of the router azureml-fe are down.",
        "Check that the extension has enableInference=True and the cluster nodes enough for it: kubectl get pods -n "
        "azureml -l azuremlappname=azureml-fe.",
    ),
    Hint(
        "BadArgument",
        "azureml-fe",
        "The router azureml-fe is not ready.",
        "Check that the extension has enableInference=True and the cluster nodes enough for it: kubectl get pods -n "
        "azureml -l azuremlappname=azureml-fe.",
        "endpoint",
    ),
    *_rows(
        ("ValidateScoringFailed",),
        "The model failed its check.",
        f"Try model and script locally (az ml online-deployment create --local ...), and read the log ({_LOGS}).",
    ),
    *_rows(
        ("InvalidDeploymentSpec",),
        "The deployment's specification is not valid, for example requests above limits.",
        "Correct it; requests must stay within limits, and both within the instance type.",
    ),
    *_rows(
        ("PodUnschedulable",),
        "No node fits the pods: resources, node selector or taints.",
        "Compare the instance type with kubectl describe nodes; make it smaller or add nodes.",
    ),
    *_rows(
        ("OutOfQuota",),
        "The namespace's or the workspace's quota is used up.",
        "kubectl describe resourcequota -n <namespace>; make the instance type or the number of instances smaller.",
    ),
    *_rows(
        ("PodOutOfMemory",),
        "The container needs more memory than its limit.",
        "Use an instance type with a higher memory limit.",
    ),
    *_rows(
        ("InsufficientResources",),
        "The cluster has too little room for the deployment.",
        "Add nodes, or use a smaller instance type or fewer instances.",
        verified=False,
    ),
    *_rows(
        ("InferencingClientCallFailed", "InferencingClientCreateDeploymentFailed"),
        "The service cannot reach the extension in the cluster.",
        "kubectl get pods -n azureml: relayserver (Arc) and gateway have to run; restart them, else detach and attach "
        "again with the same name and namespace.",
    ),
    *_rows(
        ("KubernetesUnaccessible",),
        "The service may not or cannot reach the cluster.",
        "Check that the cluster runs and the workspace's identity has its roles on it; after a certificate rotation, "
        "detach and attach again.",
    ),
    *_rows(
        ("ResourceNotReady",),
        "Something that the deployment depends on is not ready yet.",
        f"Repeat; else look at the pods (kubectl get pods -n <namespace>) and the log ({_LOGS}).",
    ),
    *_rows(
        ("ResourceNotFound",),
        "Something that the deployment refers to is gone.",
        "Check the names in the message; make what is missing anew, then repeat.",
    ),
    *_rows(
        ("OperationCanceled",),
        "The operation was cancelled, often by another one of higher priority.",
        "Look what else ran at that time, then repeat.",
    ),
    *_rows(
        ("SecretsInjectionError",),
        "The endpoint's identity may not read the secrets that the deployment asks for.",
        "Grant it the right to read them: Azure Machine Learning Workspace Connection Secrets Reader, or Key Vault "
        "Secrets User.",
    ),
    *_rows(
        ("WorkspaceManagedNetworkNotReady",),
        "The workspace's managed network is not provisioned yet.",
        "az ml workspace provision-network -g <group> -n <workspace>, wait, repeat.",
    ),
    *_rows(
        ("InternalServerError",),
        "The service failed and does not say why.",
        "Repeat; if it stays, give Azure support the request id.",
    ),
    *_rows(
        ("NotSupported",),
        "The operation is not possible on a compute of the legacy type AKS.",
        "Attach the cluster as a Kubernetes compute, and use that.",
    ),
)
