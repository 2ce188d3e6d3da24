"""Attempts with their steps and evaluations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Double, case, cast, func, select
from sqlalchemy import insert as sql_insert
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import (
    Artifact,
    Attempt,
    Episode,
    Evaluation,
    Evidence,
    Lease,
    Measure,
    Node,
    Run,
    Slot,
    Step,
    Worker,
)
from backend.db.repositories.common_queries import silent_since
from backend.domain.errors import FailureClass
from backend.domain.model.episode import AttemptState, Loss


def run_id_of(session: Session, attempt_id: UUID) -> UUID | None:
    """The run that an attempt belongs to."""
    return session.scalar(select(Episode.run_id).join(Attempt).where(Attempt.id == attempt_id))


def add_all(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    session.execute(sql_insert(Attempt), [dict(row) for row in rows])


def get(session: Session, attempt_id: UUID) -> Attempt | None:
    return session.get(Attempt, attempt_id)


def get_locked(session: Session, attempt_id: UUID) -> tuple[Attempt, Episode, Lease] | None:
    """Attempt, episode and lease in their current state, locked. The caller holds the run's lock."""
    query = (
        select(Attempt, Episode, Lease)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Lease, Lease.id == Attempt.lease_id)
        .where(Attempt.id == attempt_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


def fenced_run_state(session: Session, attempt_id: UUID, token: int) -> str | None:
    """State of the attempt's run while the lease is valid; None afterwards."""
    query = (
        select(Run.state)
        .join(Episode, Episode.run_id == Run.id)
        .join(Attempt, Attempt.episode_id == Episode.id)
        .join(Lease, Lease.id == Attempt.lease_id)
        .where(Attempt.id == attempt_id, Attempt.live, Attempt.fencing_token == token)
        .where(Lease.fencing_token == token, Lease.released_at.is_(None))
    )
    return session.scalar(query)


def live_on_lease(session: Session, lease_id: UUID) -> Attempt | None:
    """The live attempt under a lease."""
    query = select(Attempt).where(Attempt.lease_id == lease_id, Attempt.live)
    return session.scalar(query.execution_options(populate_existing=True))


def of_episode(session: Session, episode_id: UUID) -> list[Attempt]:
    """All attempts in order."""
    return list(session.scalars(select(Attempt).where(Attempt.episode_id == episode_id).order_by(Attempt.number)))


@dataclass(frozen=True)
class LocatedAttempt:
    """An attempt with where it ran.

    Attributes:
        agent: name of its agent.
        step_at: when its last step was stored, while it is live.
    """

    attempt: Attempt
    worker: str
    node: str
    provider: str
    index: int
    model_wait: dict[str, Any] | None = None
    silent_since: datetime | None = None
    agent: str = ""
    step_at: datetime | None = None


def located_attempts(session: Session, condition: ColumnElement[bool]) -> list[LocatedAttempt]:
    """Attempts with worker and slot, by number."""
    last = select(Step.created_at).where(Step.attempt_id == Attempt.id).order_by(Step.index.desc()).limit(1)
    step_at = case((Attempt.live, last.scalar_subquery()))
    wait = (Lease.model_wait, silent_since(), Run.config["agent"].astext, step_at)
    query = (
        select(Attempt, Worker.name, Node.name, Slot.provider, Slot.index, *wait)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Run, Run.id == Episode.run_id)
        .join(Lease, Lease.id == Attempt.lease_id)
        .join(Worker, Worker.id == Attempt.worker_id)
        .join(Slot, Slot.id == Attempt.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .where(condition)
        .order_by(Attempt.number)
    )
    return [LocatedAttempt(*row) for row in session.execute(query)]


def losses(session: Session, episode_id: UUID, after_number: int) -> list[Loss]:
    """The lost attempts since the last `run retry`, in order."""
    started = Attempt.first_observation_at.is_not(None)
    query = select(Attempt.failure_class, started, Attempt.after_action).where(
        Attempt.episode_id == episode_id, Attempt.state == AttemptState.LOST.value, Attempt.number > after_number
    )
    rows = session.execute(query.order_by(Attempt.number))
    return [Loss(FailureClass(str(row[0])), after_start=row[1], unexplained=row[2]) for row in rows]


def add_step(session: Session, values: Mapping[str, Any]) -> bool:
    """Inserts a step; False if the attempt already has one with that index."""
    query = (
        insert(Step).values({"id": uuid7(), **values}).on_conflict_do_nothing(index_elements=["attempt_id", "index"])
    )
    return session.scalar(query.returning(Step.id)) is not None


def usage(session: Session, attempt_id: UUID) -> dict[str, Any]:
    """Sums over the attempt's steps: input_tokens, output_tokens, calls, usd; `priced`: every call has a price."""

    def total(name: str) -> ColumnElement[float]:
        return func.coalesce(func.sum(cast(Step.usage[name].astext, Double)), 0.0).label(name)

    unpriced = func.count().filter(Step.usage["priced"].astext == "false").label("unpriced")
    names = ("input_tokens", "output_tokens", "calls", "usd")
    row = session.execute(select(*map(total, names), unpriced).where(Step.attempt_id == attempt_id)).one()
    return {**{name: getattr(row, name) for name in names}, "priced": not row.unpriced}


def steps(session: Session, attempt_id: UUID, *, after: int = -1, limit: int | None = 1000) -> list[Step]:
    """Steps with an index above `after`, in order."""
    query = select(Step).where(Step.attempt_id == attempt_id, Step.index > after).order_by(Step.index).limit(limit)
    return list(session.scalars(query))


def steps_of(session: Session, attempt_ids: Sequence[UUID]) -> list[Step]:
    """Steps of these attempts, by attempt and in order."""
    query = select(Step).where(Step.attempt_id.in_(attempt_ids)).order_by(Step.attempt_id, Step.index)
    return list(session.scalars(query))


def evaluations(session: Session, attempt_ids: Sequence[UUID]) -> list[Evaluation]:
    """Evaluations of these attempts, oldest first."""
    query = select(Evaluation).where(Evaluation.attempt_id.in_(attempt_ids)).order_by(Evaluation.id)
    return list(session.scalars(query))


def measures(session: Session, evaluation_ids: Sequence[UUID]) -> dict[UUID, dict[str, float]]:
    """Measures by evaluation."""
    by_evaluation: dict[UUID, dict[str, float]] = {key: {} for key in evaluation_ids}
    for row in session.scalars(select(Measure).where(Measure.evaluation_id.in_(evaluation_ids)).order_by(Measure.name)):
        by_evaluation[row.evaluation_id][row.name] = row.value
    return by_evaluation


def evidence(session: Session, evaluation_ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
    """Evidence by evaluation, in the task's order."""
    by_evaluation: dict[UUID, list[Evidence]] = {key: [] for key in evaluation_ids}
    query = select(Evidence).where(Evidence.evaluation_id.in_(evaluation_ids))
    for row in session.scalars(query.order_by(Evidence.position, Evidence.role.desc(), Evidence.part)):
        by_evaluation[row.evaluation_id].append(row)
    return by_evaluation


@dataclass(frozen=True)
class EvidenceFile:
    """Evidence with metadata of its bytes; None without bytes."""

    evidence: Evidence
    size: int | None
    media_type: str | None


def evidence_files(session: Session, evaluation_ids: Sequence[UUID]) -> dict[UUID, list[EvidenceFile]]:
    """Evidence by evaluation, in the task's order."""
    by_evaluation: dict[UUID, list[EvidenceFile]] = {key: [] for key in evaluation_ids}
    query = (
        select(Evidence, Artifact.size, Artifact.media_type)
        .outerjoin(Artifact, Artifact.sha256 == Evidence.sha256)
        .where(Evidence.evaluation_id.in_(evaluation_ids))
        .order_by(Evidence.position, Evidence.role.desc(), Evidence.part)
    )
    for row in session.execute(query):
        by_evaluation[row[0].evaluation_id].append(EvidenceFile(*row))
    return by_evaluation
