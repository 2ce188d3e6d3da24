"""Background thread that processes requests one by one, independently of the slots."""

import logging
from abc import ABC, abstractmethod
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, ModelApiFailed, Unavailable
from backend.services.capacity.maintenance_mode import is_on
from backend.services.periodic_thread import PeriodicThread
from worker.base.database import Database

logger = logging.getLogger(__name__)


class RequestQueueWorker(PeriodicThread, ABC):
    """Processes requests one by one. Episodes never wait for it.

    Args:
        database: the database.
        name: of the thread.
        every: polling interval in seconds.
    """

    def __init__(self, database: Database, name: str, *, every: float) -> None:
        super().__init__(name, self._all, every=every, broken=f"{name}: request raised")
        self._database = database

    def pause(self, seconds: float) -> None:
        """Waits, unless the worker stops."""
        self._ended.wait(seconds)

    def check(self) -> None:
        """Raises ModelApiFailed if the worker stops."""
        if self._ended.is_set():
            raise ModelApiFailed("the worker stopped before the model responded", code="model_request_abandoned")

    def process_next(self) -> bool:
        """Processes the next request in one transaction that locks its row.

        False if there was none, and during maintenance.

        A request that raises is marked as failed: otherwise it would be repeated, and paid for, endlessly. One whose
        files are unavailable is postponed.

        Raises:
            Unavailable: the database is unavailable; the request still waits.
        """
        ids: list[UUID] = []
        try:
            return self._database.once(lambda session: not is_on(session) and self._work(session, ids))
        except Exception as error:
            if not ids:
                raise
            if self._ended.is_set():
                return False  # It may have failed because the worker stops: the request waits for another.
            if isinstance(error, Unavailable):
                return self._later(error, ids[0])
            message = self._failure_text(error, ids[0])
            code = error.code if isinstance(error, DeskarenaError) else ""
            self._database.once(lambda session: self._fail(session, ids[0], message, code))
            return True

    def _later(self, error: Unavailable, request_id: UUID) -> bool:
        """True if the request was postponed. Raises again if the database is what is unavailable."""
        if not self._database.once(lambda session: self._put_off(session, request_id, error.text)):
            raise error
        logger.warning("%s: postponed request %s: %s", self._thread.name, request_id, error.text)
        return True

    @abstractmethod
    def _work(self, session: Session, ids: list[UUID]) -> bool:
        """Takes the next request, adds its id to `ids`, processes it and stores the result. False if there was none."""

    @abstractmethod
    def _fail(self, session: Session, request_id: UUID, message: str, code: str) -> None:
        """Stores that a request failed, in its own transaction. `code`: of the error; empty for an internal one."""

    def _put_off(self, _session: Session, _request_id: UUID, _message: str) -> bool:
        """Stores that a request is postponed. False if only the database can be unavailable."""
        return False

    def _failure_text(self, error: Exception, request_id: UUID) -> str:
        if isinstance(error, DeskarenaError):
            return error.text
        logger.error("%s: request %s failed", self._thread.name, request_id, exc_info=error)
        return f"internal error: {type(error).__name__}"

    def _all(self) -> None:
        """Processes requests until none waits.

        A request that is running when the worker stops is repeated by another.
        """
        while not self._ended.is_set() and self.process_next():
            pass
