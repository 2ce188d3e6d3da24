"""Secret tokens: `dkl_` + 256 random bits + checksum. Only SHA-256 hashes are stored.

The checksum (CRC-32, as in GitHub's tokens) tells a mistyped token from a wrong one without asking the database, and
lets scanners for leaked secrets recognise one.
"""

import hashlib
import secrets
import zlib

_CHECK = 8


def new_token(kind: str) -> str:
    """A new token of a kind such as `dkl`."""
    body = f"{kind}_{secrets.token_urlsafe(32)}"
    return body + _checksum(body)


def is_token(text: str, kind: str) -> bool:
    """Whether the text has the shape and the checksum of such a token."""
    return text.startswith(f"{kind}_") and text.isascii() and _checksum(text[:-_CHECK]) == text[-_CHECK:]


def token_hash(token: str) -> str:
    """SHA-256 (hex). Tokens are random enough to need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):0{_CHECK}x}"
