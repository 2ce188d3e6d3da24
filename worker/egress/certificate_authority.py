"""Certificate authority for the mocked https hosts of one desktop: created for its attempt, discarded afterwards.

Its keys exist in this process's memory only. It can sign for the mocked hosts only: its certificate is name-constrained
(RFC 5280, 4.2.1.10), so clients reject any other name.
"""

import datetime as dt
import ipaddress
import os
import ssl
from collections.abc import Collection

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = dt.timedelta(days=3)
"""An attempt's time budget is at most a day; waiting for a model API or a person comes on top."""
_BEFORE = dt.timedelta(hours=1)
_NO_USAGE = dict.fromkeys(
    (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    ),
    False,
)


class CertificateAuthority:
    """Issues the certificates that a desktop's gateway presents for mocked hosts.

    Attributes:
        certificate: its own certificate as PEM, which the desktop has to trust.
    """

    def __init__(self, hosts: Collection[str]) -> None:
        """A new one with a new key.

        Args:
            hosts: permitted names, in lower case.
        """
        self._hosts = frozenset(hosts)
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _common_name("Deskarena desktop's stand-ins")
        self._own = self._sign_itself()
        self.certificate = self._own.public_bytes(Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """TLS context of a server for that host.

        Raises:
            ValueError: The host is not permitted.
        """
        if host not in self._hosts:
            raise ValueError(f"the certificate authority may not sign for {host}")
        if host not in self._contexts:
            self._contexts[host] = self._new_context(host)
        return self._contexts[host]

    def _new_context(self, host: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        key_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        _load(context, key_pem + self._leaf(host, key).public_bytes(Encoding.PEM))
        return context

    def _sign_itself(self) -> x509.Certificate:
        limits = x509.NameConstraints([x509.DNSName(host) for host in sorted(self._hosts)], _every_address())
        usage = x509.KeyUsage(**(_NO_USAGE | {"key_cert_sign": True}))
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(usage, critical=True).add_extension(limits, critical=True)
        return builder.sign(self._key, hashes.SHA256())

    def _leaf(self, host: str, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
        issuer = self._own.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        known = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer)
        usage = x509.KeyUsage(**(_NO_USAGE | {"digital_signature": True}))
        builder = self._builder(_common_name("Deskarena stand-in"), key.public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(usage, critical=True).add_extension(known, critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        """Common fields of the certificates."""
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateBuilder(subject_name=subject, issuer_name=self._name, public_key=key)
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - _BEFORE).not_valid_after(now + LIFE)
        return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _every_address() -> list[x509.GeneralName]:
    """All addresses of both families: a list of permitted names does not restrict addresses."""
    return [x509.IPAddress(ipaddress.ip_network(every)) for every in ("0.0.0.0/0", "::/0")]


def _load(context: ssl.SSLContext, chain: bytes) -> None:
    """Loads key and certificate into a context. It reads files only, and these are on no disk."""
    handle = os.memfd_create("leaf")
    try:
        os.write(handle, chain)
        context.load_cert_chain(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)
