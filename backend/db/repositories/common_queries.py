"""Queries shared by several pages: an episode's style in SQL, and roll-up cells of many runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, ScalarSelect, Select, case, func, literal, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.db.models import (
    Actor,
    AgentConfiguration,
    Attempt,
    Benchmark,
    Episode,
    Lease,
    Quarantine,
    Rollup,
    Run,
    Step,
    Task,
    TaskSet,
)
from backend.domain.model.episode import EpisodeState
from backend.domain.model.score import SOLVED_TOLERANCE
from backend.domain.model.task import UNLABELLED

AnyRow = Row[*tuple[Any, ...]]
COUNTED_STATES = (EpisodeState.SCORED, EpisodeState.HANDED_IN, EpisodeState.LOST)
"""Results of episodes that do not count while their task is in quarantine."""
LATE_SECONDS = 5.0
"""Age from which a heartbeat is late: a worker sends one every 2 s."""
NOT_QUARANTINED = "NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.task_id = e.task_id AND q.lifted_at IS NULL)"
"""`~in_quarantine` for SQL text with episodes as `e`."""


def contains_words(words: str, *columns: Any) -> ColumnElement[bool]:
    """True for rows with these words in one of the columns, in any case."""
    return or_(*(column.icontains(words, autoescape=True) for column in columns))


def in_quarantine(task_id: InstrumentedAttribute[UUID]) -> ColumnElement[bool]:
    """True for rows whose task is in quarantine now."""
    return select(Quarantine.id).where(Quarantine.task_id == task_id, Quarantine.lifted_at.is_(None)).exists()


def has_difficulty(difficulty: str) -> ColumnElement[bool]:
    """Tasks of a difficulty; `unlabelled` are those without one."""
    return Task.difficulty.is_(None) if difficulty == UNLABELLED else Task.difficulty == difficulty


def outcome_style() -> ColumnElement[str]:
    """The style of an episode (backend.domain.model.outcome_style), so that the database counts bars."""
    stopped = Episode.ended_by.not_in(["done", "infeasible"])
    return case(
        (Episode.state == "not_runnable", literal("notrunnable")),
        (Episode.state.in_(COUNTED_STATES) & in_quarantine(Episode.task_id), literal("quarantined")),
        (Episode.state == "handed_in", literal("handedin")),
        (Episode.state != "scored", Episode.state),
        (Episode.human_assisted, literal("helped")),
        (Episode.score >= 1.0 - SOLVED_TOLERANCE, literal("pass")),
        (Episode.score > 0, literal("partial")),
        (stopped, literal("agent")),
        else_=literal("fail"),
    )


def run_columns() -> Select[*tuple[Any, ...]]:
    """A run with the names of its benchmark and agent."""
    return (
        select(
            Run,
            AgentConfiguration,
            Benchmark.name.label("benchmark"),
            TaskSet.version.label("version"),
            TaskSet.content_hash.label("content_hash"),
            Actor.name.label("actor"),
        )
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .join(Actor, Actor.id == Run.actor_id)
    )


def named_runs(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """Runs with the names of benchmark and agent."""
    return session.execute(run_columns().where(Run.id.in_(run_ids))).all()


def newest_attempt() -> ScalarSelect[UUID]:
    """Id of the newest attempt of the outer query's episode."""
    newest = select(Attempt.id).where(Attempt.episode_id == Episode.id).order_by(Attempt.number.desc()).limit(1)
    return newest.correlate(Episode).scalar_subquery()


def looks_by_run(session: Session, run_ids: Sequence[UUID]) -> Sequence[Row[UUID, str, int]]:
    """(run, look, episodes)."""
    query = (
        select(Episode.run_id, outcome_style().label("look"), func.count())
        .where(Episode.run_id.in_(run_ids))
        .group_by(Episode.run_id, "look")
    )
    return session.execute(query).all()


def cells(session: Session, run_ids: Sequence[UUID], dimension: str = "all") -> Sequence[Rollup]:
    """Roll-up cells of one dimension."""
    query = select(Rollup).where(Rollup.run_id.in_(run_ids), Rollup.dimension == dimension)
    return session.scalars(query).all()


def silent_since() -> ColumnElement[datetime | None]:
    """Time of a lease's last heartbeat if that is late; NULL if it is not."""
    late = Lease.heartbeat_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, LATE_SECONDS)
    return case((late, Lease.heartbeat_at)).label("silent_since")


def live_attempts(
    session: Session, *, run_id: UUID | None = None, words: str = "", limit: int = 64
) -> Sequence[AnyRow]:
    """Running attempts, each with its episode, task, run, agent, newest recorded frame, and its lease's state.

    Args:
        session: the transaction.
        run_id: of this run only.
        words: searched for in names of tasks, configurations and runs.
        limit: highest number of rows.
    """
    newest = (
        select(Step.frame_sha256, Step.created_at)
        .where(Step.attempt_id == Attempt.id)
        .order_by(Step.index.desc())
        .limit(1)
        .lateral("newest")
    )
    query = (
        select(
            Attempt,
            Episode,
            Task,
            Run,
            AgentConfiguration.title.label("configuration"),
            newest.c.frame_sha256,
            newest.c.created_at,
            Lease.model_wait,
            silent_since(),
        )
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Lease, Lease.id == Attempt.lease_id)
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .outerjoin(newest, literal(value=True))
        .where(Attempt.live)
        .order_by(Attempt.started_at, Attempt.id)
        .limit(limit)
    )
    if run_id is not None:
        query = query.where(Run.id == run_id)
    if words:
        columns = (Task.domain + "/" + Task.name, Task.instruction, AgentConfiguration.title, Run.name)
        query = query.where(contains_words(words, *columns))
    return session.execute(query).all()
