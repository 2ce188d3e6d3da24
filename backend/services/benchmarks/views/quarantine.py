"""A quarantine as it is shown: why, by whom, since when, and what it does to stored scores."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import quarantine as repository
from backend.db.repositories.common_queries import AnyRow
from backend.services.benchmarks.benchmarks import get_task
from backend.services.read_model import ReadModel

MOST_ENTRIES = 500


class QuarantineView(ReadModel):
    """One quarantine of a task; in force until `lifted_at`."""

    id: UUID
    task_id: UUID
    task: str = Field(description="domain/name", examples=["files/rename-report"])
    benchmark: str = Field(examples=["starter"])
    version: int = Field(description="Of the benchmark.", examples=[1])
    reason: str = Field(examples=["the dialog differs between versions"])
    set_by: str = Field(examples=["ada"])
    created_at: datetime
    lifted_at: datetime | None = None
    lifted_by: str = Field(default="", examples=["ada"])
    lift_reason: str = Field(default="", examples=["the checker accepts both dialogs now"])
    episodes: int = Field(description="Episodes of the task with a result: not counted while it is in force.")
    runs: int = Field(description="Runs of these episodes.")


def quarantines(session: Session, benchmark: str | None = None) -> list[QuarantineView]:
    """Quarantines in force, newest first, at most 500."""
    return _views(session, repository.entries(session, benchmark=benchmark, limit=MOST_ENTRIES))


def history_of(session: Session, task_id: UUID) -> list[QuarantineView]:
    """A task's quarantines, newest first. Raises NotFound."""
    task = get_task(session, task_id)
    return _views(session, repository.entries(session, task_id=task.id, limit=MOST_ENTRIES))


def _views(session: Session, rows: Sequence[AnyRow]) -> list[QuarantineView]:
    results = repository.results(session, {row.Task.id for row in rows})
    return [_view(row, *results.get(row.Task.id, (0, 0))) for row in rows]


def _view(row: AnyRow, episodes: int, runs: int) -> QuarantineView:
    entry = row.Quarantine
    return QuarantineView(
        id=entry.id,
        task_id=row.Task.id,
        task=row.Task.key,
        benchmark=row.benchmark,
        version=row.version,
        reason=entry.reason,
        set_by=row.set_by,
        created_at=entry.created_at,
        lifted_at=entry.lifted_at,
        lifted_by=row.lifted_by,
        lift_reason=entry.lift_reason,
        episodes=episodes,
        runs=runs,
    )
