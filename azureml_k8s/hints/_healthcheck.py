"""Codes in the extension's health report (config map ``arcml-healthcheck`` in the namespace ``azureml``).

Codes below E45000 mean that something is wrong; those above, that something may be and a person has to look.
"""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_LOGS = "kubectl describe configmap -n azureml arcml-healthcheck, and kubectl logs of the pods that it names."

HEALTHCHECK: tuple[Hint, ...] = tuple(
    Hint(code, None, cause, remedy, "healthcheck", verified=code != "E45006")
    for code, cause, remedy in (
        ("E40000", "The health check met an error that it does not know (UNKNOWN_ERROR).", f"Read the logs: {_LOGS}"),
        (
            "E40001",
            "The cluster offers no load balancer (LOAD_BALANCER_NOT_SUPPORT).",
            "Set --config inferenceRouterServiceType=nodePort or =clusterIP (az k8s-extension update ...).",
        ),
        (
            "E40002",
            "There are too few nodes that fit; a highly available router needs three (INSUFFICIENT_NODE).",
            "Check the extension's nodeSelector, add nodes, or set --config inferenceRouterHA=False.",
        ),
        (
            "E40003",
            "An internal load balancer is only possible on AKS (INTERNAL_LOAD_BALANCER_NOT_SUPPORT).",
            "Leave out internalLoadBalancerProvider on other clusters.",
        ),
        (
            "E40004",
            "The router's deployment azureml-fe is missing (AZUREML_FE_DEPLOYMENT_NOT_FOUND).",
            "kubectl get deployments -n azureml; update or reinstall the extension with enableInference=True.",
        ),
        (
            "E40005",
            "The router could not be scaled up in time (AZUREML_FE_SCALE_UP_TIMEOUT).",
            "Give the cluster room (kubectl get nodes; kubectl describe deployment -n azureml azureml-fe-v2), repeat.",
        ),
        (
            "E40006",
            "The router's number of replicas could not be changed (AZUREML_FE_UPDATE_REPLICAS_FAILED).",
            "kubectl describe deployment -n azureml azureml-fe-v2 says why.",
        ),
        (
            "E40007",
            "The TLS settings are wrong (INVALID_SSL_SETTING).",
            "Give certificate and key both, intact, in PEM without passphrase, and an sslCname that the certificate is "
            "for.",
        ),
        (
            "E45001",
            "A pod, job, deployment, daemon set or stateful set of the extension is not healthy (AGENT_UNHEALTHY).",
            "kubectl get all -n azureml; describe what is not ready.",
        ),
        (
            "E45002",
            "A Prometheus operator of another version is in the cluster (PROMETHEUS_CONFLICT).",
            "Set --config installPromOp=False, or bring both to one version.",
        ),
        (
            "E45003",
            "The cluster does not reach what Azure ML needs (BAD_NETWORK_CONNECTIVITY).",
            "Allow the outbound addresses of Azure ML (container registry, storage, <region>.api.azureml.ms, "
            "mcr.microsoft.com); with private link check endpoints and DNS.",
        ),
        (
            "E45004",
            "In a health report: roles of the legacy azureml-fe are in the way (AZUREML_FE_ROLE_CONFLICT). In a job's "
            "error the same number means that training is not enabled in the extension.",
            "Health report: remove the legacy azureml-fe's roles, or set --config scoringFe.enableUpgrade=true. Job: "
            "az k8s-extension update ... --config enableTraining=True.",
        ),
        (
            "E45005",
            "A deployment of the legacy azureml-fe is in the way (AZUREML_FE_DEPLOYMENT_CONFLICT).",
            "Remove the legacy azureml-fe, or set --config scoringFe.enableUpgrade=true.",
        ),
        (
            "E45006",
            "An instance type could not be validated or updated (not in any document; from one report).",
            "Correct it: kubectl get instancetypes; requests and limits both need cpu and memory, as texts above zero.",
        ),
        ("E49999", "The health check itself crashed (CHECKER_PANIC).", f"Read the logs: {_LOGS}"),
    )
)
