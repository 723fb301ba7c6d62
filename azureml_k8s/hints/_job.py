"""Training jobs on a Kubernetes compute."""

from __future__ import annotations

from azureml_k8s.hints._hint import Hint

_TRAINING_CAUSE = "The extension was installed without support for training."
_TRAINING_REMEDY = (
    "az k8s-extension update -g <group> -c <cluster> --cluster-type <managedClusters or connectedClusters> "
    "-n <extension> --config enableTraining=True"
)

JOB: tuple[Hint, ...] = (
    Hint(
        None,
        "failed. 137",
        "A proxy intercepts calls to localhost, which ends the identity sidecar.",
        "Add 127.0.0.1 and localhost to what bypasses the proxy: az connectedk8s update -g <group> -n <cluster> "
        "--proxy-skip-range 127.0.0.1,localhost,...",
        "job",
    ),
    *(
        Hint(code, fragment, _TRAINING_CAUSE, _TRAINING_REMEDY, "job")
        for code, fragment in (
            ("E45004", "training feature is not enabled"),
            ("E45004", "does not support job type"),
            ("E45004", None),
            (None, "training feature is not enabled"),
            (None, "does not support job type"),
        )
    ),
    Hint(
        None,
        "failed. 9",
        "The job's instance type does not exist, or asks for more than any node has.",
        "kubectl get instancetypes; compare with the job's instance_type and the nodes (kubectl describe nodes), and "
        "correct the instance type's resources.",
        "job",
    ),
    Hint(
        None,
        "azure ml token service",
        "The job does not reach the Azure ML token service: private link or DNS of the workspace.",
        "From a pod of the cluster, resolve the workspace's addresses; correct the private endpoint and its DNS zone.",
        "job",
    ),
    Hint(
        None,
        "failed to acquire csi storage account credentials",
        "A workspace with the high-business-impact flag needs more roles for the compute's identity; or the network "
        "does not let the cluster reach the storage account.",
        "Give the compute's system identity Storage Blob Data Contributor and Storage Account Contributor on the "
        "workspace's storage account; check its firewall.",
        "job",
    ),
    Hint(
        None,
        "give either an account key or sas token",
        "The datastore has no credential, and the compute has no identity to do without.",
        "Detach, and attach again with an identity; grant it Storage Blob Data Reader (or Contributor) on the account.",
        "job",
    ),
    Hint(
        None,
        "unable to upload project files",
        "The storage account's firewall keeps the service out.",
        "Let trusted Azure services in (az storage account update -n <account> --bypass AzureServices) and grant the "
        "workspace's system identity Storage Blob Data Contributor.",
        "job",
    ),
    Hint(
        None,
        "no volume plugin matched",
        "The job stays in Init because it asks for a dataset in download mode, which Kubernetes does not offer.",
        "Mount the dataset instead of downloading it (mode ro_mount).",
        "job",
    ),
    *(
        Hint(
            None,
            fragment,
            "The job stays queued: the compute's namespace is missing, or no node has room for the instance type.",
            "kubectl get namespace <namespace>, and create it if it is missing; compare the instance type's resources "
            "and node selector with kubectl describe nodes.",
            "job",
        )
        for fragment in ("stuck in queued", "best-fit compute can only provide", "remains queued")
    ),
    Hint(
        None,
        "permission denied",
        "On OpenShift, SELinux keeps the job from the mounted dataset.",
        "Adapt the SELinux policy or the security context constraints of the namespace.",
        "job",
    ),
    Hint(
        None,
        "failed to find any pem data in certificate",
        "The cluster's controller manager signs no certificates: its signing flags are not set.",
        "Set --cluster-signing-cert-file and --cluster-signing-key-file of kube-controller-manager, or install the "
        "extension with --config enable_https=False.",
        "job",
    ),
)
