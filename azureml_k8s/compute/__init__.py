"""Compute targets, under azureml-core's import paths."""

from __future__ import annotations

from typing import NoReturn

from azureml_k8s.compute.compute import ComputeTarget
from azureml_k8s.compute.kubernetescompute import KubernetesCompute

__all__ = ["ComputeTarget", "KubernetesCompute"]

_ELSEWHERE = frozenset(
    {
        "AdlaCompute",
        "AksCompute",
        "AmlCompute",
        "BatchCompute",
        "ComputeInstance",
        "DataFactoryCompute",
        "DatabricksCompute",
        "DsvmCompute",
        "HDInsightCompute",
        "KustoCompute",
        "RemoteCompute",
        "SynapseCompute",
    }
)


def __getattr__(name: str) -> NoReturn:
    if name in _ELSEWHERE:
        raise ImportError(
            f"{name} is not part of azureml_k8s, which handles Kubernetes computes: use azure.ai.ml.entities, or"
            " azureml-core. ComputeTarget reads computes of every type."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
