"""Asks models for drafts of tasks: what somebody asked for, one request after the other."""

import logging
from collections.abc import Callable
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, ModelApiFailed, Unavailable
from backend.domain.ports_model import Models
from backend.services import draft_requests
from worker.asked import Asked
from worker.database import Database

logger = logging.getLogger(__name__)


class Drafter(Asked):
    """Takes one request after the other."""

    def __init__(self, database: Database, models: Callable[["Drafter"], Models], *, every: float) -> None:
        """Takes note.

        Args:
            database: the database.
            models: makes the clients of one request, which wait by this object's `pause` and `check`.
            every: seconds between two looks, if nobody wakes it.
        """
        self._database = database
        self._models = models
        super().__init__("drafter", every=every)

    def pause(self, seconds: float) -> None:
        """Waits, unless the worker stops."""
        self._ended.wait(seconds)

    def check(self) -> None:
        """Raises ModelApiFailed once the worker stops."""
        if self._ended.is_set():
            raise ModelApiFailed("the worker stopped before the model answered")

    def one(self) -> bool:
        """Does the next request (`Asked.one`)."""
        taken: list[UUID] = []
        try:
            return self._database.once(lambda session: self._work(session, taken))
        except Unavailable:
            raise
        except Exception as error:
            if not taken or self._ended.is_set():
                raise
            # Whatever it was: a request that stays would be asked, and paid for, again and again.
            if not isinstance(error, DeskarenaError):
                logger.exception("request %s broke", taken[0])
                message = f"it broke here: {type(error).__name__}"
            else:
                message = f"{error.message} {error.hint}".strip()
            self._database.once(lambda session: draft_requests.fail(session, taken[0], message))
            return True

    def _work(self, session: Session, taken: list[UUID]) -> bool:
        job = draft_requests.take(session)
        if job is None:
            return False
        taken.append(job.row.id)
        models = self._models(self)
        try:
            reply = models.client(job.endpoint).complete(job.asked)
        finally:
            models.close()
        draft_requests.finish(session, job, reply)
        return True
