"""Installation of the Azure ML extension in a cluster."""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_HEALTHCHECK = "kubectl describe configmap -n azureml arcml-healthcheck"

EXTENSION: tuple[Hint, ...] = (
    Hint(
        None,
        "cannot re-use a name that is still in use",
        "Another instance of the extension exists, or is still being removed.",
        "Look for it (az k8s-extension list ...; helm list -A), delete it, wait about an hour, install again.",
        "extension",
    ),
    Hint(
        None,
        "earlier operation",
        "An earlier operation on the extension is still in progress.",
        "Wait, at most about an hour, until az k8s-extension show ... --query provisioningState says an end state.",
        "extension",
    ),
    *(
        Hint(
            None,
            fragment,
            "The namespace azureml is still being removed after an earlier uninstall.",
            "Wait, at most about an hour, until kubectl get namespace azureml finds nothing; then install again.",
            "extension",
        )
        for fragment in ("namespace azureml is being terminated", "because it is being terminated")
    ),
    Hint(
        None,
        "chart path not found",
        "There is no such version of the extension, or not on that release train.",
        "Leave out --version, and use --release-train stable.",
        "extension",
    ),
    Hint(
        None,
        "invalid ownership metadata",
        "A component that the extension brings (volcano, custom resource definitions, azureml-fe) is there already.",
        "Give the object that the message names to helm (label app.kubernetes.io/managed-by=Helm, annotations "
        "meta.helm.sh/release-name and release-namespace), or switch the component off, for example "
        "--config installVolcano=False.",
        "extension",
    ),
    *(
        Hint(
            None,
            fragment,
            "The installation took more than its 15 minutes, or the cluster's agents did not report.",
            "Check the Arc agents (kubectl get pods -n azure-arc; az connectedk8s upgrade ...), that the nodes have "
            f"room (kubectl get nodes; kubectl get pods -n azureml), and the report ({_HEALTHCHECK}); install again.",
            "extension",
        )
        for fragment in ("timed out or status not populated", "status not populated", "timed out waiting for the")
    ),
    *(
        Hint(
            code,
            fragment,
            "The extension's own check, before or after its installation, failed.",
            f"Read what it found: {_HEALTHCHECK}; look up the E4xxxx code there.",
            "extension",
        )
        for code, fragment in (
            (None, "failed pre-install"),
            (None, "healthcheck failed"),
            (None, "arcml-healthcheck"),
        )
    ),
    Hint(
        "ExtensionOperationFailed",
        None,
        "The installation or change of the extension failed; the reason stands in its statuses.",
        f"az k8s-extension show ... --query statuses; then the healthcheck: {_HEALTHCHECK}.",
        "extension",
    ),
    Hint(
        "AuthorizationFailed",
        "extensionaddons/read",
        "The provider Microsoft.KubernetesConfiguration is not registered in the cluster's subscription.",
        "az provider register -n Microsoft.KubernetesConfiguration; wait until it is Registered, then repeat.",
        "extension",
    ),
    Hint(
        "InvalidAuthenticationToken",
        "puid",
        "The token lacks the claims puid, altsecid or oid: the Azure CLI is signed in to another tenant.",
        "Sign in again: az account clear; az login --tenant <tenant id>; az account set -s <subscription>.",
        "extension",
    ),
    Hint(
        None,
        "oomkilled",
        "The Arc agent extension-operator runs out of memory, usually from too many pending helm secrets.",
        "kubectl get secrets -A --field-selector type=helm.sh/release.v1, delete those of pending and superseded "
        "releases, then restart the pod in the namespace azure-arc.",
        "extension",
    ),
    *(
        Hint(
            None,
            fragment,
            "Another ingress controller in the cluster claims the same ingress class as the extension's nginx.",
            "Let the other controller watch its own class only (kubectl get ingressclass), or set the extension's "
            "--config nginxIngress.controller=...",
            "extension",
        )
        for fragment in ("ingress class", "ingressclass")
    ),
    Hint(
        None,
        "worker-processes",
        "The extension's nginx starts one worker for each processor of a large node, and runs out of memory.",
        "Lower worker-processes in the config map of the nginx controller (kubectl get configmap -n azureml).",
        "extension",
        verified=False,
    ),
    Hint(
        None,
        "unable to get the status from the local crd",
        "The cluster's Arc agents are not healthy.",
        "kubectl get pods -n azure-arc; restart or upgrade the agents (az connectedk8s upgrade -g <group> -n "
        "<cluster>); then repeat.",
        "extension",
    ),
)
