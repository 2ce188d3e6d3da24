"""The worker's access to the database: one transaction at a time, retried while the database is unavailable."""

import logging
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from sqlalchemy.orm import Session

from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import LeaseLost, Unavailable
from worker.base.lease import HeldLease

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
_NEVER = Event()  # Waited on when the hold's own event is set already.
T = TypeVar("T")
logger = logging.getLogger(__name__)


class Database:
    """Runs functions in their own transactions. Every function may run twice."""

    def __init__(self, factory: SessionFactory) -> None:
        self.factory = factory

    def once(self, work: Callable[[Session], T]) -> T:
        """Tries once. Raises Unavailable if the database is."""
        with unit_of_work(self.factory) as session:
            return work(session)

    def insist(self, work: Callable[[Session], T], hold: HeldLease, *, last_words: bool = False) -> T:
        """Retries with increasing pauses while the lease is valid.

        Args:
            work: function to run; may run several times, each in its own transaction.
            hold: lease for which it writes.
            last_words: write even if the attempt was told to stop, while the lease is ours.

        Raises:
            LeaseLost: the lease is no longer ours, or has expired during an outage.
            DeskarenaError: The attempt must stop.
        """
        pause = FIRST_PAUSE
        while True:
            self._check(hold, last_words=last_words)
            try:
                return self.once(work)
            except Unavailable:
                logger.warning("database unavailable, retrying")
                (_NEVER.wait if last_words else hold.pause)(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    @staticmethod
    def _check(hold: HeldLease, *, last_words: bool) -> None:
        if not last_words:
            hold.check()
        elif not hold.writable:
            raise LeaseLost("the lease has expired; nothing more may be written")
