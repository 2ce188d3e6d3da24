"""Episodes: locks, counts, lists."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Episode, Run, Task
from backend.db.repositories.common_queries import has_difficulty
from backend.db.repositories.pagination import CursorPage, page
from backend.domain.model.episode import EpisodeState


def get(session: Session, episode_id: UUID) -> Episode | None:
    return session.get(Episode, episode_id)


def lock(session: Session, episode_id: UUID) -> Episode | None:
    """The current episode, locked. The caller has locked the run."""
    query = select(Episode).where(Episode.id == episode_id).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def add_all(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        session.execute(insert(Episode), [dict(row) for row in rows])


def repeat_counts(session: Session, run_id: UUID) -> dict[UUID, int]:
    """Highest repeat per task of a run."""
    query = select(Episode.task_id, func.max(Episode.repeat_index)).where(Episode.run_id == run_id)
    return {row[0]: row[1] for row in session.execute(query.group_by(Episode.task_id))}


def write_all(  # noqa: PLR0913 - which ones, and what
    session: Session,
    run_id: UUID,
    state: EpisodeState,
    values: Mapping[str, Any],
    *,
    failures: Sequence[str] = (),
    tasks: Collection[UUID] | None = None,
) -> int:
    """Updates the run's episodes in a state and returns their number; loaded objects are not refreshed.

    Args:
        session: the transaction; it holds the run's lock.
        run_id: the run.
        state: current state.
        values: columns to write.
        failures: for lost episodes, only these failure classes.
        tasks: only these tasks.
    """
    query = update(Episode).where(Episode.run_id == run_id, Episode.state == state.value)
    if failures:
        query = query.where(Episode.failure_class.in_(list(failures)))
    if tasks is not None:
        query = query.where(Episode.task_id.in_(list(tasks)))
    query = query.values(dict(values)).execution_options(synchronize_session=False)
    # A Core update of one table always returns a cursor with a row count.
    return int(session.execute(query).rowcount)  # type: ignore[attr-defined]


def tasks_in_state(session: Session, run_id: UUID, state: EpisodeState) -> set[UUID]:
    """Tasks of the run with an episode in that state."""
    return set(session.scalars(select(Episode.task_id).where(Episode.run_id == run_id, Episode.state == state.value)))


def counts(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
    """Episodes by state, per run."""
    by_run: dict[UUID, dict[str, int]] = {run_id: {} for run_id in run_ids}
    query = select(Episode.run_id, Episode.state, func.count()).where(Episode.run_id.in_(run_ids))
    for run_id, state, number in session.execute(query.group_by(Episode.run_id, Episode.state)):
        by_run[run_id][state] = number
    return by_run


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    *,
    run_id: UUID | None = None,
    task_id: UUID | None = None,
    states: Sequence[str] = (),
    domain: str | None = None,
    difficulty: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
    newest_first: bool = False,
) -> CursorPage[Any]:
    """Rows (episode, task)."""
    query: Any = select(Episode, Task).join(Task, Task.id == Episode.task_id)
    if run_id is not None:
        query = query.where(Episode.run_id == run_id)
    if task_id is not None:
        query = query.where(Episode.task_id == task_id)
    if states:
        query = query.where(Episode.state.in_(list(states)))
    if domain is not None:
        query = query.where(Task.domain == domain)
    if difficulty is not None:
        query = query.where(has_difficulty(difficulty))
    return page(session, query, Episode.id, cursor=cursor, limit=limit, newest_first=newest_first)


def newest_attempts(session: Session, episode_ids: Sequence[UUID]) -> dict[UUID, Attempt]:
    """The newest attempt of each episode."""
    query = select(Attempt).where(Attempt.episode_id.in_(episode_ids)).ext(distinct_on(Attempt.episode_id))
    rows = session.scalars(query.order_by(Attempt.episode_id, Attempt.number.desc()))
    return {row.episode_id: row for row in rows}


def same_task(session: Session, run_id: UUID, domain: str, name: str, repeat: int) -> UUID | None:
    """The run's episode of the task with that key and repeat, else of its first repeat."""
    query = select(Episode.id).join(Task, Task.id == Episode.task_id)
    query = query.where(
        Episode.run_id == run_id, Task.domain == domain, Task.name == name, Episode.repeat_index <= repeat
    )
    return session.scalar(query.order_by(Episode.repeat_index.desc()).limit(1))


def newest_scored(session: Session, task_id: UUID, without_agent: str) -> UUID | None:
    """The newest scored episode of a task by another agent."""
    query = (
        select(Episode.id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
    )
    query = query.where(Episode.task_id == task_id, Episode.state == EpisodeState.SCORED.value)
    return session.scalar(query.where(AgentConfiguration.name != without_agent).order_by(Episode.id.desc()).limit(1))
