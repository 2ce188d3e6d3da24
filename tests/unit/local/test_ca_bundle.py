import json
import ssl
from pathlib import Path

import pytest

from worker.egress.certificate_authority import CertificateAuthority
from worker.local.ca_bundle import OWN_BUNDLE, POLICIES, lay_out, trust

HOSTS = b"the host's own authorities"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    result = tmp_path / "bundle.crt"
    result.write_bytes(HOSTS)
    return result


@pytest.fixture
def folder(tmp_path: Path, bundle: Path) -> Path:
    """A new desktop's."""
    result = tmp_path / "out"
    result.mkdir()
    lay_out(result, bundle=bundle)
    return result


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestTrust:
    def test_new_desktop_trusts_the_hosts_authorities(self, folder: Path) -> None:
        assert everything(folder) == {OWN_BUNDLE: HOSTS}

    def test_an_authority_is_added_in_both_ways(self, folder: Path, bundle: Path) -> None:
        certificate = CertificateAuthority(["a.example"]).certificate
        # What is bound into a desktop is this very file, not its name.
        before = (folder / OWN_BUNDLE).stat().st_ino
        trust(folder, certificate, bundle=bundle)
        policy = folder / POLICIES / "managed" / "deskarena.json"
        assert (folder / OWN_BUNDLE).read_bytes() == HOSTS + b"\n" + certificate
        assert (folder / OWN_BUNDLE).stat().st_ino == before
        (told,) = json.loads(policy.read_text())["CACertificates"]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=f"-----BEGIN CERTIFICATE-----\n{told}\n-----END CERTIFICATE-----\n")
        assert context.get_ca_certs(binary_form=True) == [ssl.PEM_cert_to_DER_cert(certificate.decode())]
        for path, mode in ((policy, 0o644), (policy.parent, 0o755), (policy.parent.parent, 0o755)):
            assert path.stat().st_mode & 0o777 == mode

    def test_next_authority_replaces_the_last_and_none_removes_it(self, folder: Path, bundle: Path) -> None:
        first, second = (CertificateAuthority(["a.example"]).certificate for _ in range(2))
        trust(folder, first, bundle=bundle)
        trust(folder, second, bundle=bundle)
        assert (folder / OWN_BUNDLE).read_bytes() == HOSTS + b"\n" + second
        trust(folder, b"", bundle=bundle)
        assert everything(folder) == {OWN_BUNDLE: HOSTS}

    def test_removed_desktop_gets_no_folder(self, tmp_path: Path, bundle: Path) -> None:
        with pytest.raises(FileNotFoundError):
            trust(tmp_path / "gone" / "out", CertificateAuthority(["a.example"]).certificate, bundle=bundle)
        assert not (tmp_path / "gone").exists()

    @pytest.mark.parametrize("what", ["nothing", "a link"])
    def test_host_without_a_bundle_is_supported(self, tmp_path: Path, bundle: Path, what: str) -> None:
        odd = tmp_path / "odd.crt"
        if what == "a link":
            odd.symlink_to(bundle)
        folder = tmp_path / "out"
        folder.mkdir()
        lay_out(folder, bundle=odd)
        trust(folder, CertificateAuthority(["a.example"]).certificate, bundle=odd)
        assert list(everything(folder)) == [f"{POLICIES}/managed/deskarena.json"]
