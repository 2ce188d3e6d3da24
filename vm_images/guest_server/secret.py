"""The one secret that every request must show."""

import hmac

from .errors import GuestError

_SCHEME = "Bearer "
_SHORTEST = 16


class Secret:
    """Holds the secret and compares in constant time."""

    def __init__(self, value: str) -> None:
        self._value = b""
        self.replace(value)

    def replace(self, value: str) -> None:
        """Takes a new secret; the old one is refused from now on.

        Raises:
            GuestError: it is too short to be one.
        """
        if len(value) < _SHORTEST or not value.isascii() or not value.isprintable():
            raise GuestError("bad_request", f"a secret is {_SHORTEST} or more printable ASCII characters")
        self._value = value.encode()

    def allows(self, authorization: str | None) -> bool:
        """True if the Authorization header carries the secret."""
        if authorization is None or not authorization.startswith(_SCHEME):
            return False
        shown = authorization[len(_SCHEME) :].strip().encode("utf-8", "surrogateescape")
        return hmac.compare_digest(shown, self._value)
