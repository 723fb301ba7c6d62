"""Attach Kubernetes clusters to Azure Machine Learning workspaces.

Each public name is loaded from its file on first use, so importing this package loads nothing but itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from azureml_k8s._version import __version__

if TYPE_CHECKING:
    from azureml_k8s.exceptions import AzureMLException as AzureMLException
    from azureml_k8s.exceptions import ComputeTargetException as ComputeTargetException

VERSION = __version__

_HOME = {
    "AzureMLException": "exceptions",
    "ComputeTargetException": "exceptions",
}
__all__ = sorted([*_HOME, "VERSION", "__version__"])


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME))
