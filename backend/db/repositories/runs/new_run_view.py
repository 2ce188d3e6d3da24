"""Queries of the form that starts a run."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Text, cast, func, select
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Run, TaskSet

SAMPLE, RUNS = 400, 20


def durations(session: Session, benchmark_id: UUID, agent: str, provider: str) -> Sequence[float]:
    """Seconds from start to end of ended episodes of an agent on a benchmark, from its newest runs."""
    newest = (
        select(Run.id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .where(TaskSet.benchmark_id == benchmark_id, AgentConfiguration.name == agent, Run.provider == provider)
        .order_by(Run.id.desc())
        .limit(RUNS)
    )
    query = (
        select(func.extract("epoch", Episode.ended_at - Episode.started_at))
        .where(Episode.run_id.in_(session.scalars(newest).all()))
        .where(Episode.outcome == "scored", Episode.started_at.is_not(None))
        .order_by(Episode.run_id.desc(), Episode.id.desc())
        .limit(SAMPLE)
    )
    return [float(value) for value in session.scalars(query)]


def used_benchmarks(session: Session) -> Sequence[UUID]:
    """Benchmarks of the newest runs, last used first."""
    newest = select(Run.id, Run.task_set_id).order_by(Run.id.desc()).limit(RUNS).subquery()
    query = (
        select(TaskSet.benchmark_id)
        .join(newest, newest.c.task_set_id == TaskSet.id)
        .group_by(TaskSet.benchmark_id)
        .order_by(func.max(cast(newest.c.id, Text)).desc())
    )
    return session.scalars(query).all()
