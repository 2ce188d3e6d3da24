"""A thread that does what people asked for, one request after the other, apart from the slots."""

import logging
from abc import ABC, abstractmethod
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, ModelApiFailed, Unavailable
from worker.base.database import Database
from worker.base.periodic_thread import PeriodicThread

logger = logging.getLogger(__name__)


class RequestQueueWorker(PeriodicThread, ABC):
    """Takes one request after the other. Episodes never wait for it."""

    def __init__(self, database: Database, name: str, *, every: float) -> None:
        """Takes note.

        Args:
            database: the database.
            name: of the thread.
            every: seconds between two looks, if nobody wakes it.
        """
        super().__init__(name, self._all, every=every, broken=f"{name}: a request broke")
        self._database = database

    def pause(self, seconds: float) -> None:
        """Waits, unless the worker stops."""
        self._ended.wait(seconds)

    def check(self) -> None:
        """Raises ModelApiFailed once the worker stops."""
        if self._ended.is_set():
            raise ModelApiFailed("the worker stopped before the model answered", code="model_request_abandoned")

    def one(self) -> bool:
        """Does the next request, in one transaction that keeps its row locked. False if there was none.

        A request that breaks has failed, whatever it was: one that stays would be done, and paid for, again and again.
        One whose files cannot be had now lets the others go first.

        Raises:
            Unavailable: the database is away; the request still waits.
        """
        ids: list[UUID] = []
        try:
            return self._database.once(lambda session: self._work(session, ids))
        except Exception as error:
            if not ids:
                raise
            if self._ended.is_set():
                return False  # It may have failed because the worker stops: the request waits for another.
            if isinstance(error, Unavailable):
                return self._later(error, ids[0])
            message = self._failure_text(error, ids[0])
            self._database.once(lambda session: self._fail(session, ids[0], message))
            return True

    def _later(self, error: Unavailable, request_id: UUID) -> bool:
        """True if the request was put off. Where the database is the one that is away it says so here again."""
        if not self._database.once(lambda session: self._put_off(session, request_id, error.told)):
            raise error
        logger.warning("%s: what request %s needs cannot be had now: %s", self._thread.name, request_id, error.told)
        return True

    @abstractmethod
    def _work(self, session: Session, ids: list[UUID]) -> bool:
        """Takes the next request, notes its id in `ids`, does it and stores the result. False if there was none."""

    @abstractmethod
    def _fail(self, session: Session, request_id: UUID, message: str) -> None:
        """Stores that a request failed, in a transaction of its own."""

    def _put_off(self, _session: Session, _request_id: UUID, _message: str) -> bool:
        """Stores that a request is tried again later. False if nothing but the database can be away."""
        return False

    def _failure_text(self, error: Exception, request_id: UUID) -> str:
        if isinstance(error, DeskarenaError):
            return error.told
        logger.error("%s: request %s broke", self._thread.name, request_id, exc_info=error)
        return f"it broke here: {type(error).__name__}"

    def _all(self) -> None:
        """Until none waits. What is under way when the worker stops, somebody else does again."""
        while not self._ended.is_set() and self.one():
            pass
