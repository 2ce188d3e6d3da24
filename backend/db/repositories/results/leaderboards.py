"""Inputs of a leaderboard."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import false, func, select, text
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, PublishedResult, Quarantine, Rollup, Run, Task, TaskSet
from backend.db.models.enums import Dimension
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results.pass_rollups import on_boards
from backend.db.repositories.results.rollup_jobs import behind


@dataclass(frozen=True)
class RunCondition:
    """Runs that measured the same thing, represented by `run`."""

    run: Run
    agent: AgentConfiguration
    others: Sequence[UUID]


BOARD_STATE = text("""
    SELECT array(SELECT id FROM audit_entry ORDER BY id DESC LIMIT 20) AS acts,
        (SELECT (count(*), max(as_of)) FROM pass_rollup)::text AS passes,
        (SELECT (count(*), max(rollup_as_of), count(*) FILTER (WHERE rollup_stale),
            count(*) FILTER (WHERE rollup_started_at IS NOT NULL), count(deleted_at)) FROM run)::text AS cubes,
        (SELECT count(*) FROM task_set) AS versions, (SELECT count(*) FROM published_result) AS published,
        (SELECT (count(*), count(lifted_at)) FROM quarantine)::text AS quarantine,
        (SELECT count(*) FROM human_rating) AS ratings
""")
"""People's newest acts, and the roll-ups. Several acts, as they do not end in the order of their ids."""


def freshness(session: Session, task_set_id: UUID) -> tuple[datetime | None, bool]:
    """Time of the newest cube on the board, and whether any cube on it is out of date."""
    query = select(func.max(Run.rollup_as_of), func.coalesce(func.bool_or(behind()), false()))
    newest, stale = session.execute(query.where(Run.task_set_id == task_set_id, on_boards())).one()
    return newest, stale


def conditions(session: Session, task_set_id: UUID) -> list[RunCondition]:
    """One entry per condition and configuration: its run with most scored tasks, then the newest."""
    query = (
        select(Run.id, Run.condition_hash, Run.agent_configuration_id)
        .outerjoin(Rollup, (Rollup.run_id == Run.id) & (Rollup.dimension == Dimension.ALL.value))
        .where(Run.task_set_id == task_set_id, on_boards())
        .order_by(Run.condition_hash, func.coalesce(Rollup.scored_tasks, 0).desc(), Run.id.desc())
    )
    groups: dict[tuple[str, UUID], list[UUID]] = {}
    for run_id, condition, configuration_id in session.execute(query):
        groups.setdefault((condition, configuration_id), []).append(run_id)
    standing = {ids[0]: sorted(ids[1:], reverse=True) for ids in groups.values()}
    pairs = (
        select(Run, AgentConfiguration)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.id.in_(list(standing)))
    )
    return [RunCondition(run, agent, standing[run.id]) for run, agent in session.execute(pairs.order_by(Run.id))]


def runs(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """(id, agent_configuration_id, config) of the runs on the board: most scored tasks first, then newest."""
    query = (
        select(Run.id, Run.agent_configuration_id, Run.config)
        .outerjoin(Rollup, (Rollup.run_id == Run.id) & (Rollup.dimension == Dimension.ALL.value))
        .where(Run.task_set_id == task_set_id, on_boards())
        .order_by(func.coalesce(Rollup.scored_tasks, 0).desc(), Run.id.desc())
    )
    return session.execute(query).all()


def with_configurations(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, tuple[Run, AgentConfiguration]]:
    """Runs with their configurations, by the run's id."""
    query = (
        select(Run, AgentConfiguration)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.id.in_(run_ids))
    )
    return {run.id: (run, agent) for run, agent in session.execute(query)}


def newest_with_runs(session: Session, benchmark_id: UUID) -> TaskSet | None:
    """The newest version of a benchmark that has runs on its board."""
    runs_of_set = select(Run.id).where(Run.task_set_id == TaskSet.id, on_boards()).exists()
    query = select(TaskSet).where(TaskSet.benchmark_id == benchmark_id, runs_of_set)
    return session.scalar(query.order_by(TaskSet.version.desc()).limit(1))


def number_of_tasks(session: Session, task_set_id: UUID) -> int:
    """Tasks of the task set that are not in quarantine."""
    own = Task.task_set_id == task_set_id
    aside = select(func.count()).select_from(Quarantine).join(Task).where(own, Quarantine.lifted_at.is_(None))
    # One after the other, so that all tasks are counted in an index.
    every = select(func.count()).where(own)
    return session.scalars(every).one() - session.scalars(aside).one()


def published_results(session: Session, benchmark_id: UUID) -> list[PublishedResult]:
    """Published results of the benchmark."""
    query = select(PublishedResult).where(PublishedResult.benchmark_id == benchmark_id)
    return list(session.scalars(query.order_by(PublishedResult.measure, PublishedResult.value.desc())))
