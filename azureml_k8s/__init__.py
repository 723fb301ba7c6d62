"""Attach Kubernetes clusters to Azure Machine Learning workspaces.

Each public name is loaded from its file on first use, so importing this package loads nothing but itself. Nothing is
printed; messages go to the logger ``azureml_k8s``.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from azureml_k8s._version import __version__

if TYPE_CHECKING:
    from azureml_k8s import authentication as authentication
    from azureml_k8s import compute as compute
    from azureml_k8s import compute_target as compute_target
    from azureml_k8s import exceptions as exceptions
    from azureml_k8s import workspace as workspace
    from azureml_k8s._operation import Progress as Progress
    from azureml_k8s.clouds import Cloud as Cloud
    from azureml_k8s.cluster_resolver import ClusterResolver as ClusterResolver
    from azureml_k8s.cluster_resolver import ClusterSpec as ClusterSpec
    from azureml_k8s.cluster_resolver import ExecutableLocation as ExecutableLocation
    from azureml_k8s.cluster_resolver import KubernetesClusterResolver as KubernetesClusterResolver
    from azureml_k8s.compute.compute import ComputeTarget as ComputeTarget
    from azureml_k8s.compute.compute import ComputeTargetAttachConfiguration as ComputeTargetAttachConfiguration
    from azureml_k8s.compute.kubernetescompute import Difference as Difference
    from azureml_k8s.compute.kubernetescompute import KubernetesCompute as KubernetesCompute
    from azureml_k8s.compute.kubernetescompute import (
        KubernetesComputeAttachConfiguration as KubernetesComputeAttachConfiguration,
    )
    from azureml_k8s.compute.kubernetescompute import KubernetesComputeStatus as KubernetesComputeStatus
    from azureml_k8s.exceptions import AuthenticationException as AuthenticationException
    from azureml_k8s.exceptions import AzureMLException as AzureMLException
    from azureml_k8s.exceptions import ComputeTargetException as ComputeTargetException
    from azureml_k8s.exceptions import ConflictException as ConflictException
    from azureml_k8s.exceptions import ForbiddenException as ForbiddenException
    from azureml_k8s.exceptions import NotFoundException as NotFoundException
    from azureml_k8s.exceptions import OperationFailedException as OperationFailedException
    from azureml_k8s.exceptions import OperationTimeoutException as OperationTimeoutException
    from azureml_k8s.exceptions import ProjectSystemException as ProjectSystemException
    from azureml_k8s.exceptions import ServiceException as ServiceException
    from azureml_k8s.exceptions import ThrottledException as ThrottledException
    from azureml_k8s.exceptions import UnreachableException as UnreachableException
    from azureml_k8s.exceptions import UserErrorException as UserErrorException
    from azureml_k8s.exceptions import WorkspaceException as WorkspaceException
    from azureml_k8s.workspace import Workspace as Workspace

#: azureml-core's name of the version.
VERSION = __version__

_HOME = {
    "AuthenticationException": "exceptions",
    "AzureMLException": "exceptions",
    "Cloud": "clouds",
    "ClusterResolver": "cluster_resolver",
    "ClusterSpec": "cluster_resolver",
    "ComputeTarget": "compute.compute",
    "ComputeTargetAttachConfiguration": "compute.compute",
    "ComputeTargetException": "exceptions",
    "ConflictException": "exceptions",
    "Difference": "compute.kubernetescompute",
    "ExecutableLocation": "cluster_resolver",
    "ForbiddenException": "exceptions",
    "KubernetesClusterResolver": "cluster_resolver",
    "KubernetesCompute": "compute.kubernetescompute",
    "KubernetesComputeAttachConfiguration": "compute.kubernetescompute",
    "KubernetesComputeStatus": "compute.kubernetescompute",
    "NotFoundException": "exceptions",
    "OperationFailedException": "exceptions",
    "OperationTimeoutException": "exceptions",
    "Progress": "_operation",
    "ProjectSystemException": "exceptions",
    "ServiceException": "exceptions",
    "ThrottledException": "exceptions",
    "UnreachableException": "exceptions",
    "UserErrorException": "exceptions",
    "Workspace": "workspace",
    "WorkspaceException": "exceptions",
}
#: What ``import azureml.core`` alone makes reachable with dots.
_MODULES = frozenset({"authentication", "compute", "compute_target", "exceptions", "workspace"})
#: What scripts for azureml-core import beside these, and where it is to be had.
_ELSEWHERE = frozenset(
    {
        "ContainerRegistry",
        "Dataset",
        "Datastore",
        "Environment",
        "Experiment",
        "Image",
        "Keyvault",
        "LinkedService",
        "Model",
        "PrivateEndPoint",
        "PrivateEndPointConfig",
        "Run",
        "RunConfiguration",
        "ScriptRun",
        "ScriptRunConfig",
        "Webservice",
        "get_run",
    }
)
__all__ = sorted([*_HOME, "VERSION", "__version__"])

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> object:
    if name in _ELSEWHERE:
        raise ImportError(
            f"{name} is not part of azureml_k8s, which attaches Kubernetes clusters: take it from azureml.core, or use"
            " azure-ai-ml. Both accept the name of a compute attached from here."
        )
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME) | _MODULES)
