"""Path of the REST API and default port."""

import ipaddress

DEFAULT_PORT = 8000
SHORTEST_TOKEN = 16
"""Characters of the installation's token."""
JOIN_PATH = "/join/"
"""Below it, a one-time link's token lets a person choose a password."""
FIRST_LINK_FILE = "first-sign-in"
"""File of the data folder with the path of the first administrator's one-time link, until it is used."""
PUBLIC_PATH = "/public/"
"""Below it, a public link's token opens one view of a board."""
EMBED_PATH = "/embed/"
"""Likewise, without navigation, for frames of other sites."""
API = "/api/v1"
"""Path of the REST API. `deskarena.client`, which imports nothing of the service, has it once more."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_address(host: str, port: int) -> str:
    """URL at which this machine reaches a service that listens on `host`, which may be an IPv6 address or all."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004 - IPv4
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
