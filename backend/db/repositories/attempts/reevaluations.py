"""Requests for re-evaluation."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased
from uuid_utils.compat import uuid7

from backend.db.models import Attempt, Episode, Evaluation, Reevaluation, Task, TaskSet, Worker
from backend.db.models.enums import ReevaluationState, WorkerState
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import EpisodeState

COMES_BACK = timedelta(minutes=15)
"""A worker seen within this time may be stopping or restarting, so the request waits for it."""


def put(session: Session, values: dict[str, Any]) -> UUID:
    """Adds a request, unless an identical one is waiting; returns the waiting one's id."""
    values = {"judge": {}, **values}
    query = insert(Reevaluation).values({"state": ReevaluationState.WAITING.value, "message": "", **values})
    same = select(Reevaluation.id).where(Reevaluation.state == ReevaluationState.WAITING.value)
    for name in ("attempt_id", "task_id", "make_current", "judge"):
        same = same.where(getattr(Reevaluation, name) == values[name])
    rescore_id: UUID | None = None
    while rescore_id is None:  # The waiting one may end between the two queries.
        new = query.values(id=uuid7()).on_conflict_do_nothing().returning(Reevaluation.id)
        rescore_id = session.scalar(new) or session.scalar(same)
    return rescore_id


def next_waiting(session: Session, fences: Collection[str] | None = None) -> Reevaluation | None:
    """The oldest unclaimed request, locked until the end of the transaction.

    Args:
        session: the transaction.
        fences: requests with evaluation functions in Python are left to workers with one of these sandboxes, while one
            is online or was recently; None = no restriction.
    """
    due = (Reevaluation.state == ReevaluationState.WAITING.value, Reevaluation.available_at <= func.now())
    query = select(Reevaluation).where(*due).order_by(Reevaluation.id).limit(1)
    if fences is not None:
        able = Worker.capabilities["evaluators"]["sandbox"].astext.in_(fences)
        alive = or_(Worker.state == WorkerState.ONLINE.value, Worker.heartbeat_at > func.now() - COMES_BACK)
        elsewhere = select(Worker.id).where(alive, able).exists()
        query = query.join(Task, Task.id == Reevaluation.task_id).where(~and_(Task.has_user_functions, elsewhere))
    locking = query.with_for_update(of=Reevaluation, skip_locked=True)
    return session.scalar(locking.execution_options(populate_existing=True))


def hold_long(session: Session) -> None:
    """Allows this transaction to wait for a verdict; the server would otherwise end it after half a minute."""
    session.execute(select(func.set_config("idle_in_transaction_session_timeout", "900000", True)))


def get_locked(session: Session, rescore_id: UUID) -> Reevaluation | None:
    """The current request, locked; None if it is claimed."""
    query = select(Reevaluation).where(Reevaluation.id == rescore_id).with_for_update(skip_locked=True)
    return session.scalar(query.execution_options(populate_existing=True))


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    *,
    ids: Sequence[UUID] | None = None,
    episode_id: UUID | None = None,
    run_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 500,
) -> Sequence[AnyRow]:
    """Rows (Reevaluation, before, after, task, set_version), in the order of requests."""
    before, new = aliased(Evaluation), aliased(Evaluation)
    query = (
        select(Reevaluation, before.score.label("before"), new.score.label("after"), Task, TaskSet.version)
        .join(before, before.id == Reevaluation.previous_evaluation_id)
        .outerjoin(new, new.id == Reevaluation.new_evaluation_id)
        .join(Task, Task.id == Reevaluation.task_id)
        .join(TaskSet, TaskSet.id == Task.task_set_id)
    )
    if ids is not None:
        query = query.where(Reevaluation.id.in_(list(ids)))
    if episode_id is not None:
        query = query.where(Reevaluation.episode_id == episode_id)
    if run_id is not None:
        query = query.join(Episode, Episode.id == Reevaluation.episode_id).where(Episode.run_id == run_id)
    if after is not None:
        query = query.where(Reevaluation.id > after)
    return session.execute(query.order_by(Reevaluation.id).limit(limit)).all()


def judgeable_episodes(session: Session, run_id: UUID) -> list[UUID]:
    """Episodes of a run that have a score, or are lost without a verdict."""
    scored = Episode.state == EpisodeState.SCORED.value
    query = select(Episode.id).where(Episode.run_id == run_id, scored | _is_unjudged())
    return list(session.scalars(query.order_by(Episode.id)))


def unjudged_of_run(session: Session, run_id: UUID) -> list[tuple[Episode, Evaluation]]:
    """Lost episodes of a run whose last attempt lacks only the verdict, locked, with its evidence."""
    query = select(Episode).where(Episode.run_id == run_id, _is_unjudged()).order_by(Episode.id)
    rows = session.scalars(query.with_for_update(key_share=True).execution_options(populate_existing=True)).all()
    pairs = [(episode, unjudged_evaluation(session, episode.id)) for episode in rows]
    return [(episode, evaluation) for episode, evaluation in pairs if evaluation is not None]


def unjudged_evaluation(session: Session, episode_id: UUID) -> Evaluation | None:
    """The evidence of an episode's last attempt, if only the verdict is missing."""
    query = (
        select(Evaluation)
        .join(Attempt, Attempt.id == Evaluation.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.id == episode_id, Attempt.number == Episode.attempt_count, Evaluation.failure != "")
    )
    return session.scalar(query.order_by(Evaluation.id.desc()).limit(1))


def _is_unjudged() -> ColumnElement[bool]:
    """The episode is lost, and its last attempt's evidence is stored."""
    evaluations = (
        select(Evaluation.id)
        .join(Attempt, Attempt.id == Evaluation.attempt_id)
        .where(Attempt.episode_id == Episode.id, Attempt.number == Episode.attempt_count, Evaluation.failure != "")
    )
    return and_(Episode.state == EpisodeState.LOST.value, evaluations.exists())


def current_evaluation(session: Session, attempt_id: UUID) -> Evaluation | None:
    """The current evaluation."""
    return session.scalar(select(Evaluation).where(Evaluation.attempt_id == attempt_id, Evaluation.current))
