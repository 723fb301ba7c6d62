"""A private certificate authority and a server's certificate, new at every start."""

from __future__ import annotations

import datetime
import ipaddress
import os
from pathlib import Path
from typing import TYPE_CHECKING

from azureml_k8s.emulator.errors import EmulatorError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName, KeyUsage

__all__ = ["write_certificates"]

_LIFE = datetime.timedelta(days=30)


def write_certificates(folder: Path, *, host: str = "127.0.0.1") -> tuple[Path, Path]:
    """Write ``ca.pem``, ``server.pem`` and ``server.key`` into a folder; return the paths of the last two.

    The certificate is for localhost, 127.0.0.1, ::1 and ``host``. The key file can be read by its owner only; the key
    of the CA is forgotten, so nobody can sign anything else with it.

    Raises:
        EmulatorError: The folder cannot be written, or the cryptography package is missing.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    except ImportError:
        raise EmulatorError("TLS needs the cryptography package: pip install 'azureml-k8s[cli]'") from None
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca = _authority(ca_key)
    certificate = _server(ca, ca_key, key, host)
    key_text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "server.key", key_text, mode=0o600)
        _write(folder / "server.pem", certificate.public_bytes(Encoding.PEM), mode=0o644)
        _write(folder / "ca.pem", ca.public_bytes(Encoding.PEM), mode=0o644)
    except OSError as error:
        raise EmulatorError(f"the TLS folder {folder} cannot be written: {error}") from error
    return folder / "server.pem", folder / "server.key"


def _write(path: Path, content: bytes, *, mode: int) -> None:
    path.unlink(missing_ok=True)  # a file left by others would keep its mode, or be a link
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)


def _builder(name: str, key: EllipticCurvePrivateKey) -> CertificateBuilder:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks differ
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _authority(key: EllipticCurvePrivateKey) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import NameOID

    name = "azureml-k8s emulator, private CA"
    builder = _builder(name, key).issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return builder.add_extension(_usage(signs_certificates=True), critical=True).sign(key, SHA256())


def _server(ca: Certificate, ca_key: EllipticCurvePrivateKey, key: EllipticCurvePrivateKey, host: str) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID

    names = list(dict.fromkeys(_name(one) for one in ("localhost", "127.0.0.1", "::1", host)))
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = _builder("localhost", key).issuer_name(ca.subject)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    builder = builder.add_extension(issuer_key, critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(ca_key, SHA256())


def _name(host: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs_certificates: bool) -> KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
