"""Asks models for drafts of tasks: what somebody asked for, one request after the other."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.ports_model import Models
from backend.services import draft_requests
from worker.asked import Asked
from worker.database import Database
from worker.model_room import Waits


class Drafter(Asked):
    """Takes one request after the other."""

    def __init__(self, database: Database, models: Callable[[Waits], Models], *, every: float) -> None:
        """Takes note.

        Args:
            database: the database.
            models: makes the clients of one request, which wait by this object's `pause` and `check`.
            every: seconds between two looks, if nobody wakes it.
        """
        super().__init__(database, "drafter", every=every)
        self._models = models

    def _work(self, session: Session, taken: list[UUID]) -> bool:
        job = draft_requests.take(session, taken.append)
        if job is None:
            return False
        models = self._models(self)
        try:
            reply = models.client(job.endpoint).complete(job.asked)
        finally:
            models.close()
        draft_requests.finish(session, job, reply)
        return True

    def _fail(self, session: Session, request_id: UUID, message: str) -> None:
        draft_requests.fail(session, request_id, message)
