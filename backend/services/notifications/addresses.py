"""Checks of notification addresses that people enter."""

import ipaddress
import re

from backend.domain.errors import Invalid
from backend.services.artifacts.egress_policy import checked_url, is_public

_LOCAL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
"""As browsers check it: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address"""
LONGEST_EMAIL = 254


def checked_webhook(url: str, private_hosts: tuple[str, ...]) -> str:
    """An address for webhooks. Names are resolved when something is sent, and checked then.

    Raises:
        Invalid: it is not an address, or one of the private network that the operator has not allowed.
    """
    url = url.strip()
    host = checked_url(url).hostname or ""
    try:
        outside = is_public(host)
    except ValueError:  # A name.
        outside = True
    if not outside and host.lower() not in {name.lower() for name in private_hosts}:
        raise Invalid(
            f"{ipaddress.ip_address(host)} is not on the public network",
            code="private_address",
            path="address",
            hint="An operator can allow it by DESKARENA_WEBHOOK_PRIVATE_HOSTS.",
        )
    return url


def checked_email(address: str) -> str:
    """One e-mail address, without a name or line ends. Raises Invalid."""
    address = address.strip()
    if len(address) > LONGEST_EMAIL or not _EMAIL.fullmatch(address):
        raise Invalid(
            f"{address[:80]!r} is not an e-mail address",
            code="invalid_request",
            path="address",
            hint="name@example.org",
        )
    return address
