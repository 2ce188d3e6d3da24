"""Benchmarks and their task sets."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Benchmark, TaskAsset, TaskSet


def by_name(session: Session, name: str, *, lock: bool = False) -> Benchmark | None:
    """The project's benchmark of that name, outside of requests the oldest one.

    With `lock`, other imports of it wait until the commit.
    """
    query = select(Benchmark).where(Benchmark.name == name).order_by(Benchmark.id).limit(1)
    return session.scalar(query.with_for_update(key_share=True) if lock else query)


def make(session: Session, project_id: UUID, name: str, kind: str) -> None:
    """Creates the benchmark if it does not exist."""
    row = {
        "id": uuid7(),
        "project_id": project_id,
        "name": name,
        "kind": kind,
        "title": "",
        "licence": "",
        "source": "",
    }
    session.execute(insert(Benchmark).values(row).on_conflict_do_nothing())


def names(session: Session) -> list[str]:
    """Sorted names, without hidden ones."""
    return list(session.scalars(select(Benchmark.name).where(~Benchmark.hidden).order_by(Benchmark.name)))


def all_of(session: Session, project_id: UUID | None) -> list[Benchmark]:
    """All benchmarks by name, of one project or of all, without hidden ones."""
    query = select(Benchmark).where(~Benchmark.hidden).order_by(Benchmark.name)
    return list(session.scalars(query if project_id is None else query.where(Benchmark.project_id == project_id)))


def task_sets(session: Session, benchmark_id: UUID) -> list[TaskSet]:
    """Versions, newest first."""
    query = select(TaskSet).where(TaskSet.benchmark_id == benchmark_id).order_by(TaskSet.version.desc())
    return list(session.scalars(query))


def task_set_by_hash(session: Session, benchmark_id: UUID, content_hash: str) -> TaskSet | None:
    """The task set with this content."""
    return session.scalar(
        select(TaskSet).where(TaskSet.benchmark_id == benchmark_id, TaskSet.content_hash == content_hash)
    )


def last_version(session: Session, benchmark_id: UUID) -> int:
    """The highest version number, 0 without versions."""
    return session.scalar(select(func.max(TaskSet.version)).where(TaskSet.benchmark_id == benchmark_id)) or 0


def assets(session: Session, task_set_id: UUID) -> dict[str, str]:
    """Hash of every asset of a task set, by the name that steps use."""
    query = select(TaskAsset.name, TaskAsset.sha256).where(TaskAsset.task_set_id == task_set_id)
    return {row[0]: row[1] for row in session.execute(query)}


def name_of(session: Session, task_set_id: UUID) -> str:
    """Name of a task set's benchmark."""
    query = select(Benchmark.name).join(TaskSet, TaskSet.benchmark_id == Benchmark.id)
    return session.scalars(query.where(TaskSet.id == task_set_id)).one()
