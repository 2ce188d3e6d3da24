"""How the worker talks to the database: one transaction at a time, asked again while the database is away."""

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
    """Runs pieces of work in transactions of their own. Everything asked here may be asked twice."""

    def __init__(self, factory: SessionFactory) -> None:
        self.factory = factory

    def once(self, work: Callable[[Session], T]) -> T:
        """One try. Raises Unavailable when the database is away."""
        with unit_of_work(self.factory) as session:
            return work(session)

    def insist(self, work: Callable[[Session], T], hold: HeldLease, *, last_words: bool = False) -> T:
        """Tries again with growing pauses for as long as the hold lasts.

        Args:
            work: what to do; may run several times, each in its own transaction.
            hold: the lease on whose behalf this is written.
            last_words: write also when the attempt was told to stop, as long as the lease is ours.

        Raises:
            LeaseLost: the lease is not ours any more, or has ended while the database was away.
            DeskarenaError: why the attempt must stop.
        """
        pause = FIRST_PAUSE
        while True:
            self._check(hold, last_words=last_words)
            try:
                return self.once(work)
            except Unavailable as error:
                logger.warning("the database is away, asking again: %s", error.message)
                (_NEVER.wait if last_words else hold.pause)(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    @staticmethod
    def _check(hold: HeldLease, *, last_words: bool) -> None:
        if not last_words:
            hold.check()
        elif not hold.writable:
            raise LeaseLost("the lease has ended, nothing more may be written")
