"""Attach, detach, Azure Resource Manager, sign-in."""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_ROLES = (
    "Grant that identity, on the cluster: Reader, Kubernetes Extension Contributor and Azure Kubernetes Service "
    "Cluster Admin (for an Arc cluster also Azure Relay Owner on its Relay): az role assignment create "
    '--assignee-object-id <principal id> --assignee-principal-type ServicePrincipal --role "<role>" '
    "--scope <cluster id>. Wait some minutes, up to an hour, then attach again, with replace=True."
)
_STATIC_CAUSE = "The AKS cluster has local accounts disabled, and the workspace has no Trusted Access to it."
_STATIC_REMEDY = (
    "Enable local accounts (az aks update -g <group> -n <cluster> --enable-local-accounts) or set up Trusted Access "
    "(check with az aks trustedaccess rolebinding list -g <group> --cluster-name <cluster>), then detach and attach "
    "again."
)
_VERSION_CAUSE = "The api-version that the request names does not exist, or not in this cloud or region."
_VERSION = (
    "Take one of the versions that the message offers and pass it as api_version= to Workspace(...), or as "
    "api_version= to Cloud(...) for every workspace of that cloud."
)
_NO_SUCH_COMPUTE = (
    "Check the compute's name and the workspace (az ml compute list -g <group> -w <workspace> -o table); if it is "
    "absent, attach the cluster."
)
_NO_SUCH_WORKSPACE = (
    "Check subscription, resource group and workspace name (in config.json, if one is used), and that you are signed "
    "in to the right tenant: az account show; az ml workspace show -g <group> -n <workspace>."
)

ATTACH: tuple[Hint, ...] = (
    Hint(
        None,
        "compute name is invalid",
        "The compute's name breaks the service's rule.",
        "Choose a name of 2 to 16 letters, digits and '-' that begins with a letter and ends with a letter or digit.",
        "attach",
    ),
    Hint(
        None,
        "role check failed for",
        "The workspace has a user-assigned identity, and that lacks roles on the cluster.",
        _ROLES,
        "attach",
    ),
    *(
        Hint(None, fragment, _STATIC_CAUSE, _STATIC_REMEDY, "attach")
        for fragment in ("failed to get static credential", "disable local accounts", "local accounts are disabled")
    ),
    *(
        Hint(
            code,
            fragment,
            "The cluster has no Azure ML extension, or the workspace's user-assigned identity may not see it because "
            "it lacks the role Kubernetes Extension Contributor.",
            "List the cluster's extensions: az k8s-extension list -g <group> -c <cluster> --cluster-type "
            "managedClusters (connectedClusters for Arc). If none has the type Microsoft.AzureML.Kubernetes, install "
            "it: az k8s-extension create --extension-type Microsoft.AzureML.Kubernetes --scope cluster ... If there is "
            "one, grant the identity Kubernetes Extension Contributor on the cluster. Then attach again, with "
            "replace=True.",
            "attach",
        )
        for code, fragment in (
            ("ExtensionNotFound", None),
            (None, "extension not installed"),
            (None, "extension is not installed"),
            (None, "extension not found"),
        )
    ),
    *(
        Hint(
            code,
            fragment,
            "The service gave up without saying why. Seen after a long attach when the workspace's user-assigned "
            "identity lacks Azure Kubernetes Service Cluster Admin, when the AKS cluster is in another subscription "
            "than the workspace, when the extension is unhealthy, and when the name of workspace or group ends in '-'.",
            "Check these in that order: the identity's roles on the cluster; the two subscriptions (a cluster of "
            "another one has to be connected through Arc in the workspace's); the extension (az k8s-extension show "
            "... and kubectl get pods -n azureml); the names. Then detach and attach again. If it stays, give Azure "
            "support the request id (x-ms-request-id).",
            "attach",
        )
        for code, fragment in (("InternalServerError", None), (None, "internal server error"))
    ),
    Hint(
        None,
        "relay resource id or connection string are not provided",
        "The Azure Relay of the Arc cluster is missing or was deleted, perhaps by an earlier clean-up.",
        "Reinstall the extension, which creates the Relay: az k8s-extension delete -g <group> -c <cluster> "
        "--cluster-type connectedClusters -n <extension>, then az k8s-extension create ...; then attach again, with "
        "replace=True.",
        "attach",
    ),
    Hint(
        "AuthorizationFailed",
        None,
        "The caller lacks the action that the message names, or a role was granted so recently that it is not "
        "effective yet.",
        "Have somebody grant a role with that action at the named scope: AzureML Compute Operator, Contributor or "
        "Owner on the workspace (AzureML Data Scientist may not attach or detach), and Azure Kubernetes Service "
        "Cluster Admin on the cluster. A new grant takes minutes, at most about an hour; sign in again, then repeat.",
        "attach",
    ),
    Hint(
        "LinkedAuthorizationFailed",
        None,
        "The caller may write the compute but not use what it refers to: the user-assigned identity or the cluster.",
        "Grant the caller Managed Identity Operator on the identity, and Reader on the cluster; both scopes stand in "
        "the message.",
        "attach",
        verified=False,
    ),
    Hint(
        "MissingSubscriptionRegistration",
        None,
        "The subscription is not registered for the resource provider that the message names.",
        "az provider register -n <namespace in the message>, then wait until az provider show -n <namespace> --query "
        "registrationState says Registered. Needed are Microsoft.MachineLearningServices, "
        "Microsoft.KubernetesConfiguration, Microsoft.ContainerService (AKS) or Microsoft.Kubernetes and "
        "Microsoft.Relay (Arc).",
        "attach",
    ),
    Hint(
        "RequestDisallowedByPolicy",
        None,
        "An Azure Policy of the subscription or group forbids the request; the details name it.",
        "Change the request so that the policy allows it (location, tags), or ask its owner for an exemption: "
        "az policy assignment list --disable-scope-strict-match.",
        "attach",
        verified=False,
    ),
    Hint(
        "ScopeLocked",
        None,
        "A lock on the workspace, its group or its subscription forbids the change.",
        "Find it with az lock list -g <group> and have its owner remove it: az lock delete --ids <lock id>.",
        "attach",
        verified=False,
    ),
    Hint(
        "Conflict",
        None,
        "Another operation on the same resource is running.",
        "Wait until it has ended (az ml compute show -n <compute> --query provisioning_state), then repeat.",
        "attach",
        verified=False,
    ),
    *(
        Hint(code, None, "The workspace has no compute of that name.", _NO_SUCH_COMPUTE, "attach")
        for code in ("ComputeTargetNotFound", "ComputeNotFound")
    ),
    Hint("ResourceNotFound", "/computes/", "The workspace has no compute of that name.", _NO_SUCH_COMPUTE, "attach"),
    Hint(
        "ResourceNotFound",
        "microsoft.machinelearningservices/workspaces/",
        "The group has no workspace of that name, or the caller may not see it.",
        _NO_SUCH_WORKSPACE,
        "attach",
    ),
    Hint(
        "ResourceNotFound",
        None,
        "What the message names is absent: the compute, or the workspace itself.",
        f"{_NO_SUCH_COMPUTE} {_NO_SUCH_WORKSPACE}",
        "attach",
    ),
    *(
        Hint(
            code,
            fragment,
            "The subscription, the resource group or the workspace has another name, or the caller may not see it.",
            _NO_SUCH_WORKSPACE,
            "attach",
        )
        for code, fragment in (
            ("ParentResourceNotFound", None),
            ("ResourceGroupNotFound", None),
            ("SubscriptionNotFound", None),
            (None, "workspace not found"),
        )
    ),
    Hint(
        None,
        "unknown compute target",
        "An old SDK v1 lookup does not know the compute; reported as solved once the compute had an identity.",
        "Detach, and attach again with identity_type='SystemAssigned' (or a user-assigned identity).",
        "attach",
    ),
    Hint(
        None,
        "unsupported compute type",
        "The client that shows this is too old for Kubernetes computes; the compute itself may be fine.",
        "Upgrade the Azure CLI's ml extension: az extension update -n ml.",
        "attach",
    ),
    *(
        Hint(code, None, _VERSION_CAUSE, _VERSION, "attach")
        for code in ("NoRegisteredProviderFound", "InvalidApiVersionParameter", "UnsupportedApiVersion")
    ),
    *(
        Hint(None, fragment, _VERSION_CAUSE, _VERSION, "attach")
        for fragment in ("no registered resource provider found", "unsupported api version", "unsupported api-version")
    ),
    Hint(
        "AADSTS700024",
        None,
        "The pipeline's OIDC assertion has expired: it lives 5 minutes on GitHub, 10 in Azure DevOps.",
        "Sign in again right before this step, or ask for all tokens early in the job "
        "(az account get-access-token --resource https://management.azure.com).",
        "attach",
    ),
    Hint(
        "AADSTS7000215",
        None,
        "The service principal's secret is wrong; often its id was given in place of its value.",
        "Make a new secret (az ad app credential reset --id <client id>) and put its value where the job reads it.",
        "attach",
        verified=False,
    ),
    Hint(
        "AADSTS7000222",
        None,
        "The service principal's secret has expired.",
        "Make a new secret (az ad app credential reset --id <client id>) and put its value where the job reads it.",
        "attach",
        verified=False,
    ),
    *(
        Hint(
            code,
            None,
            "The token has expired, or is not one for Azure Resource Manager of this cloud.",
            "Sign in again (az login --tenant <tenant id>), and check that the workspace's cloud is the right one.",
            "attach",
        )
        for code in ("InvalidAuthenticationToken", "ExpiredAuthenticationToken")
    ),
    Hint(
        "InvalidAuthenticationTokenTenant",
        None,
        "The token is of another tenant than the subscription.",
        "Sign in to the subscription's tenant: az login --tenant <tenant id>, or give the credential its tenant_id.",
        "attach",
        verified=False,
    ),
    Hint(
        "SubscriptionRequestsThrottled",
        None,
        "The subscription or the caller has sent more requests than Azure Resource Manager allows.",
        "Wait as long as the answer says (Retry-After), and let fewer jobs poll at the same time.",
        "attach",
    ),
    Hint(
        None,
        "delete is not supported for kubernetescompute",
        "A Kubernetes compute links to a cluster that it does not own, so there is nothing to delete.",
        "Use detach(), which removes the link and leaves the cluster as it is.",
        "attach",
    ),
)
