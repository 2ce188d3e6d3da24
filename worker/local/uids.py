"""User ids for desktops of a supervisor that runs as root: one per desktop.

An id is reserved by binding an abstract socket of its name: no other supervisor of this host can reserve it, and a dead
supervisor's ids become free by themselves. Desktops have their own network namespace and cannot reserve any.
"""

import errno
import pwd
import socket

FIRST, LAST = 61000, 61999


class UserNumbers:
    """Allocates ids from FIRST to LAST. Not thread-safe; the supervisor has one thread."""

    def __init__(self) -> None:
        self._locks: dict[int, socket.socket] = {}

    def take(self) -> int:
        """A free id. Raises RuntimeError if there is none."""
        for number in range(FIRST, LAST + 1):
            if number not in self._locks and not _exists(number) and self._hold(number):
                return number
        raise RuntimeError(f"all user ids from {FIRST} to {LAST} are in use")

    def _hold(self, number: int) -> bool:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0deskarena-user-{number}")
        except OSError as error:
            holder.close()
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        self._locks[number] = holder
        return True

    def give_back(self, number: int) -> None:
        """Releases an id whose processes have all ended."""
        self._locks.pop(number).close()


def _exists(number: int) -> bool:
    """Whether the machine has a user with that id."""
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True
