"""Episodes of people, with their answers."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Episode, Run, Task
from backend.db.models.enums import RANKED_PURPOSES
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import EpisodeState


def agent_of(session: Session, run_id: UUID) -> AgentConfiguration | None:
    return session.scalar(
        select(AgentConfiguration)
        .join(Run, Run.agent_configuration_id == AgentConfiguration.id)
        .where(Run.id == run_id)
    )


def newest(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """Rows (Episode, Task, newest Attempt or None) of a run, in the order of work."""
    attempt = (
        select(Attempt.id, Attempt.episode_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.run_id == run_id)
        .ext(distinct_on(Attempt.episode_id))
        .order_by(Attempt.episode_id, Attempt.number.desc())
        .subquery()
    )
    query = (
        select(Episode, Task, Attempt)
        .join(Task, Task.id == Episode.task_id)
        .outerjoin(attempt, attempt.c.episode_id == Episode.id)
        .outerjoin(Attempt, Attempt.id == attempt.c.id)
        .where(Episode.run_id == run_id)
        .order_by(Episode.id)
    )
    return session.execute(query).all()


def attempt_of(session: Session, episode_id: UUID) -> Attempt | None:
    """The newest attempt of an episode, locked."""
    query = select(Attempt).where(Attempt.episode_id == episode_id).order_by(Attempt.number.desc()).limit(1)
    return session.scalar(query.with_for_update(key_share=True).execution_options(populate_existing=True))


def _completed_rows(session: Session, task_sets: Sequence[UUID]) -> Sequence[AnyRow]:
    """Rows (Episode, Attempt, Task, run) of people's scored episodes on these task sets.

    Runs by people are selected first: there are few, and a query plan that starts with episodes reads a whole board.
    """
    people = (
        select(Run.id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(AgentConfiguration.human, Run.purpose.in_(RANKED_PURPOSES))
    )
    runs = session.scalars(people).all()
    if not runs:
        return []
    query = (
        select(Episode, Attempt, Task, Episode.run_id)
        .join(Task, Task.id == Episode.task_id)
        .join(Attempt, (Attempt.episode_id == Episode.id) & (Attempt.state == EpisodeState.SCORED.value))
        .where(Episode.run_id.in_(runs), Episode.state == EpisodeState.SCORED.value, Task.task_set_id.in_(task_sets))
    )
    return session.execute(query.order_by(Episode.id)).all()


def of_task_set(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """People's scored episodes on the tasks of a task set."""
    return _completed_rows(session, [task_set_id])


def of_tasks(session: Session, benchmark_sets: Sequence[UUID]) -> Sequence[AnyRow]:
    """People's scored episodes on any of these task sets."""
    return _completed_rows(session, list(benchmark_sets))
