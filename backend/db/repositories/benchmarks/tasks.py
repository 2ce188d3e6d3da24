"""Tasks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session
from sqlalchemy.sql.expression import cast

from backend.db.models import Task, TaskAsset
from backend.db.repositories.benchmarks import labels
from backend.db.repositories.common_queries import contains_words, has_difficulty
from backend.db.repositories.pagination import CursorPage, page


def add_all(session: Session, tasks: Sequence[Mapping[str, Any]], assets: Sequence[Mapping[str, Any]]) -> None:
    """Inserts a task set's tasks and assets."""
    if tasks:
        session.execute(insert(Task), [dict(row) for row in tasks])
    if assets:
        session.execute(insert(TaskAsset), [dict(row) for row in assets])


def get(session: Session, task_id: UUID) -> Task | None:
    return session.get(Task, task_id)


def by_ids(session: Session, task_ids: Collection[UUID]) -> list[Task]:
    return list(session.scalars(select(Task).where(Task.id.in_(task_ids))))


def all_of(session: Session, task_set_id: UUID) -> list[Task]:
    """All tasks of a task set, in the order of import."""
    return list(session.scalars(select(Task).where(Task.task_set_id == task_set_id).order_by(Task.id)))


def by_key(session: Session, task_set_id: UUID, domain: str, name: str) -> Task | None:
    """The task of that key."""
    return session.scalar(select(Task).where(Task.task_set_id == task_set_id, Task.domain == domain, Task.name == name))


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    task_set_id: UUID,
    *,
    domain: str | None = None,
    difficulty: str | None = None,
    level: str | None = None,
    app: str | None = None,
    feasible: bool | None = None,
    words: str = "",
    where: Mapping[str, Sequence[str]] | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> CursorPage[Task]:
    """Tasks of a task set. `difficulty` may be `unlabelled`; `words` is searched in name and instruction.

    `where`: accepted values by label.
    """
    query = select(Task).where(Task.task_set_id == task_set_id, *labels.has(where or {}))
    if domain is not None:
        query = query.where(Task.domain == domain)
    if difficulty is not None:
        query = query.where(has_difficulty(difficulty))
    if level is not None:
        query = query.where(Task.level == level)
    if app is not None:
        query = query.where(Task.apps.contains(cast([app], JSONB)))
    if feasible is not None:
        query = query.where(Task.feasible == feasible)
    if words:
        query = query.where(contains_words(words, Task.domain + "/" + Task.name + " " + Task.instruction))
    return page(session, query, Task.id, cursor=cursor, limit=limit)


def operations(session: Session, task_set_id: UUID) -> list[tuple[str | None, list[str]]]:
    """(level, core operations) of each task with any."""
    names = Task.spec["labels"]["extra"]["operations"]
    query = select(Task.level, names).where(Task.task_set_id == task_set_id, names.is_not(None))
    return [(row[0], [str(name) for name in row[1]]) for row in session.execute(query.order_by(Task.id)) if row[1]]
