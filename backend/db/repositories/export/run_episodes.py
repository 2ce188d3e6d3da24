"""Episodes of a run for export, each with the attempt that decided it."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Evaluation, Task
from backend.domain.model.episode import AttemptState


@dataclass(frozen=True)
class RunEpisode:
    """An episode with its task, and its scored or else newest attempt."""

    episode: Episode
    task: Task
    attempt: Attempt | None
    evaluation: Evaluation | None


def page(session: Session, run_id: UUID, after: UUID | None, limit: int) -> list[RunEpisode]:
    """The next episodes of a run, in order of creation."""
    decisive = (
        select(Attempt.id)
        .where(Attempt.episode_id == Episode.id)
        .order_by((Attempt.state == AttemptState.SCORED.value).desc(), Attempt.number.desc())
        .limit(1)
        .correlate(Episode)
        .scalar_subquery()
    )
    query = (
        select(Episode, Task, Attempt, Evaluation)
        .join(Task, Task.id == Episode.task_id)
        .outerjoin(Attempt, Attempt.id == decisive)
        .outerjoin(Evaluation, (Evaluation.attempt_id == Attempt.id) & Evaluation.current)
        .where(Episode.run_id == run_id)
    )
    if after is not None:
        query = query.where(Episode.id > after)
    return [RunEpisode(*row) for row in session.execute(query.order_by(Episode.id).limit(limit))]


def passes(session: Session, run_id: UUID) -> int:
    """Highest repeat of the run's episodes, at least 1."""
    return session.scalar(select(func.max(Episode.repeat_index)).where(Episode.run_id == run_id)) or 1
