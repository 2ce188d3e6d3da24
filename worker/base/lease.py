"""The worker's view of its lease: validity, expiry, and what is cancelled when it is lost."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from uuid import UUID

from backend.domain.errors import DeskarenaError, LeaseLost
from backend.domain.model.model_wait import ModelWait
from backend.domain.ports.desktop import OpenDesktop
from backend.services.scheduling.claims import Fence

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LeaseGrant:
    """A lease as the database granted it."""

    lease_id: UUID
    provider: str


class HeldLease:
    """One lease, shared by the attempt's thread and the threads that watch it.

    It ends by `stop` (taken over, shutting down), or by itself when no heartbeat succeeded within the lease's time:
    another worker may then take the slot, so this one must behave as if it had.

    Attributes:
        fence: fence of the current attempt, None between two attempts.
        finishing: the attempt is being evaluated and will soon have its score.
        could_open: False once the attempt's desktop could not be opened: the provider must back off first.
        last: the worker is stopping: no further attempt starts under this lease.
        waits: returns the call of a model that the attempt is waiting for; None = none, or not for long.
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
            seconds: validity without a heartbeat.
            since: time of the request, by the clock; default: now.
            now: monotonic clock.
        """
        self.ticket = ticket
        self.fence: Fence | None = None
        self.finishing = False
        self.could_open = True
        self.last = False
        self.waits: Callable[[], ModelWait | None] = lambda: None
        self._seconds = seconds
        self._now = now
        self._valid_until = (now() if since is None else since) + seconds
        self._stopped = Event()
        self._error: DeskarenaError | None = None
        self._desktop: OpenDesktop | None = None
        self._lock = Lock()

    def renewed(self, sent_at: float) -> None:
        """Extends it after a successful heartbeat. `sent_at`: by the monotonic clock."""
        self._valid_until = max(self._valid_until, sent_at + self._seconds)

    @property
    def expired(self) -> bool:
        """Whether no heartbeat succeeded within the lease's time."""
        return self._now() >= self._valid_until

    @property
    def error(self) -> DeskarenaError | None:
        """Why it ended; None while it is valid."""
        if self._error is None and self.expired:
            self.stop(LeaseLost("no heartbeat reached the database until the lease's end"))
        return self._error

    @property
    def writable(self) -> bool:
        """Whether results may be written: also while shutting down, but never once the lease is lost."""
        return not isinstance(self.error, LeaseLost)

    def check(self) -> None:
        """Raises the reason if the attempt must stop."""
        if (error := self.error) is not None:
            raise error

    def pause(self, seconds: float) -> None:
        """Waits, at most until the lease ends."""
        self._stopped.wait(seconds)

    def begins(self, fence: Fence) -> None:
        """Records the start of an attempt."""
        with self._lock:
            self.fence, self.finishing = fence, False

    def ends(self) -> None:
        """Records the end of the attempt."""
        with self._lock:
            self.fence, self.waits = None, lambda: None

    def stop(self, error: DeskarenaError, *, only: Fence | None = None) -> None:
        """Ends the lease. The first reason is kept, except that a lost lease overrides all others: it forbids writing.

        The desktop is destroyed immediately, in a thread: a call of the attempt that waits for it then fails.

        Args:
            error: the reason.
            only: fence of the attempt that must stop; nothing happens if it has ended. None = any attempt.
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
        """Destroys the desktop when the lease ends. Raises the reason if it has ended."""
        with self._lock:
            if self._error is None:
                self._desktop = desktop
        self.check()

    def detach(self) -> None:
        """Forgets the desktop: the attempt has closed it."""
        with self._lock:
            self._desktop = None


def _close(desktop: OpenDesktop) -> None:
    try:
        desktop.close()
    except Exception:
        logger.exception("a desktop could not be destroyed")


class HeldLeases:
    """All leases of this worker, for the threads that watch them."""

    def __init__(self) -> None:
        self._leases: dict[UUID, HeldLease] = {}
        self._lock = Lock()

    def add(self, hold: HeldLease) -> None:
        """Adds a lease."""
        with self._lock:
            self._leases[hold.ticket.lease_id] = hold

    def remove(self, hold: HeldLease) -> None:
        with self._lock:
            self._leases.pop(hold.ticket.lease_id, None)

    def all(self) -> list[HeldLease]:
        """The current leases."""
        with self._lock:
            return list(self._leases.values())
