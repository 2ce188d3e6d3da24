"""Failed episodes, inputs of the rules, and labels by people."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import cast, func, select
from sqlalchemy.dialects.postgresql import JSONPATH, insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Attempt, Episode, FailureReview, Step, Task
from backend.db.repositories.common_queries import AnyRow, in_quarantine
from backend.domain.model.episode import AttemptState, EpisodeState

_GROUNDER_FAILED = '$.model_calls[*] ? (@.part == "grounder" && @.failure != null)'


def failed(session: Session, run_id: UUID) -> list[UUID]:
    """Counted episodes of a run that are not solved: the agent's own, and of no quarantined task."""
    query = select(Episode.id).where(Episode.run_id == run_id, Episode.state == EpisodeState.SCORED.value)
    counted = query.where(Episode.human_assisted.is_(False), ~in_quarantine(Episode.task_id))
    return list(session.scalars(counted.where(Episode.solved.is_(False))))


def outcomes(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(run, task id, key, how they ended, solved, n) of the counted episodes of runs."""
    columns = (Episode.run_id.label("run"), Task.id.label("task_id"), (Task.domain + "/" + Task.name).label("key"))
    query = (
        select(*columns, Episode.ended_by, Episode.solved, func.count().label("n"))
        .join(Task, Task.id == Episode.task_id)
        .where(Episode.run_id.in_(run_ids), Episode.state == EpisodeState.SCORED.value)
        .where(Episode.human_assisted.is_(False), ~in_quarantine(Task.id))
        .group_by(Episode.run_id, Task.id, Episode.ended_by, Episode.solved)
    )
    return session.execute(query).all()


def episodes(session: Session, ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(Episode, Task, scored attempt) of these, in any order."""
    query = (
        select(Episode, Task, Attempt.id)
        .join(Task, Task.id == Episode.task_id)
        .join(Attempt, (Attempt.episode_id == Episode.id) & (Attempt.state == AttemptState.SCORED.value))
    )
    return session.execute(query.where(Episode.id.in_(ids))).all()


def steps(session: Session, attempt_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(attempt, index, actions, picture, invalid, grounder_failed) of every step, in order.

    The end state has no action.
    """
    failed = func.jsonb_path_exists(Step.extras, cast(_GROUNDER_FAILED, JSONPATH)).label("grounder_failed")
    columns = (Step.attempt_id, Step.index, Step.actions, Step.frame_sha256, Step.invalid, failed)
    query = select(*columns).where(Step.attempt_id.in_(attempt_ids))
    return session.execute(query.order_by(Step.attempt_id, Step.index)).all()


def reviews(session: Session, episode_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(FailureReview, name of the person), oldest first."""
    query = select(FailureReview, Actor.name).join(Actor, Actor.id == FailureReview.actor_id)
    return session.execute(query.where(FailureReview.episode_id.in_(episode_ids)).order_by(FailureReview.id)).all()


def put(  # noqa: PLR0913 - the columns
    session: Session,
    *,
    episode_id: UUID,
    attempt_id: UUID,
    actor_id: UUID,
    labels: Sequence[str],
    suggested: Sequence[Sequence[object]],
    note: str,
) -> None:
    """Replaces a person's labels of an episode."""
    content = {"labels": list(labels), "suggestions": [list(suggestion) for suggestion in suggested], "note": note}
    values = {"id": uuid7(), "episode_id": episode_id, "attempt_id": attempt_id, "actor_id": actor_id, **content}
    query = insert(FailureReview).values(values)
    changed = {**content, "attempt_id": attempt_id, "updated_at": query.excluded.updated_at}
    session.execute(query.on_conflict_do_update(index_elements=["episode_id", "actor_id"], set_=changed))
