"""What a desktop trusts: the host's certificate authorities, and one of its own while https hosts are mocked.

Both ways lead through the folder with its way out, which it can read and not change, so nothing has to run in it:

- Chromium reads the managed policy `CACertificates`. Its list of roots is its own and knows no file of the system.
- Everything else (curl, wget, git, Python) reads the system's bundle. A desktop has its own copy of that.

A desktop without mocked https hosts has the host's bundle and no policy: then no menu says that the browser is managed.
"""

import json
import shutil
from pathlib import Path

BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
"""Where programs of Debian look for the authorities that they trust."""
OWN_BUNDLE = BUNDLE.name
"""The desktop's copy, in the folder with its way out. It is bound as a file, so it is written to and never replaced."""
CHROMIUM_POLICIES = "/etc/chromium/policies"
POLICIES = "policies"
"""What that leads to, in the same folder."""


def lay_out(folder: Path, *, bundle: Path = BUNDLE) -> None:
    """Puts the host's bundle into a new desktop's folder. A link leads elsewhere than to `BUNDLE`: it stays as it is.

    Raises:
        OSError: it cannot be written.
    """
    if bundle.is_file() and not bundle.is_symlink():
        shutil.copyfile(bundle, folder / OWN_BUNDLE)
        (folder / OWN_BUNDLE).chmod(0o644)


def trust(folder: Path, certificate: bytes, *, bundle: Path = BUNDLE) -> None:
    """Makes a desktop trust this authority beside the host's, and no other one of ours.

    Args:
        folder: with its way out.
        certificate: PEM; empty = none.
        bundle: the host's.

    Raises:
        OSError: it cannot be written.
    """
    own = folder / OWN_BUNDLE
    if own.is_file():
        # The host's last line may be without an end.
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
    """The base64 of a PEM certificate. The module `ssl` could undo it, and would cost the keeper 4 MiB."""
    return "".join(line for line in certificate.decode().splitlines() if not line.startswith("-----"))
