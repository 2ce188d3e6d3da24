"""Privileged operations of a machine, which a desktop's user may not perform."""

from typing import Protocol


class System(Protocol):
    """Privileged operations in a virtual machine."""

    def set_clock(self, now: float) -> None:
        """Sets the clock. Args: now: seconds since 1970. Raises GuestError."""
        ...

    def add_entropy(self, entropy: bytes) -> None:
        """Reseeds the system's random numbers with these bytes. Raises GuestError."""
        ...

    def trust(self, certificate: str) -> None:
        """Makes programs trust this authority in addition to the system's, replacing an earlier one of ours.

        Args:
            certificate: PEM; empty = none.

        Raises:
            GuestError: It failed.
        """
        ...
