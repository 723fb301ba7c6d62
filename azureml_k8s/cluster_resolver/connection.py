"""The door to the kubernetes package: one private client, whose answers we read ourselves.

The package knows kubeconfigs, exec plugins, certificates and the rotation of tokens. Its typed pods cost a hundred
times the memory of what is needed here, so answers are taken raw; its global default configuration is left alone.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from azureml_k8s.cluster_resolver.checks import ExecutableLocation
from azureml_k8s.cluster_resolver.errors import KubernetesApiError

__all__ = ["Connection", "api_exception", "is_installed", "own_namespace", "require", "transport_error"]

#: Where Kubernetes puts a pod's credentials:
#: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_HOST = "KUBERNETES_SERVICE_HOST"
_MISSING_PACKAGE = (
    "The Kubernetes Python client must be installed before using the Kubernetes cluster resolver without "
    "override_client. To install it, run `pip install 'azureml-k8s[kubernetes]'` on your command line."
)


class Connection:
    """A client of the cluster that this program belongs to, made at the first request and again on demand.

    Args:
        location: Whether to use the service account, the kubeconfig, or what is there.
    """

    def __init__(self, location: ExecutableLocation) -> None:
        self._location = location
        self._lock = threading.Lock()
        self._api: Any = None

    def api(self) -> Any:
        """Return the ``CoreV1Api`` of the cluster, made now if there is none; sends nothing (an exec plugin may).

        Raises:
            ImportError: The kubernetes package is absent.
            KubernetesApiError: There are no usable credentials; the error says what is missing.
        """
        with self._lock:
            if self._api is None:
                self._api = _connect(self._location)
            return self._api

    def renew(self, used: Any) -> None:
        """Forget the client that was used, so that credentials are read again; a newer one is kept."""
        with self._lock:
            if self._api is used:
                self._api = None

    def own_namespace(self) -> str:
        """Return the namespace of the service account, or of the kubeconfig's current context."""
        return own_namespace(self._location)


def is_installed() -> bool:
    """Whether the kubernetes package is there; does not import it."""
    if "kubernetes" in sys.modules:
        return sys.modules["kubernetes"] is not None
    return find_spec("kubernetes") is not None


def require() -> None:
    """Raise ImportError with the command that installs it, if the kubernetes package is absent."""
    if not is_installed():
        raise ImportError(_MISSING_PACKAGE)


def api_exception() -> type[Exception]:
    """Return the class of errors that stand for an answer of the API server."""
    kind: type[Exception] = _package().client.ApiException
    return kind


def transport_error() -> type[Exception]:
    """Return the class of errors that stand for a broken connection: urllib3's, which the package lets through."""
    from urllib3.exceptions import HTTPError

    return HTTPError


def own_namespace(location: ExecutableLocation) -> str:
    """Return the service account's namespace where this program runs in a pod, else the kubeconfig context's."""
    if _is_within_cluster(location):
        try:
            return (SERVICE_ACCOUNT / "namespace").read_text().strip()
        except OSError as error:
            raise KubernetesApiError(f'namespace="own": cannot read {error.filename}: {error.strerror}') from error
    config = _package().config
    try:
        _, context = config.list_kube_config_contexts(config_file=_kubeconfig())
        return str(context["context"].get("namespace") or "default")
    except Exception as error:  # the package lets through what its parsers raise
        raise _unusable_kubeconfig(error) from None


def _connect(location: ExecutableLocation) -> Any:
    package = _package()
    configuration = package.client.Configuration()
    configuration.retries = False  # we repeat requests ourselves, and a redirect must not carry the token away
    if _is_within_cluster(location):
        try:
            package.config.load_incluster_config(client_configuration=configuration)
        except (package.config.ConfigException, OSError) as error:
            raise KubernetesApiError(f"the pod's service account cannot be used: {error}") from error
    else:
        try:
            package.config.load_kube_config(config_file=_kubeconfig(), client_configuration=configuration)
        except Exception as error:  # as above
            raise _unusable_kubeconfig(error) from None
    return package.client.CoreV1Api(package.client.ApiClient(configuration))


def _package() -> Any:
    require()
    import kubernetes.client
    import kubernetes.config

    return kubernetes


def _kubeconfig() -> str:
    # Read now: the package looks at the variable only when it is imported.
    return os.environ.get("KUBECONFIG") or "~/.kube/config"


def _is_within_cluster(location: ExecutableLocation) -> bool:
    if location is ExecutableLocation.OFF_CLUSTER:
        return False
    pieces = {
        f"the environment variable {_HOST}": bool(os.environ.get(_HOST)),
        **{f"the file {SERVICE_ACCOUNT / name}": (SERVICE_ACCOUNT / name).is_file() for name in ("token", "ca.crt")},
    }
    missing = [piece for piece, is_there in pieces.items() if not is_there]
    if not missing:
        return True
    if location is ExecutableLocation.DETECT and len(missing) == len(pieces):
        return False
    raise KubernetesApiError(
        f"this looks like a pod, but {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; "
        "mount the service account's token (automountServiceAccountToken), give override_client, or give "
        "executable_location=ExecutableLocation.OFF_CLUSTER to use the kubeconfig"
        if location is ExecutableLocation.DETECT
        else f"executable_location is WITHIN_CLUSTER, but {' and '.join(missing)} "
        f"{'is' if len(missing) == 1 else 'are'} missing; is this a pod with a service account's token?"
    )


def _unusable_kubeconfig(error: Exception) -> KubernetesApiError:
    # The package's messages may quote an entry of the file, with its token.
    what = str(error).partition("{")[0].splitlines()[:1] if "ConfigException" in type(error).__name__ else []
    return KubernetesApiError(
        f"the kubeconfig {_kubeconfig()} cannot be used ({': '.join([type(error).__name__, *what])}); "
        "`kubectl config view` shows it, the variable KUBECONFIG names another"
    )
