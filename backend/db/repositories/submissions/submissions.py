"""Submissions that people judge, and their preferences."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from backend.db.models import (
    AgentConfiguration,
    Attempt,
    Benchmark,
    Episode,
    PairwisePreference,
    Run,
    Submission,
    Task,
    TaskSet,
)
from backend.db.models.enums import Purpose
from backend.db.repositories.common_queries import AnyRow

SHOWN = (Purpose.MEASURE.value, Purpose.DEMO.value)
"""Purposes of runs whose submissions are compared: those of leaderboards."""


def add_all(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts many; existing ones stay."""
    if rows:
        session.execute(upsert(Submission).values([dict(row) for row in rows]).on_conflict_do_nothing())


def row_of(task_id: UUID, attempt_id: UUID | None, files: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """A submission to add. Its id is random: the order of creation would reveal the expert's."""
    return {"id": uuid4(), "task_id": task_id, "attempt_id": attempt_id, "files": list(files)}


def get(session: Session, work_id: UUID) -> Submission | None:
    return session.get(Submission, work_id)


def of_task_set(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """Rows (Submission, Task, Run or None, AgentConfiguration or None) of compared works, in order of creation."""
    query = (
        select(Submission, Task, Run, AgentConfiguration)
        .join(Task, Task.id == Submission.task_id)
        .outerjoin(Attempt, Attempt.id == Submission.attempt_id)
        .outerjoin(Episode, Episode.id == Attempt.episode_id)
        .outerjoin(Run, Run.id == Episode.run_id)
        .outerjoin(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Task.task_set_id == task_set_id)
        .where(Submission.attempt_id.is_(None) | (Run.purpose.in_(SHOWN) & Run.study_id.is_(None)))
        .order_by(Submission.id)
    )
    return session.execute(query).all()


def newest_task_set(session: Session, benchmark_id: UUID) -> TaskSet | None:
    """The newest version of a benchmark that has submissions."""
    query = select(TaskSet).where(
        TaskSet.benchmark_id == benchmark_id,
        select(Submission.id).join(Task, Task.id == Submission.task_id).where(Task.task_set_id == TaskSet.id).exists(),
    )
    return session.scalar(query.order_by(TaskSet.version.desc()).limit(1))


def benchmarks(session: Session) -> list[str]:
    """Names of the benchmarks with submissions."""
    query = select(Benchmark.name).join(TaskSet, TaskSet.benchmark_id == Benchmark.id)
    query = query.join(Task, Task.task_set_id == TaskSet.id).join(Submission, Submission.task_id == Task.id)
    return list(session.scalars(query.distinct().order_by(Benchmark.name)))


def choices(session: Session, task_set_id: UUID) -> list[PairwisePreference]:
    """All preferences between submissions for a task set's tasks, in order of creation."""
    query = (
        select(PairwisePreference)
        .join(Task, Task.id == PairwisePreference.task_id)
        .where(Task.task_set_id == task_set_id)
    )
    return list(session.scalars(query.order_by(PairwisePreference.id)))


def choose(session: Session, values: Mapping[str, Any]) -> bool:
    """Stores a preference; False if this person has already judged the pair, which stays unchanged."""
    query = upsert(PairwisePreference).values(dict(values)).on_conflict_do_nothing().returning(PairwisePreference.id)
    return session.scalar(query) is not None
