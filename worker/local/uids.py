"""User numbers for desktops of a keeper that runs as root: one per desktop, shared with nobody.

A number is held by binding an abstract socket of its name: no keeper of this host can hold the same one, and a dead
keeper's numbers come free by themselves. Desktops have their own network namespace and cannot hold any.
"""

import errno
import pwd
import socket

FIRST, LAST = 61000, 61999


class UserNumbers:
    """Gives out numbers from FIRST to LAST. Not safe for threads; the keeper has one."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def take(self) -> int:
        """A free number. Raises RuntimeError if there is none left."""
        for number in range(FIRST, LAST + 1):
            if number not in self._held and not _known(number) and self._hold(number):
                return number
        raise RuntimeError(f"all user numbers from {FIRST} to {LAST} are in use")

    def _hold(self, number: int) -> bool:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0deskarena-user-{number}")
        except OSError as error:
            holder.close()
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        self._held[number] = holder
        return True

    def give_back(self, number: int) -> None:
        """Frees a number whose processes are all gone."""
        self._held.pop(number).close()


def _known(number: int) -> bool:
    """Whether the machine has a user of that number."""
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True
