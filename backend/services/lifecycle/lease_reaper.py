"""Lease reaper: ends silent leases and workers, and their attempts. Needs neither broker nor beat."""

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
from backend.domain.errors import AttemptFailure, FailureClass, LeaseFailure, NotFound
from backend.domain.machines.nodes import NodeState
from backend.services.events import outbox
from backend.services.lifecycle import retry_policy

DIED = (LeaseFailure.SILENT, LeaseFailure.GONE)
"""A worker ended without notice."""


def reap(session: Session, now: datetime | None = None, *, lease_seconds: float | None = None) -> list[UUID]:
    """Revokes every lease without a heartbeat for `lease_seconds`; its attempt is lost (`cluster`).

    Safe to call concurrently and repeatedly: each lease is revoked once.

    Args:
        session: the transaction.
        now: reference time; default: the database's clock, which also stamps heartbeats.
        lease_seconds: default: the setting.

    Returns:
        The lost attempts.
    """
    seconds = get_settings().lease_seconds if lease_seconds is None else lease_seconds
    now = now or repository.now(session)
    before = now - timedelta(seconds=seconds)
    # If the clock went back, dead workers would not be noticed until it catches up.
    if repository.bring_back(session, now, now + timedelta(seconds=abs(seconds))):
        return []  # Rows may be locked now, and waiting for them could block a run: the next round ends the dead.
    if before < repository.server_started(session):
        return []  # While the database was unavailable, nobody could renew leases; everybody gets the full time again.
    text = f"no heartbeat for {seconds:g} s: the worker died, froze or lost the database"
    for worker_id in repository.give_up_silent(session, before):
        outbox.note_worker_gone(session, worker_id, text)
    failure = _failure(LeaseFailure.SILENT, text)
    return _end_leases(session, dict.fromkeys(leases.silent(session, before), failure), before)


def release_lease(session: Session, lease_id: UUID, reason: str) -> None:
    """Returns a lease. An attempt that still runs under it is lost (`cluster`). Safe to call twice."""
    _end_leases(session, {lease_id: _failure(LeaseFailure.RELEASED, reason)}, None)


def end_on_nodes(session: Session, cluster: str) -> list[UUID]:
    """Revokes every lease on lost cluster nodes. Returns the lost attempts."""
    ended = [state for state in NodeState if state.ends_attempts]
    rows = leases.on_nodes(session, cluster, ended)
    # Locked before runs and leases, like heartbeats, which lock a worker's leases in any order.
    repository.hold(session, {worker for _, worker, _ in rows})
    failures = {lease: _failure(LeaseFailure.NODE_LOST, f"its node was lost: {reason}") for lease, _, reason in rows}
    return _end_leases(session, failures, None)


def drain(session: Session, worker_id: UUID) -> None:
    """The worker gets no more leases but may finish what it has."""
    worker = repository.get(session, worker_id, lock=True)
    if worker is None:
        raise NotFound(f"there is no worker {worker_id}", code="worker_not_found")
    worker.state = WorkerState.DRAINING.value


def sign_off(session: Session, worker_id: UUID) -> None:
    """Signs off a worker that stops gracefully, so that its leases need not expire."""
    worker = repository.get(session, worker_id, lock=True)
    if worker is not None:
        end_worker(session, worker, LeaseFailure.STOPPED, "the worker was stopped")


def end_worker(session: Session, worker: Worker, code: LeaseFailure, reason: str) -> None:
    """Marks a worker offline and ends its leases at once."""
    worker.state = WorkerState.OFFLINE.value
    if code in DIED:
        outbox.note_worker_gone(session, worker.id, reason)
    _end_leases(session, dict.fromkeys(leases.of_worker(session, worker.id), _failure(code, reason)), None)


def _failure(code: LeaseFailure, reason: str) -> AttemptFailure:
    return AttemptFailure(FailureClass.CLUSTER, code.value, reason)


def _end_leases(session: Session, failures: Mapping[UUID, AttemptFailure], silent_since: datetime | None) -> list[UUID]:
    """Ends these leases, each with its reason, and returns the lost attempts.

    All runs are locked before any lease, in a fixed order: finishing an attempt holds its run and requests its lease,
    so the opposite order could deadlock.
    """
    run_ids = {_run_of(session, lease_id) for lease_id in failures} - {None}
    locked = {run.id: run for run_id in sorted(run_ids, key=str) if run_id and (run := runs.lock(session, run_id))}
    lost = [_end_lease(session, lease_id, failure, silent_since, locked) for lease_id, failure in failures.items()]
    return [attempt_id for attempt_id in lost if attempt_id is not None]


def _run_of(session: Session, lease_id: UUID) -> UUID | None:
    attempt = attempts.live_on_lease(session, lease_id)
    return None if attempt is None else attempts.run_id_of(session, attempt.id)


def _end_lease(
    session: Session, lease_id: UUID, failure: AttemptFailure, silent_since: datetime | None, locked: Mapping[UUID, Run]
) -> UUID | None:
    """Ends one lease. With `silent_since` only if it is still silent, and not while it is being renewed."""
    lease = leases.lock(session, lease_id, skip_locked=silent_since is not None)
    if lease is None or lease.released_at is not None:
        return None
    if silent_since is not None and lease.heartbeat_at >= silent_since:
        return None
    attempt = attempts.live_on_lease(session, lease_id)
    run_id = None if attempt is None else attempts.run_id_of(session, attempt.id)
    run = None if run_id is None else locked.get(run_id)
    if attempt is not None and run is None:
        return None  # Started after the query: the lease is in use, so it is not silent.
    if attempt is not None and run is not None:
        retry_policy.lose(session, run, attempt.id, failure)
    leases.release(session, lease, failure.message, repository.now(session))
    return None if attempt is None else attempt.id
