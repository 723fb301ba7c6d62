"""Wherever a workspace is taken, those of azureml-core and azure-ai-ml are taken too; neither package is imported.

The one place that touches names those packages keep private: the credential that the caller signed in with.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

from azureml_k8s.workspace import Workspace

#: azureml-core and azure-ai-ml take the cloud from it as well.
_CLOUD_VARIABLE = "AZUREML_CURRENT_CLOUD"
#: One workspace of ours for each of theirs, so that its connections and its token are shared.
_adopted: WeakKeyDictionary[Any, Workspace] = WeakKeyDictionary()
_lock = threading.Lock()


def adopt(workspace: object) -> Workspace:
    """Our workspace for whatever kind of workspace was given. Sends nothing.

    Args:
        workspace: A `Workspace`, an ``azureml.core.Workspace`` or an ``azure.ai.ml.MLClient``.

    Raises:
        TypeError: It is none of them.
        UserErrorException: It names no workspace (an MLClient may be without one).
    """
    if isinstance(workspace, Workspace):
        return workspace
    if not hasattr(workspace, "subscription_id") or isinstance(workspace, type):
        raise TypeError(
            "workspace must be an azureml_k8s.Workspace, an azureml.core.Workspace or an azure.ai.ml.MLClient, not"
            f" {'the class ' + workspace.__name__ if isinstance(workspace, type) else type(workspace).__name__}"
        )
    try:
        with _lock:
            if workspace not in _adopted:
                _adopted[workspace] = _translate(workspace)
            return _adopted[workspace]
    except TypeError:  # it can't be a key: no hash, or no weak references
        return _translate(workspace)


def _translate(theirs: Any) -> Workspace:
    is_client = hasattr(theirs, "workspace_name")
    return Workspace(
        theirs.subscription_id,
        theirs.resource_group_name if is_client else theirs.resource_group,
        theirs.workspace_name if is_client else theirs.name,
        credential=getattr(theirs, "_credential" if is_client else "_auth", None),
        cloud=os.environ.get(_CLOUD_VARIABLE) or "AzureCloud",
    )
