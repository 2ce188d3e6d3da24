"""A worker's hold on a slot: whether it still holds, until when, and what is stopped when it does not."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from uuid import UUID

from backend.domain.errors import DeskarenaError, LeaseLost
from backend.domain.ports.desktop import OpenDesktop
from backend.services.scheduling.claims import Fence

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LeaseGrant:
    """What the database said about the lease when it was taken."""

    lease_id: UUID
    provider: str


class HeldLease:
    """One lease as the worker sees it, used by the attempt's thread and those that watch over it.

    It ends in two ways: `stop` (taken over, shutting down), or by itself when no heartbeat got through for the
    lease's time: others may then take the slot, so we must behave as if they had.

    Attributes:
        fence: of the attempt that is under way, None between two.
        finishing: the attempt is being evaluated, so that it will soon have its score.
        could_open: False once the attempt's desktop could not be opened: no other begins before the provider rests.
        last: no further attempt begins under this lease: the worker ends.
        waits: says what the attempt waits for outside of this service; empty: for nothing.
    """

    def __init__(
        self,
        ticket: LeaseGrant,
        seconds: float,
        *,
        since: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates the state of a lease.

        Args:
            ticket: the lease.
            seconds: how long it lives without heartbeat.
            since: when it was asked for, by the clock; default: now.
            now: monotonic clock.
        """
        self.ticket = ticket
        self.fence: Fence | None = None
        self.finishing = False
        self.could_open = True
        self.last = False
        self.waits: Callable[[], str] = str
        self._seconds = seconds
        self._now = now
        self._valid_until = (now() if since is None else since) + seconds
        self._stopped = Event()
        self._error: DeskarenaError | None = None
        self._desktop: OpenDesktop | None = None
        self._lock = Lock()

    def renewed(self, sent_at: float) -> None:
        """A heartbeat got through that was sent at that moment of the monotonic clock."""
        self._valid_until = max(self._valid_until, sent_at + self._seconds)

    @property
    def expired(self) -> bool:
        """No heartbeat got through for the lease's time."""
        return self._now() >= self._valid_until

    @property
    def error(self) -> DeskarenaError | None:
        """Why it ended; None while it holds."""
        if self._error is None and self.expired:
            self.stop(LeaseLost("no heartbeat reached the database until the lease's end"))
        return self._error

    @property
    def writable(self) -> bool:
        """Whether anything may still be written: also while shutting down, but never once the lease is lost."""
        return not isinstance(self.error, LeaseLost)

    def check(self) -> None:
        """Raises why the attempt must stop, if it must."""
        if (error := self.error) is not None:
            raise error

    def pause(self, seconds: float) -> None:
        """Waits, but not longer than the hold lasts."""
        self._stopped.wait(seconds)

    def begins(self, fence: Fence) -> None:
        """An attempt begins under it."""
        with self._lock:
            self.fence, self.finishing = fence, False

    def ends(self) -> None:
        """That attempt has ended."""
        with self._lock:
            self.fence, self.waits = None, str

    def stop(self, error: DeskarenaError, *, only: Fence | None = None) -> None:
        """Ends it. The first reason stays; a lost lease overrides every other, as it forbids writing.

        The desktop is destroyed at once, in a thread of its own: whatever the attempt waits for in it then fails.

        Args:
            error: why.
            only: the attempt that it is about; if that has ended meanwhile nothing is done. None = whatever it is.
        """
        with self._lock:
            if only is not None and self.fence != only:
                return
            if self._error is None or (isinstance(error, LeaseLost) and not isinstance(self._error, LeaseLost)):
                self._error = error
            desktop, self._desktop = self._desktop, None
            self._stopped.set()
        if desktop is not None:
            Thread(target=_close, args=(desktop,), name="close-desktop", daemon=True).start()

    def attach(self, desktop: OpenDesktop) -> None:
        """From now on the desktop is destroyed when the hold ends. Raises why it has ended already."""
        with self._lock:
            if self._error is None:
                self._desktop = desktop
        self.check()

    def detach(self) -> None:
        """The attempt has closed its desktop itself."""
        with self._lock:
            self._desktop = None


def _close(desktop: OpenDesktop) -> None:
    try:
        desktop.close()
    except Exception:
        logger.exception("a desktop could not be destroyed")


class HeldLeases:
    """All leases of this worker, for the threads that watch over them."""

    def __init__(self) -> None:
        self._held: dict[UUID, HeldLease] = {}
        self._lock = Lock()

    def add(self, hold: HeldLease) -> None:
        """A lease was taken."""
        with self._lock:
            self._held[hold.ticket.lease_id] = hold

    def remove(self, hold: HeldLease) -> None:
        with self._lock:
            self._held.pop(hold.ticket.lease_id, None)

    def all(self) -> list[HeldLease]:
        """Those that there are now."""
        with self._lock:
            return list(self._held.values())
