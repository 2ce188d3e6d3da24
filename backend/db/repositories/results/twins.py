"""Scores of tasks and of their twins on another system."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import Double, cast, func, select
from sqlalchemy.orm import Session

from backend.db.models import Benchmark, Episode, Run, Task, TaskSet
from backend.db.models.enums import RANKED_PURPOSES
from backend.db.repositories.common_queries import AnyRow, in_quarantine
from backend.domain.model.label_filter import TWIN


def twins(session: Session, task_set_id: UUID) -> dict[str, str]:
    """Key of the twin by the task's key, of the tasks that have one."""
    key = Task.domain + "/" + Task.name
    query = select(key, Task.labels[TWIN][0].astext).where(Task.task_set_id == task_set_id, Task.labels.has_key(TWIN))
    return {row[0]: row[1] for row in session.execute(query.order_by(key))}


def other_runs(session: Session, kind: str, task_set_id: UUID, agents: Collection[UUID]) -> Sequence[Run]:
    """Ranked runs of these agent configurations on other benchmarks of a kind, newest first."""
    query = (
        select(Run)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .where(Benchmark.kind == kind, Run.task_set_id != task_set_id, Run.agent_configuration_id.in_(agents))
        .where(Run.purpose.in_(RANKED_PURPOSES), Run.study_id.is_(None))
    )
    return session.scalars(query.order_by(Run.id.desc())).all()


def scores(session: Session, run_ids: Collection[UUID]) -> Sequence[AnyRow]:
    """(run, key, passes, total): number of each task's counted episodes in each run, and the sum of their scores."""
    query = (
        select(
            Episode.run_id.label("run"),
            (Task.domain + "/" + Task.name).label("key"),
            func.count().label("passes"),
            cast(func.sum(Episode.score), Double).label("total"),
        )
        .join(Task, Task.id == Episode.task_id)
        .where(Episode.run_id.in_(run_ids), Episode.state == "scored", ~Episode.human_assisted, ~in_quarantine(Task.id))
        .group_by(Episode.run_id, Task.id)
    )
    return session.execute(query).all()
