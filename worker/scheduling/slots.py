"""Work in one leased slot: attempt after attempt under the same lease, while there is work."""

import logging
from collections.abc import Callable
from threading import Thread

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, Unavailable
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from backend.telemetry import tracing
from backend.telemetry.attributes import Attributes
from backend.telemetry.logs import log_ids
from backend.telemetry.metrics import RESETS_FAILED
from worker.attempt.attempt_dependencies import AttemptDeps
from worker.attempt.recorder import AttemptRecorder
from worker.attempt.runner import run_attempt
from worker.base.database import Database
from worker.base.guarded_store import GuardedStore
from worker.base.lease import HeldLease

logger = logging.getLogger(__name__)


class SlotWorker:
    """Background thread that works under one lease until there is no work, or the lease ends."""

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        hold: HeldLease,
        claim: Claim,
        *,
        tools: AttemptDeps,
        database: Database,
        store: GuardedStore,
        ended: Callable[["SlotWorker"], None],
    ) -> None:
        """Starts at once.

        Args:
            hold: the lease as the worker sees it.
            claim: the first episode; later ones use the same lease.
            tools: dependencies of attempts.
            database: database of the records.
            store: artifact store.
            ended: called at the end, when the slot is free again.
        """
        self.hold = hold
        self.could_open = True
        self._lease_id = claim.lease_id
        self._slot = claim.slot
        self._claim: Claim | None = claim
        self._tools = tools
        self._database = database
        self._store = store
        self._ended = ended
        self._thread = Thread(target=self._run, name=f"slot-{claim.provider}-{claim.slot}", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Waits for the end, at most for the given seconds. True once it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while self._claim is not None:
                self._run_episode(self._claim)
                self._claim = self._next()
        except Exception:
            logger.exception("slot thread raised")
        finally:
            self._release()
            self._ended(self)

    def _run_episode(self, claim: Claim) -> None:
        with log_ids(run_id=claim.run_id, episode_id=claim.episode_id, attempt_id=claim.attempt_id):
            facts: Attributes = {
                "deskarena.lease.id": str(claim.lease_id),
                "deskarena.provider": claim.provider,
                "deskarena.slot": claim.slot.index,
                "deskarena.node": claim.slot.node or None,
            }
            with tracing.span("lease", facts, parent=claim.trace_parent), tracing.span("attempt", facts_of(claim)):
                self._run_attempt(claim)

    def _run_attempt(self, claim: Claim) -> None:
        logger.info("attempt %s: %s (try %d)", claim.attempt_id, claim.task.key, claim.attempt_number)
        self.hold.begins(claim.fence)
        book = AttemptRecorder(self._database, self._store, self.hold, claim.fence)
        try:
            self.could_open = run_attempt(claim, self.hold, book, self._tools)
            RESETS_FAILED.labels(claim.provider).inc(not self.could_open)
        finally:
            self.hold.ends()
            book.close()

    def _next(self) -> Claim | None:
        """The next episode for the same lease; None if there is none, or the lease must be returned."""
        if self.hold.last or self.hold.error is not None or not self.could_open or self._store.answers.why_not:
            return None

        def take(session: Session) -> Claim | None:
            return claims.claim_next(session, self._lease_id)

        try:
            return self._database.insist(take, self.hold)
        except DeskarenaError as error:
            logger.warning("no further work for this lease: %s", error.message)
            return None

    def _release(self) -> None:
        """Returns the slot, ignoring failures: without heartbeats the lease expires."""
        reason = "no more work" if self.hold.error is None else self.hold.error.message
        try:
            self._tools.provider.unprepare(self._slot)
            self._database.once(lambda session: claims.release_lease(session, self._lease_id, reason))
        except Unavailable as error:
            logger.warning("lease not returned: %s", error.message)
        except Exception:
            logger.exception("lease not returned")


def facts_of(claim: Claim) -> Attributes:
    """Trace attributes of an attempt."""
    return {
        "deskarena.run.id": str(claim.run_id),
        "deskarena.episode.id": str(claim.episode_id),
        "deskarena.attempt.id": str(claim.attempt_id),
        "deskarena.attempt.number": claim.attempt_number,
        "deskarena.benchmark": claim.benchmark,
        "deskarena.provider": claim.provider,
        "deskarena.agent": claim.config.agent,
    }
