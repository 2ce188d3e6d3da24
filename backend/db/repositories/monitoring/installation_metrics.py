"""Figures of the whole installation. Each query uses a partial index or reads what is live."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Lease, Reevaluation, Run, Slot, Step, Worker
from backend.db.models.enums import ReevaluationState
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results.rollup_jobs import behind
from backend.domain.model.episode import AttemptState, RunState


def live_leases(session: Session) -> Sequence[AnyRow]:
    """Live leases: (provider, code of what they wait for, number, seconds since the oldest heartbeat)."""
    age = func.extract("epoch", func.now() - func.min(Lease.heartbeat_at)).label("age")
    query = select(Slot.provider, Lease.wait_reason, func.count().label("number"), age).select_from(Lease)
    query = query.join(Slot, Slot.id == Lease.slot_id).where(Lease.released_at.is_(None))
    return session.execute(query.group_by(Slot.provider, Lease.wait_reason)).all()


def ended_since(session: Session, since: datetime) -> Sequence[AnyRow]:
    """Episodes that ended since then: (outcome, failure class, number)."""
    query = select(Episode.outcome, Episode.failure_class, func.count().label("number"))
    query = query.where(Episode.ended_at > since, Episode.outcome.is_not(None))
    return session.execute(query.group_by(Episode.outcome, Episode.failure_class)).all()


def frame_ages(session: Session) -> Sequence[AnyRow]:
    """Running attempts: (provider, seconds since the oldest of their newest screenshots)."""
    newest = (
        select(Step.created_at)
        .where(Step.attempt_id == Attempt.id)
        .order_by(Step.index.desc())
        .limit(1)
        .correlate(Attempt)
        .scalar_subquery()
    )
    seen_at = func.coalesce(newest, Attempt.first_observation_at, Attempt.started_at)
    age = func.extract("epoch", func.now() - func.min(seen_at)).label("age")
    query = select(Slot.provider, age).select_from(Attempt).join(Slot, Slot.id == Attempt.slot_id)
    query = query.where(Attempt.live, Attempt.state == AttemptState.RUNNING.value)
    return session.execute(query.group_by(Slot.provider)).all()


def rollups_behind(session: Session) -> AnyRow:
    """Runs whose figures are out of date: (number, age of the oldest figures in seconds)."""
    as_of = func.coalesce(Run.rollup_as_of, Run.created_at)
    age = func.coalesce(func.extract("epoch", func.now() - func.min(as_of)), 0).label("age")
    query = select(func.count().label("number"), age).where(behind(), Run.deleted_at.is_(None))
    return session.execute(query).one()


def open_runs(session: Session) -> Sequence[AnyRow]:
    """Runs that have not ended: (state, number)."""
    states = [state.value for state in (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)]
    return session.execute(
        select(Run.state, func.count().label("number")).where(Run.state.in_(states)).group_by(Run.state)
    ).all()


def workers_by_state(session: Session) -> Sequence[AnyRow]:
    """Workers: (state, number)."""
    return session.execute(select(Worker.state, func.count().label("number")).group_by(Worker.state)).all()


def reevaluations_waiting(session: Session) -> int:
    """Attempts that wait to be scored again."""
    query = select(func.count()).select_from(Reevaluation)
    return session.scalars(query.where(Reevaluation.state == ReevaluationState.WAITING.value)).one()
