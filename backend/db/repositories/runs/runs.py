"""Runs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, text
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Benchmark, Episode, Run, TaskSet
from backend.db.repositories.pagination import CursorPage, page

_UNFINISHED = text("""
    SELECT coalesce(
        (SELECT true FROM episode WHERE run_id = :run AND state = 'running' LIMIT 1),
        (SELECT true FROM episode WHERE run_id = :run AND state = 'waiting' AND available_at < '9000-01-01 00:00:00+00'
            ORDER BY requirements_id, priority DESC, repeat_index, estimated_seconds DESC, id LIMIT 1),
        (SELECT true FROM episode WHERE run_id = :run AND state = 'waiting' LIMIT 1),
        false
    )
""")
"""Scans an index in order until one is found; otherwise the whole table would be scanned."""


def lock(session: Session, run_id: UUID) -> Run | None:
    """The current run, locked until the commit, so that no other transaction changes it, its episodes or attempts.

    The lock (FOR NO KEY UPDATE) allows foreign key checks meanwhile.
    """
    query = select(Run).where(Run.id == run_id).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def lock_of_attempt(session: Session, attempt_id: UUID) -> Run | None:
    """An attempt's current run, locked as by `lock`."""
    owner = select(Episode.run_id).join(Attempt, Attempt.episode_id == Episode.id).where(Attempt.id == attempt_id)
    query = select(Run).where(Run.id == owner.scalar_subquery()).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def get(session: Session, run_id: UUID) -> Run | None:
    """The run, without a lock."""
    return session.get(Run, run_id)


def by_key(session: Session, project_id: UUID, key: str) -> Run | None:
    """The run with this idempotency key, after waiting for concurrent submissions."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"{project_id}/{key}", 0))))
    return session.scalar(select(Run).where(Run.project_id == project_id, Run.idempotency_key == key))


def unfinished(session: Session, run_id: UUID) -> bool:
    """True while an episode waits or runs."""
    return bool(session.scalar(_UNFINISHED, {"run": run_id}))


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    *,
    project_id: UUID,
    states: Sequence[str] = (),
    benchmark: str | None = None,
    agent: str | None = None,
    configuration: UUID | None = None,
    purposes: Sequence[str] = (),
    cursor: str | None = None,
    limit: int = 50,
) -> CursorPage[Run]:
    """Runs, newest first."""
    query: Select[Any] = select(Run).where(Run.project_id == project_id)
    if states:
        query = query.where(Run.state.in_([str(state) for state in states]))
    if purposes:
        query = query.where(Run.purpose.in_(list(purposes)))
    if configuration:
        query = query.where(Run.agent_configuration_id == configuration)
    if agent:
        query = query.join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id).where(
            AgentConfiguration.name == agent
        )
    if benchmark:
        query = query.join(TaskSet, TaskSet.id == Run.task_set_id).join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        query = query.where(Benchmark.name == benchmark)
    return page(session, query, Run.id, cursor=cursor, limit=limit, newest_first=True)
