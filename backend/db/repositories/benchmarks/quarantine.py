"""Quarantine entries: in force, history, and the stored scores that they touch."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, any_, func, insert, literal, select, true, update
from sqlalchemy.orm import Session, aliased
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Benchmark, Episode, Quarantine, Run, Task, TaskSet
from backend.db.repositories.common_queries import COUNTED_STATES, AnyRow


def in_force(session: Session, task_ids: Iterable[UUID]) -> dict[UUID, Quarantine]:
    """Entries in force, by task."""
    among = Quarantine.task_id == any_(literal(list(task_ids), ARRAY(Uuid)))  # One parameter for 25,000 tasks.
    query = select(Quarantine).where(among, Quarantine.lifted_at.is_(None))
    return {row.task_id: row for row in session.scalars(query)}


def entries(
    session: Session, *, task_id: UUID | None = None, benchmark: str | None = None, limit: int
) -> Sequence[AnyRow]:
    """(Quarantine, Task, benchmark, version, name of who set it, name of who lifted it), newest first.

    Args:
        session: the transaction.
        task_id: this task's whole history; None = entries in force of every task.
        benchmark: only tasks of this benchmark.
        limit: rows at most.
    """
    setter, lifter = aliased(Actor), aliased(Actor)
    query = (
        select(
            Quarantine,
            Task,
            Benchmark.name.label("benchmark"),
            TaskSet.version,
            setter.name.label("set_by"),
            func.coalesce(lifter.name, "").label("lifted_by"),
        )
        .join(Task, Task.id == Quarantine.task_id)
        .join(TaskSet, TaskSet.id == Task.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .join(setter, setter.id == Quarantine.actor_id)
        .outerjoin(lifter, lifter.id == Quarantine.lifted_by_id)
        .where(Quarantine.lifted_at.is_(None) if task_id is None else Quarantine.task_id == task_id)
        .where(true() if benchmark is None else Benchmark.name == benchmark)
    )
    return session.execute(query.order_by(Quarantine.id.desc()).limit(limit)).all()


def results(session: Session, task_ids: Iterable[UUID]) -> dict[UUID, tuple[int, int]]:
    """(Episodes with a result, their runs) of each task, in any state of its quarantine."""
    query = (
        select(Episode.task_id, func.count(), func.count(Episode.run_id.distinct()))
        .where(Episode.task_id.in_(list(task_ids)), Episode.state.in_(COUNTED_STATES))
        .group_by(Episode.task_id)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query)}


def mark_stale(session: Session, task_id: UUID) -> None:
    """The cubes of every run with this task are out of date: also of those where it could not run."""
    runs = select(Episode.run_id).where(Episode.task_id == task_id)
    session.execute(update(Run).where(Run.id.in_(runs)).values(rollup_stale=True))


def carry_over(session: Session, task_set: TaskSet) -> int:
    """Copies entries in force to the unchanged tasks of a new version. Returns how many."""
    fresh, same = aliased(Task), aliased(Task)
    previous = (
        select(TaskSet.id)
        .where(TaskSet.benchmark_id == task_set.benchmark_id, TaskSet.version < task_set.version)
        .order_by(TaskSet.version.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(fresh.id, Quarantine.reason, Quarantine.actor_id)
        .join(same, (same.domain == fresh.domain) & (same.name == fresh.name))
        .join(Quarantine, Quarantine.task_id == same.id)
        .where(fresh.task_set_id == task_set.id, same.task_set_id == previous)
        .where(fresh.content_hash == same.content_hash, Quarantine.lifted_at.is_(None))
    )
    rows = [
        {"id": uuid7(), "task_id": task_id, "reason": reason, "actor_id": actor_id}
        for task_id, reason, actor_id in session.execute(query)
    ]
    if rows:
        session.execute(insert(Quarantine), rows)
    return len(rows)
