"""Saved views of boards."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Benchmark, SavedView
from backend.db.repositories.common_queries import AnyRow


def listing(session: Session, benchmark_id: UUID | None) -> Sequence[AnyRow]:
    """(SavedView, benchmark) of one benchmark or of all, by name."""
    query = select(SavedView, Benchmark.name.label("benchmark")).join(Benchmark, Benchmark.id == SavedView.benchmark_id)
    if benchmark_id is not None:
        query = query.where(SavedView.benchmark_id == benchmark_id)
    return session.execute(query.order_by(Benchmark.name, SavedView.name)).all()


def by_id(session: Session, view_id: UUID, *, lock: bool = False) -> AnyRow | None:
    """(SavedView, benchmark); the view locked until the commit if asked for."""
    query = select(SavedView, Benchmark.name.label("benchmark")).join(Benchmark, Benchmark.id == SavedView.benchmark_id)
    if lock:
        query = query.with_for_update(of=SavedView).execution_options(populate_existing=True)
    return session.execute(query.where(SavedView.id == view_id)).one_or_none()


def number(session: Session, benchmark_id: UUID) -> int:
    """Number of the benchmark's saved views."""
    query = select(func.count()).select_from(SavedView).where(SavedView.benchmark_id == benchmark_id)
    return session.scalars(query).one()


def create(session: Session, benchmark_id: UUID, name: str, query: Mapping[str, Any]) -> UUID | None:
    """A new view's id; None if the benchmark has one of this name."""
    values = {"id": uuid7(), "benchmark_id": benchmark_id, "name": name, "query": dict(query)}
    return session.scalar(insert(SavedView).values(values).on_conflict_do_nothing().returning(SavedView.id))


def has_name(session: Session, view: SavedView, name: str) -> bool:
    """Whether another view of its benchmark has this name."""
    query = select(SavedView.id).where(
        SavedView.benchmark_id == view.benchmark_id, SavedView.name == name, SavedView.id != view.id
    )
    return bool(session.scalar(select(query.exists())))


def remove(session: Session, view_id: UUID) -> None:
    session.execute(delete(SavedView).where(SavedView.id == view_id))
