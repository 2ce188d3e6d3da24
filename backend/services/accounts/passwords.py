"""Passwords: their rules and their hashes (Argon2id with the library's defaults, RFC 9106's second choice)."""

from functools import lru_cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backend.domain.errors import Invalid

LEAST, MOST = 12, 200
"""Characters of a password."""
_HASHER = PasswordHasher()
_ROOM = BoundedSemaphore(2)
"""One hash takes 64 MiB: guesses in parallel wait instead of using up the memory."""


def hash_password(password: str, name: str) -> str:
    """The hash of a new password.

    Raises:
        Invalid: it is too short, too long, or the person's name.
    """
    if not LEAST <= len(password) <= MOST:
        raise Invalid(f"expected {LEAST} to {MOST} characters", code="invalid_password", path="password")
    if password.strip().lower() == name.lower():
        raise Invalid("the password must differ from the name", code="invalid_password", path="password")
    with _ROOM:
        return _HASHER.hash(password)


def require_same(password: str, repeated: str) -> None:
    """Refuses a new password that was not repeated as it is. Raises Invalid."""
    if password != repeated:
        raise Invalid("the passwords do not match", code="invalid_password", path="password")


def matches(password_hash: str, password: str) -> bool:
    """Whether the password belongs to the hash. Without a hash it takes as long and fails."""
    with _ROOM:
        try:
            return _HASHER.verify(password_hash or _nobodys(), password[: MOST + 1]) and bool(password_hash)
        except (VerificationError, InvalidHashError):
            return False


@lru_cache(maxsize=1)
def _nobodys() -> str:
    return _HASHER.hash("nobody has this password")
