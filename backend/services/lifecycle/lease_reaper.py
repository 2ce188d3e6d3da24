"""What died is ended: silent leases and workers, and the attempts they carried. Needs neither broker nor beat."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.models import Run, Worker
from backend.db.models.enums import WorkerState
from backend.db.repositories.attempts import attempts
from backend.db.repositories.capacity import leases
from backend.db.repositories.capacity import workers as repository
from backend.db.repositories.runs import runs
from backend.domain.errors import FailureClass, NotFound
from backend.domain.machines.nodes import NodeState
from backend.services.lifecycle import retry_policy

SILENT = "no heartbeat for"
"""What the reason of a loss begins with where a worker, or one of its attempts, has fallen silent."""
GONE = "the worker's process is gone"
DIED = (SILENT, GONE, "its process is gone")
"""What reasons begin with where a worker ended without a word; workers of an older release say the last."""


def reap(session: Session, now: datetime | None = None, *, lease_seconds: float | None = None) -> list[UUID]:
    """Takes away every lease without a heartbeat for `lease_seconds`; its attempt is lost (`cluster`).

    Safe to call by many at once, as often as they like: each lease is taken away once.

    Args:
        session: the transaction.
        now: the time to count from; default: the database's clock, by which heartbeats are written.
        lease_seconds: default: the setting.

    Returns:
        The attempts that were lost by it.
    """
    seconds = get_settings().lease_seconds if lease_seconds is None else lease_seconds
    now = now or repository.now(session)
    before = now - timedelta(seconds=seconds)
    # Where the clock went back, the dead would not be missed until it is there again.
    if repository.bring_back(session, now, now + timedelta(seconds=abs(seconds))):
        return []  # What it wrote is held now, and whoever waits for it may hold a run: the next look ends the dead.
    if before < repository.server_started(session):
        return []  # While the database was away nobody could tell that it lives; everybody gets the full time again.
    repository.give_up_silent(session, before)
    reason = f"{SILENT} {seconds:g} s: the worker died, froze or lost the database"
    return _end_leases(session, dict.fromkeys(leases.silent(session, before), reason), before)


def release_lease(session: Session, lease_id: UUID, reason: str) -> None:
    """Gives a lease back. An attempt that still goes on under it is lost (`cluster`). Safe to call twice."""
    _end_leases(session, {lease_id: reason}, None)


def end_on_nodes(session: Session, cluster: str) -> list[UUID]:
    """Takes away every lease on nodes of a cluster that are lost or gone. Returns the attempts lost by it."""
    ended = [state for state in NodeState if state.ends_attempts]
    rows = leases.on_nodes(session, cluster, ended)
    # Before runs and leases, as heartbeats do, which lock a worker's leases as they come.
    repository.hold(session, {worker for _, worker, _ in rows})
    reasons = {lease: f"its node was lost: {why}" for lease, _, why in rows}
    return _end_leases(session, reasons, None)


def drain(session: Session, worker_id: UUID) -> None:
    """The worker gets no more leases; what it has it may finish."""
    worker = repository.get(session, worker_id, lock=True)
    if worker is None:
        raise NotFound(f"there is no worker {worker_id}", code="worker_not_found")
    worker.state = WorkerState.DRAINING.value


def sign_off(session: Session, worker_id: UUID) -> None:
    """The worker ends in good order: nothing it holds is waited for."""
    worker = repository.get(session, worker_id, lock=True)
    if worker is not None:
        end_worker(session, worker, "the worker was stopped")


def end_worker(session: Session, worker: Worker, reason: str) -> None:
    """Marks a worker offline and ends its leases at once."""
    worker.state = WorkerState.OFFLINE.value
    _end_leases(session, dict.fromkeys(leases.of_worker(session, worker.id), reason), None)


def _end_leases(session: Session, reasons: Mapping[UUID, str], silent_since: datetime | None) -> list[UUID]:
    """Ends these leases, each for its reason, and returns the attempts that were lost by it.

    All runs are locked before any lease, and in one order: who finishes an attempt holds its run and asks for its
    lease, so a reaper that held leases and asked for runs could wait for somebody who waits for it.
    """
    known = {_run_of(session, lease_id) for lease_id in reasons} - {None}
    locked = {run.id: run for run_id in sorted(known, key=str) if run_id and (run := runs.lock(session, run_id))}
    lost = [_end_lease(session, lease_id, why, silent_since, locked) for lease_id, why in reasons.items()]
    return [attempt_id for attempt_id in lost if attempt_id is not None]


def _run_of(session: Session, lease_id: UUID) -> UUID | None:
    attempt = attempts.live_on_lease(session, lease_id)
    return None if attempt is None else attempts.run_id_of(session, attempt.id)


def _end_lease(
    session: Session, lease_id: UUID, reason: str, silent_since: datetime | None, locked: Mapping[UUID, Run]
) -> UUID | None:
    """Ends one lease. With `silent_since` only if it is still silent, and not at all if it is just being renewed."""
    lease = leases.lock(session, lease_id, skip_locked=silent_since is not None)
    if lease is None or lease.released_at is not None:
        return None
    if silent_since is not None and lease.heartbeat_at >= silent_since:
        return None
    attempt = attempts.live_on_lease(session, lease_id)
    run_id = None if attempt is None else attempts.run_id_of(session, attempt.id)
    run = None if run_id is None else locked.get(run_id)
    if attempt is not None and run is None:
        return None  # It was begun after we looked: the lease is in use, so it is not silent.
    if attempt is not None and run is not None:
        retry_policy.lose(session, run, attempt.id, FailureClass.CLUSTER, reason)
    leases.release(session, lease, reason, repository.now(session))
    return None if attempt is None else attempt.id
