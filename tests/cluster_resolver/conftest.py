import datetime
import ipaddress
import json
import os

import pytest

from azureml_k8s.cluster_resolver import KubernetesClusterResolver, connection

from .fake_api import FakeApiServer
from .helpers import Clock

_LEFT_ALONE = ("HOSTNAME", "POD_NAME", "POD_NAMESPACE", "POD_IP", "JOB_COMPLETION_INDEX", "TF_CONFIG", "KUBECONFIG")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    """No test sees this machine's pod, kubeconfig or proxy."""
    for name in [*os.environ]:
        if name in _LEFT_ALONE or name.startswith("KUBERNETES_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", tmp_path / "no-service-account")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server():
    with FakeApiServer() as server:
        yield server


@pytest.fixture
def api(server):
    return server.api


@pytest.fixture
def kubeconfig(monkeypatch, tmp_path):
    """Return a function that writes a kubeconfig and makes it the current one."""

    def write(url, *, user=None, cluster=None, namespace=None, name="config"):
        context = {"cluster": "c", "user": "u"} | ({"namespace": namespace} if namespace else {})
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "contexts": [{"name": "x", "context": context}],
            "clusters": [{"name": "c", "cluster": {"server": url} | (cluster or {})}],
            "users": [{"name": "u", "user": {"token": "good-token"} if user is None else user}],
        }
        path = tmp_path / name
        path.write_text(json.dumps(config))
        monkeypatch.setenv("KUBECONFIG", str(path))
        return path

    return write


@pytest.fixture
def resolver(server, kubeconfig, clock):
    """Return a function that makes a resolver for the fake server, with time that only passes in sleeps."""

    def make(jobs=None, **options):
        kubeconfig(server.url)
        return KubernetesClusterResolver(jobs, clock=clock, sleep=clock.sleep, **options)

    return make


KEY_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """A CA, and a server's and a client's certificate of it, as paths by name."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("certificates")
    now = datetime.datetime.now(datetime.UTC)

    def issue(name, issuer=None):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        issuer_name, issuer_key = issuer or (subject, key)
        builder = x509.CertificateBuilder(issuer_name, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = builder.add_extension(names, critical=False)
        # Python 3.13 verifies strictly: it wants the identifiers of both keys, and a CA that says it may sign.
        own, issuers = x509.SubjectKeyIdentifier, x509.AuthorityKeyIdentifier
        builder = builder.add_extension(own.from_public_key(key.public_key()), critical=False)
        builder = builder.add_extension(issuers.from_issuer_public_key(issuer_key.public_key()), critical=False)
        usage = dict.fromkeys(KEY_USES, False) | {"key_cert_sign" if issuer is None else "digital_signature": True}
        builder = builder.add_extension(x509.KeyUsage(**usage), critical=True)
        certificate = builder.sign(issuer_key, hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return subject, key

    ca = issue("ca")
    issue("server", ca)
    issue("client", ca)
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture
def service_account(monkeypatch, tmp_path, certificates):
    """Return a function that puts a service account's files where this process looks for them."""
    kubernetes_config = pytest.importorskip("kubernetes.config.incluster_config")
    folder = tmp_path / "serviceaccount"
    folder.mkdir()

    def mount(server, *, token="good-token", namespace="default"):
        (folder / "token").write_text(token)
        (folder / "namespace").write_text(namespace)
        (folder / "ca.crt").write_bytes(certificates["ca.pem"].read_bytes())
        monkeypatch.setattr(connection, "SERVICE_ACCOUNT", folder)
        monkeypatch.setattr(kubernetes_config, "SERVICE_TOKEN_FILENAME", str(folder / "token"))
        monkeypatch.setattr(kubernetes_config, "SERVICE_CERT_FILENAME", str(folder / "ca.crt"))
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        return folder

    return mount


@pytest.fixture
def tls_server(certificates):
    with FakeApiServer(tls=(certificates["server.pem"], certificates["server.key"])) as server:
        yield server
