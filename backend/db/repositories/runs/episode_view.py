"""Queries of an episode's page."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import (
    AgentConfiguration,
    Benchmark,
    Episode,
    Run,
    Step,
    Task,
    TaskSet,
)
from backend.db.repositories.common_queries import AnyRow


def episode(session: Session, episode_id: UUID) -> AnyRow | None:
    """An episode with its task, run and names."""
    query = (
        select(
            Episode,
            Task,
            Run,
            AgentConfiguration,
            Benchmark.name.label("benchmark"),
            TaskSet.version,
        )
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .where(Episode.id == episode_id)
    )
    return session.execute(query).one_or_none()


def has_newer_task(session: Session, task: Task) -> bool:
    """Whether a newer task set of the benchmark has a task with the same key."""
    own = select(TaskSet.benchmark_id, TaskSet.version).where(TaskSet.id == task.task_set_id).subquery()
    query = (
        select(Task.id)
        .join(TaskSet, TaskSet.id == Task.task_set_id)
        .join(own, (own.c.benchmark_id == TaskSet.benchmark_id) & (own.c.version < TaskSet.version))
        .where(Task.domain == task.domain, Task.name == task.name)
    )
    return bool(session.scalar(select(query.exists())))


def neighbours(session: Session, run_id: UUID, episode_id: UUID) -> tuple[UUID | None, UUID | None]:
    """The episodes before and after this one in its run."""
    same = select(Episode.id).where(Episode.run_id == run_id)
    before = session.scalar(same.where(Episode.id < episode_id).order_by(Episode.id.desc()).limit(1))
    after = session.scalar(same.where(Episode.id > episode_id).order_by(Episode.id).limit(1))
    return before, after


def steps(session: Session, attempt_id: UUID) -> Sequence[Step]:
    """All steps of an attempt."""
    return session.scalars(select(Step).where(Step.attempt_id == attempt_id).order_by(Step.index)).all()


def step_span(session: Session, attempt_id: UUID) -> tuple[int, int]:
    """The count of an attempt's steps, and the number of the last one; (0, -1) without steps."""
    query = select(func.count(), func.max(Step.index)).where(Step.attempt_id == attempt_id)
    count, last = session.execute(query).one()
    return count, -1 if last is None else last


def steps_between(session: Session, attempt_id: UUID, first: int, last: int) -> Sequence[Step]:
    """The steps with these numbers, both included, in order."""
    query = select(Step).where(Step.attempt_id == attempt_id, Step.index.between(first, last)).order_by(Step.index)
    return session.scalars(query).all()


def frames_of(session: Session, attempt_id: UUID, numbers: Sequence[int]) -> dict[int, str]:
    """Hashes of the pictures of these steps, by number; steps without a picture are left out."""
    query = select(Step.index, Step.frame_sha256).where(
        Step.attempt_id == attempt_id, Step.index.in_(numbers), Step.frame_sha256.is_not(None)
    )
    return {index: str(sha256) for index, sha256 in session.execute(query)}


def usages(session: Session, attempt_id: UUID) -> Sequence[Mapping[str, Any]]:
    """Tokens and cost of each step."""
    return session.scalars(select(Step.usage).where(Step.attempt_id == attempt_id)).all()
