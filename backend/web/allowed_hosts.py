"""Which Host and Origin names requests may carry. Pure functions, applied by `security_middleware`."""

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from backend.addresses import is_loopback

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def name_of(authority: str) -> str:
    """The host name of `name:port` in lower case, without brackets; empty if invalid."""
    if any(char in authority for char in "/@?#\\ \t") or not authority:
        return ""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # Raises for a port that is not a number.
    except ValueError:
        return ""
    return (parts.hostname or "").rstrip(".").lower()


class KnownHosts:
    """The names under which this service may be addressed.

    On loopback, only loopback names are accepted: a foreign name that resolves to 127.0.0.1 (DNS rebinding) is refused.
    On other addresses, which need a token, numeric addresses and this machine's own name are accepted as well; neither
    can be rebound by foreign DNS.
    """

    def __init__(self, bound_to: str, further: Iterable[str] = ()) -> None:
        self._open = not is_loopback(bound_to)
        self._names = set(LOOPBACK_NAMES) | {name.lower() for name in further}
        if self._open:
            own = socket.gethostname().lower()
            self._names |= {bound_to.lower(), own}

    def knows(self, authority: str) -> bool:
        """Whether a Host header names this service."""
        name = name_of(authority)
        return bool(name) and (name in self._names or (self._open and _is_address(name)))

    def same_origin(self, origin: str, authority: str) -> bool:
        """Whether an Origin header is one of our pages: same name and port as the Host header.

        The scheme is ignored, because a proxy may terminate TLS.
        """
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            return False
        return parts.netloc.lower() == authority.lower() and self.knows(parts.netloc)
