"""Pairs of labels by which the cubes of a benchmark's runs are cut."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Run, StoredLabelPair, TaskSet
from backend.domain.model.label_pair import LabelPair


def of_benchmark(session: Session, benchmark_id: UUID) -> list[LabelPair]:
    """All pairs, in the order of the alphabet."""
    query = select(StoredLabelPair.first, StoredLabelPair.second).where(StoredLabelPair.benchmark_id == benchmark_id)
    return sorted(LabelPair(*names) for names in session.execute(query))


def of_run(session: Session, run_id: UUID) -> list[LabelPair]:
    """Those of the run's benchmark."""
    query = select(StoredLabelPair.first, StoredLabelPair.second).join(
        TaskSet, TaskSet.benchmark_id == StoredLabelPair.benchmark_id
    )
    query = query.join(Run, Run.task_set_id == TaskSet.id).where(Run.id == run_id)
    return sorted(LabelPair(*names) for names in session.execute(query))


def add(session: Session, benchmark_id: UUID, pair: LabelPair) -> bool:
    """Adds a pair; False if it is there."""
    values = {"benchmark_id": benchmark_id, **pair._asdict()}
    query = insert(StoredLabelPair).values(values).on_conflict_do_nothing().returning(StoredLabelPair.first)
    return session.scalar(query) is not None


def remove(session: Session, benchmark_id: UUID, pair: LabelPair) -> bool:
    """Removes a pair; False if it was not there."""
    same = (StoredLabelPair.first == pair.first) & (StoredLabelPair.second == pair.second)
    query = delete(StoredLabelPair).where(StoredLabelPair.benchmark_id == benchmark_id, same)
    return session.scalar(query.returning(StoredLabelPair.first)) is not None
