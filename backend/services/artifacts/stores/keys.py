"""Keys of artifacts in folders and buckets, and verification of their hashes."""

import hashlib
import re

from backend.domain.errors import DamagedArtifact, NotFound

_SHA256 = re.compile(r"[0-9a-f]{64}")


def key_of(sha256: str) -> str:
    """`ab/cd/abcd...`: limits the number of entries per folder. Raises NotFound for an invalid hash."""
    if not _SHA256.fullmatch(sha256):
        raise NotFound(f"{sha256[:80]!r} is not an artifact", code="artifact_not_found")
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def hash_in(key: str) -> str | None:
    """The hash at the end of a key, None if it is not one of ours."""
    name = key.rsplit("/", 1)[-1]
    return name if _SHA256.fullmatch(name) and key.endswith(key_of(name)) else None


def absent(sha256: str) -> NotFound:
    """The error for missing bytes."""
    return NotFound(f"the artifact {sha256} is not in the store", code="artifact_not_found")


def check_bytes(sha256: str, data: bytes, where: str) -> bytes:
    """The bytes if they match their hash. Raises DamagedArtifact."""
    if hashlib.sha256(data).hexdigest() == sha256:
        return data
    raise DamagedArtifact(
        f"the artifact {sha256} in {where} is damaged: its {len(data)} bytes have another hash",
        hint="Restore it from a copy of the store.",
    )
