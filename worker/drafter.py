"""Asks models for drafts of tasks: what somebody asked for, one request after the other."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, ModelApiFailed, Unavailable
from backend.domain.ports_model import Models
from backend.services import draft_requests
from worker.database import Database

logger = logging.getLogger(__name__)


class Drafter:
    """A thread that takes one request after the other. Apart from the slots: episodes never wait for it."""

    def __init__(self, database: Database, models: Callable[["Drafter"], Models], *, every: float) -> None:
        """Takes note.

        Args:
            database: the database.
            models: makes the clients of one request, which wait by this object's `pause` and `check`.
            every: seconds between two looks, if nobody wakes it.
        """
        self._database = database
        self._models = models
        self._every = every
        self._woken = Event()
        self._ended = Event()
        self._thread = Thread(target=self._run, name="drafter", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def wake(self) -> None:
        """There may be a request. Safe from any thread, cheap."""
        self._woken.set()

    def stop(self, seconds: float = 1.0) -> None:
        """Takes no more; waits so long for what is under way, which otherwise somebody else does again."""
        self._ended.set()
        self._woken.set()
        self._thread.join(seconds)

    def pause(self, seconds: float) -> None:
        """Waits, unless the worker stops."""
        self._ended.wait(seconds)

    def check(self) -> None:
        """Raises ModelApiFailed once the worker stops."""
        if self._ended.is_set():
            raise ModelApiFailed("the worker stopped before the model answered")

    def one(self) -> bool:
        """Does the next request, in one transaction that keeps its row locked. False if there was none.

        Raises:
            Unavailable: the database is away; the request still waits.
        """
        taken: list[UUID] = []
        try:
            return self._database.once(lambda session: self._work(session, taken))
        except Unavailable:
            raise
        except DeskarenaError as error:
            if not taken or self._ended.is_set():
                raise
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

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                while not self._ended.is_set() and self.one():
                    pass
            except Unavailable:
                pass  # The dispatcher says so already.
            except Exception:
                logger.exception("asking a model for drafts failed")
            self._woken.wait(self._every)
            self._woken.clear()
