"""Finding the cluster: service account, kubeconfig, and what is said when neither is whole."""

import base64
import json
import os
import stat
import sys
import textwrap

import pytest

from azureml_k8s.cluster_resolver import (
    ExecutableLocation,
    KubernetesApiError,
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
    connection,
)

from .fake_api import FakeApiServer
from .helpers import Client, json_pod

DETECT, WITHIN, OFF = (
    ExecutableLocation.DETECT,
    ExecutableLocation.WITHIN_CLUSTER,
    ExecutableLocation.OFF_CLUSTER,
)


def names(resolver):
    return resolver.cluster_spec().job_tasks("worker")


def test_members_are_tensorflows():
    """The two members that TensorFlow has are there with its values, and the default is ours."""
    assert (WITHIN.value, OFF.value) == (0, 1)
    assert KubernetesExecutableLocation is ExecutableLocation
    assert {member.name for member in ExecutableLocation} == {"WITHIN_CLUSTER", "OFF_CLUSTER", "DETECT"}


@pytest.mark.parametrize("missing", ["token", "ca.crt", "KUBERNETES_SERVICE_HOST"])
@pytest.mark.parametrize("location", [DETECT, WITHIN])
def test_half_a_pod(server, kubeconfig, service_account, monkeypatch, missing, location):
    """Where a piece is missing, the error names it; a kubeconfig that lies there is not used silently."""
    kubeconfig(server.url)
    folder = service_account(server)
    if missing.isupper():
        monkeypatch.delenv(missing)
    else:
        (folder / missing).unlink()
    made = KubernetesClusterResolver(executable_location=location)
    with pytest.raises(KubernetesApiError, match=f"{missing} is missing") as caught:
        made.cluster_spec()
    assert caught.value.status is None
    assert ("OFF_CLUSTER" in str(caught.value)) is (location is DETECT)
    assert server.api.seen == []
    assert names(KubernetesClusterResolver(executable_location=OFF)) == []


def test_no_pod_at_all():
    """WITHIN_CLUSTER outside of any pod names all that is missing."""
    with pytest.raises(KubernetesApiError, match=r"KUBERNETES_SERVICE_HOST and .*token and .*ca\.crt are missing"):
        KubernetesClusterResolver(executable_location=WITHIN).cluster_spec()


@pytest.mark.parametrize(("name", "text"), [("token", ""), ("ca.crt", "")])
def test_empty_service_account_files(server, service_account, name, text):
    """An empty file is an error that says so."""
    (service_account(server) / name).write_text(text)
    with pytest.raises(KubernetesApiError, match=r"the pod's service account cannot be used: .*empty"):
        KubernetesClusterResolver().cluster_spec()


def test_service_account_without_namespace(server, service_account):
    """namespace="own" without the namespace's file is an error that names the file."""
    (service_account(server) / "namespace").unlink()
    with pytest.raises(KubernetesApiError, match=r'namespace="own": cannot read .*namespace'):
        KubernetesClusterResolver(namespace="own").cluster_spec()


def test_ipv6_service_host(service_account, server, monkeypatch):
    """An IPv6 service host gets its brackets."""
    service_account(server)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert connection.Connection(WITHIN).api().api_client.configuration.host == "https://[fd00::1]:443"


def test_off_cluster_ignores_the_pod(server, kubeconfig, service_account):
    """OFF_CLUSTER uses the kubeconfig inside a pod, too."""
    service_account(server)
    kubeconfig(server.url)
    names(KubernetesClusterResolver(executable_location=OFF))
    assert len(server.api.seen) == 1


def test_no_kubeconfig():
    """Without a kubeconfig, the error says where it was looked for."""
    with pytest.raises(KubernetesApiError, match=r"the kubeconfig ~/\.kube/config cannot be used .*KUBECONFIG"):
        KubernetesClusterResolver().cluster_spec()
    with pytest.raises(KubernetesApiError, match="kubeconfig"):
        KubernetesClusterResolver(namespace="own").cluster_spec()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", "users: [{name: u, token: sekret}]", "\x00", "current-context: x\ncontexts: sekret"],
)
def test_damaged_kubeconfig(kubeconfig, text):
    """A damaged file is a RuntimeError that names it, and quotes nothing of it."""
    path = kubeconfig("http://127.0.0.1:9")
    path.write_text(text)
    for namespace in (None, "own"):
        with pytest.raises(KubernetesApiError) as caught:
            KubernetesClusterResolver(namespace=namespace).cluster_spec()
        assert str(path) in str(caught.value)
        assert "sekret" not in str(caught.value)


def test_entry_of_a_damaged_kubeconfig_is_not_quoted(kubeconfig):
    """An entry that lacks a key is not shown: it may hold a token."""
    path = kubeconfig("http://127.0.0.1:9")
    config = json.loads(path.read_text())
    config["users"] = [{"name": "u", "usr": {"token": "sekret"}}]
    path.write_text(json.dumps(config))
    with pytest.raises(KubernetesApiError) as caught:
        KubernetesClusterResolver().cluster_spec()
    assert "sekret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_several_files(server, kubeconfig, monkeypatch):
    """KUBECONFIG may name several files, whose entries are put together; it is read when it is needed."""
    server.api.put(json_pod("w", "10.0.0.1"))
    first = kubeconfig("http://127.0.0.1:9", name="first")
    second = kubeconfig(server.url, name="second")
    parts = json.loads(second.read_text())
    first.write_text(json.dumps({key: parts.pop(key) for key in ("clusters", "users", "current-context")}))
    second.write_text(json.dumps({**parts, "clusters": [], "users": []}))
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(first), str(second)]))
    assert names(KubernetesClusterResolver()) == ["10.0.0.1:8470"]


def test_exec_plugin(server, kubeconfig, tmp_path):
    """A plugin such as kubelogin gives the token; when that is refused, it is asked again."""
    server.api.put(json_pod("w", "10.0.0.1"))
    runs = tmp_path / "runs"
    plugin = tmp_path / "plugin"
    plugin.write_text(
        textwrap.dedent(
            f"""\
            #!{sys.executable}
            import json
            with open({str(runs)!r}, "a+") as runs:
                runs.write("x")
                runs.seek(0)
                token = f"token-{{len(runs.read())}}"
            print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential",
                              "status": {{"token": token}}}}))
            """
        )
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    execution = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": str(plugin), "args": []}
    kubeconfig(server.url, user={"exec": execution})
    server.api.users = {"token-2": "alice"}
    made = KubernetesClusterResolver()
    assert names(made) == names(made) == ["10.0.0.1:8470"]
    assert runs.read_text() == "xx"


def test_data_fields_and_client_certificate(kubeconfig, certificates):
    """Certificates may stand in the file itself."""
    import ssl

    def data(name):
        return base64.b64encode(certificates[name].read_bytes()).decode()

    with FakeApiServer(tls=(certificates["server.pem"], certificates["server.key"])) as server:
        context = server._server.socket.context
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(certificates["ca.pem"])
        server.api.put(json_pod("w", "10.0.0.1"))
        user = {
            "client-certificate-data": data("client.pem"),
            "client-key-data": data("client.key"),
            "token": "good-token",
        }
        kubeconfig(server.url, user=user, cluster={"certificate-authority-data": data("ca.pem")})
        assert names(KubernetesClusterResolver()) == ["10.0.0.1:8470"]


def test_missing_package(monkeypatch):
    """Without the kubernetes package, making a resolver says what to install; with a client it is not needed."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ImportError, match=r"pip install 'azureml-k8s\[kubernetes\]'"):
        KubernetesClusterResolver()
    assert KubernetesClusterResolver(override_client=Client()).cluster_spec() == {"worker": {}}


@pytest.mark.parametrize("is_there", [True, False])
def test_package_that_is_not_imported_yet(monkeypatch, is_there):
    """Whether the package is there is known without importing it."""
    monkeypatch.delitem(sys.modules, "kubernetes", raising=False)
    monkeypatch.setattr(connection, "find_spec", lambda name: object() if is_there else None)
    assert connection.is_installed() is is_there
    assert "kubernetes" not in sys.modules


def test_location_is_checked_before_the_package(monkeypatch):
    """A location that is none is told, whether the package is there or not."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ValueError, match="location"):
        KubernetesClusterResolver(executable_location=0)


def test_own_namespace_with_a_given_client(server, service_account):
    """With a client, "own" is found in the same way."""
    service_account(server, namespace="team-a")
    client = Client()
    KubernetesClusterResolver(override_client=client, namespace="own").cluster_spec()
    assert client.calls == [("team-a", "job-name=tensorflow")]
