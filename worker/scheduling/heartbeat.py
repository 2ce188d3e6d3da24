"""Heartbeat: keeps a worker's leases alive, and tells attempts when they must stop."""

import logging
import time
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import Cancelled, LeaseLost, NotFound
from backend.services.attempts import attempts
from backend.services.periodic_thread import PeriodicThread
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Fence
from worker.base.database import Database
from worker.base.lease import HeldLease, HeldLeases

LOOK_SECONDS = 0.25
RETRY_SECONDS = 0.5
logger = logging.getLogger(__name__)


class Heartbeat:
    """Two threads: one renews the leases every few seconds, one checks whether a lease has expired meanwhile.

    The second uses no database, so that a hanging database cannot keep an attempt running that has lost its lease.
    """

    def __init__(self, database: Database, holds: HeldLeases, seconds: float) -> None:
        """Args: database; holds: all leases of this worker; seconds: interval of heartbeats."""
        self._database = database
        self._holds = holds
        self._worker_id: UUID | None = None
        self._started = False
        self._threads = [
            PeriodicThread(
                "heartbeat",
                self.beat,
                every=seconds,
                retry=min(RETRY_SECONDS, seconds),
                delayed=True,
                away="no heartbeat",
                broken="heartbeat raised",
            ),
            PeriodicThread("lease-watch", self._watch, every=LOOK_SECONDS, broken="leases not checked"),
        ]

    @property
    def worker_id(self) -> UUID | None:
        """Our id in the database; None before registration, and if the database no longer knows us."""
        return self._worker_id

    def start(self, worker_id: UUID) -> None:
        """Starts for that worker, or continues with another id."""
        self._worker_id = worker_id
        if not self._started:
            self._started = True
            for thread in self._threads:
                thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        """Stops; waits at most the given seconds for a running heartbeat."""
        for thread in self._threads:
            thread.stop(seconds)

    def _watch(self) -> None:
        for hold in self._holds.all():
            try:
                _ = hold.error  # Asking stops a hold that has run out.
            except Exception:
                logger.exception("lease %s not checked", hold.ticket.lease_id)

    def beat(self) -> None:
        """One heartbeat for all leases. Raises Unavailable."""
        worker_id = self._worker_id
        if worker_id is None:
            return
        holds, sent_at = self._holds.all(), time.monotonic()
        try:
            renewed, cancelled = self._database.once(lambda session: _ask(session, worker_id, holds))
        except NotFound as error:
            logger.warning("%s: registering again", error.message)
            self._worker_id, renewed, cancelled = None, set(), {}
        for hold in holds:
            lease_id = hold.ticket.lease_id
            if lease_id not in renewed:
                hold.stop(LeaseLost("the lease was taken over: no heartbeat reached the database in time"))
                continue
            hold.renewed(sent_at)
            if lease_id in cancelled:  # Of that attempt: the lease may carry another one by now.
                hold.stop(Cancelled("the run was cancelled"), only=cancelled[lease_id])


def _ask(session: Session, worker_id: UUID, holds: list[HeldLease]) -> tuple[set[UUID], dict[UUID, Fence]]:
    """Leases that are still ours, and the attempts that must stop because their run was cancelled."""
    waits = {hold.ticket.lease_id: wait for hold in holds if (wait := hold.waits()) is not None}
    renewed = claims.worker_heartbeat(session, worker_id, [hold.ticket.lease_id for hold in holds], waits)
    fences = {hold.ticket.lease_id: hold.fence for hold in holds if hold.ticket.lease_id in renewed}
    return renewed, {
        lease: fence for lease, fence in fences.items() if fence is not None and _cancelled(session, fence)
    }


def _cancelled(session: Session, fence: Fence) -> bool:
    try:
        return attempts.is_cancelled(session, fence)
    except LeaseLost:
        return False  # It has just ended; its own thread handles it.
