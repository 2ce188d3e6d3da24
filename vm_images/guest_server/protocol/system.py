"""What only the administrator of a machine may do, and a desktop's user may not."""

from typing import Protocol


class System(Protocol):
    """The administrator's hand in a virtual machine that is a desktop."""

    def set_clock(self, now: float) -> None:
        """Sets the clock. Args: now: seconds since 1970. Raises GuestError."""
        ...

    def add_entropy(self, entropy: bytes) -> None:
        """Makes the random numbers of the system depend on these bytes, from the next one on. Raises GuestError."""
        ...

    def trust(self, certificate: str) -> None:
        """Makes programs trust this authority beside those that the system knows, and no other one of ours.

        Args:
            certificate: PEM; empty = none.

        Raises:
            GuestError: it could not be done.
        """
        ...
