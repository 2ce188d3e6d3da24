"""Network addresses that may be contacted: one rule for the HTTP client and for desktops' egress.

A name is resolved once, its addresses are checked, and the connection goes to a checked address, so DNS rebinding gains
nothing.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from backend.domain.errors import Invalid, WebFailed

LONGEST_URL = 2000
_SCHEMES = frozenset({"http", "https"})
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv6 prefixes of translated IPv4 addresses (RFC 6052, RFC 8215)."""

Resolver = Callable[[str, int], list[str]]


@dataclass(frozen=True)
class EgressPolicy:
    """Allowed destinations.

    Attributes:
        private_hosts: names that may resolve to private addresses, such as mirrors in the operator's network.
        setting: has these names.
        allow_private: for tests only; no setting enables it.
    """

    private_hosts: tuple[str, ...] = ()
    setting: str = "DESKARENA_WEB_PRIVATE_HOSTS"
    allow_private: bool = False

    def may_be_private(self, host: str) -> bool:
        """Whether that name may resolve to a private address."""
        return self.allow_private or host.lower().rstrip(".") in {name.lower() for name in self.private_hosts}


def checked_url(url: str) -> SplitResult:
    """Parses a URL and checks what its text shows.

    Raises:
        Invalid: scheme other than http and https, credentials, no host, control characters, too long.
    """
    if len(url) > LONGEST_URL:
        raise Invalid(
            f"the address has {len(url)} characters", code="invalid_url", hint=f"At most {LONGEST_URL} are allowed."
        )
    if url != url.strip() or any(ord(letter) < ord(" ") or ord(letter) == 0x7F for letter in url):  # noqa: PLR2004 - DEL
        raise Invalid(f"{url!r} has control characters or surrounding spaces", code="invalid_url")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Invalid(f"{url!r} is not an address: {error}", code="invalid_url") from error
    if parts.scheme not in _SCHEMES:
        raise Invalid(f"{url!r} is neither http nor https", code="invalid_url")
    if not parts.hostname or port == 0:
        raise Invalid(f"{url!r} names no host", code="invalid_url")
    if "@" in parts.netloc or "\\" in url:
        raise Invalid(
            f"{parts.scheme}://...@{parts.hostname} contains a user name, which is never sent", code="invalid_url"
        )
    return parts


def is_public(address: str) -> bool:
    """Whether an IP address is public: not private, loopback, link-local, multicast or reserved."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        # Each of these embeds an IPv4 address that a check of the text would miss.
        if ip.ipv4_mapped or ip.sixtofour or ip.teredo or any(ip in net for net in _TRANSLATED):
            return False
        if ip.is_site_local or ip in ipaddress.ip_network("::/96"):
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name by the system's resolver. Raises OSError."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def allowed_addresses(host: str, port: int, reach: EgressPolicy, resolver: Resolver = resolve) -> list[str]:
    """Addresses to connect to for a host, resolved and checked.

    Raises:
        Invalid: at least one is not public: a name with both kinds is suspicious.
        WebFailed: The name does not resolve.
    """
    try:
        addresses = resolver(host, port)
    except (OSError, UnicodeError) as error:
        raise WebFailed(f"the name {host!r} does not resolve: {error}", code="host_not_resolved") from error
    if not addresses:
        raise WebFailed(f"the name {host!r} does not resolve", code="host_not_resolved")
    if not reach.may_be_private(host):
        _refuse_private(host, addresses, reach.setting)
    return addresses


def _refuse_private(host: str, addresses: Iterable[str], setting: str) -> None:
    inside = [address for address in addresses if not is_public(address)]
    if inside:
        raise Invalid(
            f"{host} is {inside[0]}, which is not on the public network",
            code="private_address",
            hint=f"For a server in your own network, add its host to {setting}.",
        )
