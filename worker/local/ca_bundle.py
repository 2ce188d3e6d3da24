"""Certificate authorities of a desktop: the host's, and its own while https hosts are mocked.

Both ways use the desktop's egress folder, which it can only read, so nothing has to run in it:

  - Chromium reads the managed policy `CACertificates`. It has its own list of roots and ignores the system's files.
  - Everything else (curl, wget, git, Python) reads the system's bundle, of which a desktop has its own copy.

A desktop without mocked https hosts has the host's bundle and no policy, so the browser's menu does not mention
management.
"""

import json
import shutil
from pathlib import Path

BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
"""Path of Debian's bundle of authorities."""
OWN_BUNDLE = BUNDLE.name
"""The desktop's copy, in its egress folder. It is bound as a file, so it is overwritten and never replaced."""
CHROMIUM_POLICIES = "/etc/chromium/policies"
POLICIES = "policies"
"""Folder of browser policies, in the same folder."""


def lay_out(folder: Path, *, bundle: Path = BUNDLE) -> None:
    """Copies the host's bundle into a new desktop's folder. A link to another path than `BUNDLE` is left alone.

    Raises:
        OSError: It cannot be written.
    """
    if bundle.is_file() and not bundle.is_symlink():
        shutil.copyfile(bundle, folder / OWN_BUNDLE)
        (folder / OWN_BUNDLE).chmod(0o644)


def trust(folder: Path, certificate: bytes, *, bundle: Path = BUNDLE) -> None:
    """Makes a desktop trust this authority in addition to the host's.

    Args:
        folder: egress folder.
        certificate: PEM; empty = none.
        bundle: the host's.

    Raises:
        OSError: It cannot be written.
    """
    own = folder / OWN_BUNDLE
    if own.is_file():
        # The host's last line may lack a line end.
        own.write_bytes(bundle.read_bytes() + (b"\n" + certificate if certificate else b""))
    policies = folder / POLICIES
    if policies.exists():
        shutil.rmtree(policies)
    if certificate:
        managed, policy = policies / "managed", policies / "managed" / "deskarena.json"
        policies.mkdir()  # Without its parents: they are gone if the desktop is, and stay so.
        managed.mkdir()
        policy.write_text(json.dumps({"CACertificates": [_without_its_frame(certificate)]}))
        for path, mode in ((policies, 0o755), (managed, 0o755), (policy, 0o644)):
            path.chmod(mode)


def _without_its_frame(certificate: bytes) -> str:
    """The base64 of a PEM certificate. The module `ssl` could decode it, but would cost the supervisor 4 MiB."""
    return "".join(line for line in certificate.decode().splitlines() if not line.startswith("-----"))
