"""Generates task drafts with models, one request after the other."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.ports.model import Models
from backend.services.authoring import draft_requests
from worker.background.request_worker import RequestQueueWorker
from worker.base.database import Database
from worker.models.model_pool import Interruption


class Drafter(RequestQueueWorker):
    """Processes requests for drafts.

    Args:
        database: the database.
        models: opens the model clients of one request, which wait with this object's `pause` and `check`.
        every: polling interval in seconds.
    """

    def __init__(self, database: Database, models: Callable[[Interruption], Models], *, every: float) -> None:
        super().__init__(database, "drafter", every=every)
        self._models = models

    def _work(self, session: Session, ids: list[UUID]) -> bool:
        job = draft_requests.claim_request(session, ids.append)
        if job is None:
            return False
        models = self._models(self)
        try:
            reply = models.client(job.endpoint).complete(job.request)
        finally:
            models.close()
        draft_requests.finish(session, job, reply)
        return True

    def _fail(self, session: Session, request_id: UUID, message: str, _code: str) -> None:
        draft_requests.fail(session, request_id, message)
