import datetime as dt
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from tests.descriptors import open_descriptors
from worker.egress.certificate_authority import LIFE, CertificateAuthority

HOSTS = ("shop.example", "bank.example")


def handshake(server: ssl.SSLContext, host: str, trusted: bytes) -> bytes:
    """The certificate that a client sees who trusts one authority and asks for a host. Raises ssl.SSLError."""
    client = ssl.create_default_context(cadata=trusted.decode())
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with ours:
            try:
                server.wrap_socket(ours, server_side=True).close()
            except OSError:
                return  # The client would not have it: what that says is the test.

    with ThreadPoolExecutor() as threads, theirs:
        done = threads.submit(serve)
        with client.wrap_socket(theirs, server_hostname=host) as wrapped:
            seen = wrapped.getpeercert(binary_form=True)
        done.result(60)
    assert seen is not None
    return seen


class TestAuthority:
    def test_certificate_is_limited_to_its_hosts_and_days(self) -> None:
        own = x509.load_pem_x509_certificate(CertificateAuthority(HOSTS).certificate)
        assert own.not_valid_after_utc - own.not_valid_before_utc <= LIFE + dt.timedelta(hours=1)
        limits = own.extensions.get_extension_for_class(x509.NameConstraints)
        assert limits.critical
        permitted = {str(name.value) for name in limits.value.permitted_subtrees or ()}
        assert permitted == set(HOSTS)
        basic = own.extensions.get_extension_for_class(x509.BasicConstraints).value
        assert (basic.ca, basic.path_length) == (True, 0)

    def test_each_is_another(self) -> None:
        first, second = CertificateAuthority(HOSTS), CertificateAuthority(HOSTS)
        assert first.certificate != second.certificate
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(first.context("shop.example"), "shop.example", second.certificate)

    def test_private_key_is_not_exposed(self) -> None:
        assert b"PRIVATE" not in CertificateAuthority(HOSTS).certificate


class TestContext:
    @pytest.mark.parametrize("host", HOSTS)
    def test_a_client_that_trusts_the_authority_accepts_it(self, host: str) -> None:
        authority = CertificateAuthority(HOSTS)
        leaf = x509.load_der_x509_certificate(handshake(authority.context(host), host, authority.certificate))
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == [host]
        assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca

    def test_other_clients_reject_it(self) -> None:
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(
                CertificateAuthority(HOSTS).context("shop.example"),
                "shop.example",
                CertificateAuthority(["x.example"]).certificate,
            )

    def test_certificate_is_valid_for_one_host_only(self) -> None:
        authority = CertificateAuthority(HOSTS)
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            handshake(authority.context("shop.example"), "bank.example", authority.certificate)

    def test_other_hosts_have_none(self) -> None:
        with pytest.raises(ValueError, match=r"may not sign for other\.example"):
            CertificateAuthority(HOSTS).context("other.example")

    def test_even_its_key_could_not_speak_for_another_host(self) -> None:
        """A stolen key is worth little: clients reject what it signs for names outside the constraints."""
        authority = CertificateAuthority(HOSTS)
        authority._hosts = frozenset({"other.example"})
        with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
            handshake(authority.context("other.example"), "other.example", authority.certificate)

    def test_leaves_no_key_descriptor_open(self) -> None:
        before = open_descriptors()
        CertificateAuthority(HOSTS).context("shop.example")
        assert not {each for each in open_descriptors() - before if "memfd" in each.target}

    def test_each_leaf_has_its_own_key(self) -> None:
        authority = CertificateAuthority(HOSTS)
        seen = handshake(authority.context("shop.example"), "shop.example", authority.certificate)
        leaf, own = x509.load_der_x509_certificate(seen), x509.load_pem_x509_certificate(authority.certificate)
        keys = [one.public_key() for one in (leaf, own)]
        assert all(isinstance(key, ec.EllipticCurvePublicKey) for key in keys)
        assert keys[0] != keys[1]
