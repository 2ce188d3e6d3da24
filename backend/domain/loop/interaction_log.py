"""Reads a desktop's log of interactions completely."""

from backend.domain.errors import GuestLost
from backend.domain.model.trajectory import Interaction
from backend.domain.ports.desktop import Desktop

MOST_REPLIES = 10
"""A guest stores 2,000 entries and returns at most 1,000 at a time."""


def log_after(desktop: Desktop, since: int) -> list[Interaction]:
    """All entries after that number.

    Raises:
        GuestLost: the log does not end.
        GuestRefused: the desktop has no log (`unsupported`), or it was interrupted (`failed`).
    """
    entries: list[Interaction] = []
    for _ in range(MOST_REPLIES):
        more = desktop.interactions(since)
        if not more:
            return entries
        entries += more
        since = max(since, *(entry.number for entry in more))
    raise GuestLost("the desktop's log of interactions does not end", code="guest_protocol_error")
