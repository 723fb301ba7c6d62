"""Labelled pods of a Kubernetes cluster to a TensorFlow cluster spec, without TensorFlow.

Importing this loads neither TensorFlow nor the kubernetes package. The guide is docs/cluster-resolver.md.
"""

from __future__ import annotations

from azureml_k8s.cluster_resolver._tensorflow import register as register_with_tensorflow
from azureml_k8s.cluster_resolver.base import ClusterResolver
from azureml_k8s.cluster_resolver.checks import ExecutableLocation
from azureml_k8s.cluster_resolver.errors import KubernetesApiError, PodCannotRunError, WaitTimeoutError
from azureml_k8s.cluster_resolver.pods import Pod
from azureml_k8s.cluster_resolver.resolver import KubernetesClusterResolver
from azureml_k8s.cluster_resolver.spec import ClusterDef, ClusterSpec, JobDef

#: The name that TensorFlow gives it beside the resolver.
KubernetesExecutableLocation = ExecutableLocation

__all__ = [
    "ClusterDef",
    "ClusterResolver",
    "ClusterSpec",
    "ExecutableLocation",
    "JobDef",
    "KubernetesApiError",
    "KubernetesClusterResolver",
    "KubernetesExecutableLocation",
    "Pod",
    "PodCannotRunError",
    "WaitTimeoutError",
    "register_with_tensorflow",
]
