"""azureml-core's path to the exception that most scripts catch."""

from __future__ import annotations

from typing import NoReturn

from azureml_k8s.exceptions import ComputeTargetException, UserErrorException

__all__ = ["ComputeTargetException", "UserErrorException"]

_ELSEWHERE = frozenset({"AbstractComputeTarget", "LocalTarget", "is_compute_target_prepared", "prepare_compute_target"})


def __getattr__(name: str) -> NoReturn:
    if name in _ELSEWHERE:
        raise ImportError(
            f"{name} is not part of azureml_k8s: it serves the runs of azureml-core. For a compute of the workspace use"
            " azureml_k8s.ComputeTarget."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
