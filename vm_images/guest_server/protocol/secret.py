"""The secret that every request must carry."""

import hmac
import os

from guest_server.protocol.errors import GuestError

_SCHEME = "Bearer "
_SHORTEST = 16
_LONGEST = 1024


class Secret:
    """Stores the secret and compares in constant time."""

    def __init__(self, value: str) -> None:
        self._value = b""
        self.replace(value)

    def replace(self, value: str) -> None:
        """Sets a new secret; the old one is refused from now on.

        Raises:
            GuestError: It is too short.
        """
        if len(value) < _SHORTEST or not value.isascii() or not value.isprintable():
            raise GuestError("bad_request", f"a secret is {_SHORTEST} or more printable ASCII characters")
        self._value = value.encode()

    def allows(self, authorization: str | None) -> bool:
        """Whether the Authorization header carries the secret."""
        if authorization is None or not authorization.startswith(_SCHEME):
            return False
        secret = authorization[len(_SCHEME) :].strip().encode("utf-8", "surrogateescape")
        return hmac.compare_digest(secret, self._value)


def read_secret(descriptor: int) -> Secret:
    """The first line of stdin, which is then closed: nothing that we start can read it."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _LONGEST:
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, descriptor)
    os.close(null)
    return Secret(line.decode("ascii", "replace").strip())
