"""Queries of the pages about benchmarks and tasks."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import and_, case, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, aliased, defer

from backend.db.models import (
    AgentConfiguration,
    Attempt,
    Benchmark,
    Episode,
    Quarantine,
    Run,
    Task,
    TaskSet,
    TaskValidation,
)
from backend.db.repositories.benchmarks import labels
from backend.db.repositories.common_queries import AnyRow, contains_words, has_difficulty, newest_attempt
from backend.db.repositories.pagination import Columns, in_order
from backend.domain.model.run import VALIDATION_AGENTS
from backend.domain.model.score import SOLVED_TOLERANCE
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import DIFFICULTIES

MEASURED = ("measure", "demo")
TASK_ORDER: Columns = {
    "task": Task.domain + "/" + Task.name,
    "difficulty": case({name: index for index, name in enumerate(DIFFICULTIES)}, value=Task.difficulty),
}
"""Columns by which the tasks of a task set can be sorted."""


def benchmarks(session: Session) -> Sequence[AnyRow]:
    """Every benchmark that is not hidden with its newest task set, the numbers of its runs and versions."""
    newest = (
        select(func.max(TaskSet.version)).where(TaskSet.benchmark_id == Benchmark.id).correlate(Benchmark)
    ).scalar_subquery()
    runs = (
        select(func.count(Run.id))
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .where(TaskSet.benchmark_id == Benchmark.id, Run.purpose.in_(MEASURED))
        .correlate(Benchmark)
    ).scalar_subquery()
    versions = (
        select(func.count(TaskSet.id)).where(TaskSet.benchmark_id == Benchmark.id).correlate(Benchmark)
    ).scalar_subquery()
    query = (
        select(Benchmark, TaskSet, runs.label("runs"), versions.label("versions"))
        .outerjoin(TaskSet, and_(TaskSet.benchmark_id == Benchmark.id, TaskSet.version == newest))
        .where(~Benchmark.hidden)
        .order_by(Benchmark.name)
    )
    return session.execute(query).all()


def counts(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """(domain, difficulty, tasks)."""
    query = (
        select(Task.domain, Task.difficulty, func.count().label("n"))
        .where(Task.task_set_id == task_set_id)
        .group_by(Task.domain, Task.difficulty)
    )
    return session.execute(query).all()


def task_set(session: Session, name: str, version: int | None) -> AnyRow | None:
    """A benchmark with one of its task sets (default: the newest)."""
    query = select(Benchmark, TaskSet).join(TaskSet, TaskSet.benchmark_id == Benchmark.id).where(Benchmark.name == name)
    if version is not None:
        query = query.where(TaskSet.version == version)
    return session.execute(query.order_by(TaskSet.version.desc()).limit(1)).one_or_none()


def versions(session: Session, benchmark_id: UUID) -> Sequence[TaskSet]:
    """All task sets, newest first."""
    query = select(TaskSet).where(TaskSet.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(TaskSet.version.desc())).all()


def results(session: Session, task_ids: Sequence[UUID]) -> Mapping[UUID, AnyRow]:
    """(scored, solved, lost): episodes of measured agents of each of these tasks that has any."""
    query = (
        select(
            Episode.task_id.label("task_id"),
            func.count().filter(Episode.outcome == "scored").label("scored"),
            func.count().filter(Episode.solved.is_(True)).label("solved"),
            func.count().filter(Episode.outcome == "lost").label("lost"),
        )
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(
            Episode.task_id.in_(task_ids),
            Run.purpose.in_(MEASURED),
            ~AgentConfiguration.privileged,
            ~AgentConfiguration.human,
            ~Episode.human_assisted,
        )
        .group_by(Episode.task_id)
    )
    return {row.task_id: row for row in session.execute(query)}


def tasks(  # noqa: PLR0913, PLR0917 - which ones, in which order, from where on
    session: Session,
    task_set_id: UUID,
    filters: Mapping[str, Any],
    after: tuple[str, str] | None,
    limit: int,
    order: SortOrder | None = None,
) -> Sequence[AnyRow]:
    """(Task, reason of its quarantine) by domain and name or in another order, one more than `limit` if there is one.

    `filters["where"]`: accepted values by label.
    """
    query: Any = (
        select(Task, Quarantine.reason.label("quarantined"))
        .options(defer(Task.spec))
        .outerjoin(Quarantine, and_(Quarantine.task_id == Task.id, Quarantine.lifted_at.is_(None)))
        .where(Task.task_set_id == task_set_id, *labels.has(filters.get("where", {})))
    )
    if filters.get("domain"):
        query = query.where(Task.domain == filters["domain"])
    if filters.get("difficulty"):
        query = query.where(has_difficulty(filters["difficulty"]))
    if filters.get("q"):
        columns = (Task.name, Task.domain, Task.instruction)
        query = query.where(contains_words(filters["q"], *columns))
    if order is not None:
        return session.execute(in_order(query, TASK_ORDER, order, Task.id, limit)).all()
    if after is not None:
        query = query.where(or_(Task.domain > after[0], and_(Task.domain == after[0], Task.name > after[1])))
    return session.execute(query.order_by(Task.domain, Task.name).limit(limit + 1)).all()


def validations(session: Session, task_ids: Sequence[UUID]) -> Sequence[TaskValidation]:
    """The newest result of each validation agent per task."""
    query = (
        select(TaskValidation)
        .where(TaskValidation.task_id.in_(task_ids))
        .ext(distinct_on(TaskValidation.task_id, TaskValidation.agent))
        .order_by(TaskValidation.task_id, TaskValidation.agent, TaskValidation.created_at.desc())
    )
    return session.scalars(query).all()


def validated_scores(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """(feasible, oracle, noop, always_fail, tasks): how many tasks have these newest scores of all three agents."""
    newest = (
        select(TaskValidation.task_id, Task.feasible, TaskValidation.agent, TaskValidation.score)
        .join(Task, Task.id == TaskValidation.task_id)
        .where(Task.task_set_id == task_set_id)
        .ext(distinct_on(TaskValidation.task_id, TaskValidation.agent))
        .order_by(TaskValidation.task_id, TaskValidation.agent, TaskValidation.created_at.desc())
        .subquery("newest")
    )
    scores = [func.max(newest.c.score).filter(newest.c.agent == name).label(name) for name in VALIDATION_AGENTS]
    tasks = select(newest.c.feasible, *scores).group_by(newest.c.task_id, newest.c.feasible).subquery("tasks")
    query = select(tasks, func.count().label("tasks")).group_by(*tasks.c)
    return session.execute(query.where(*(tasks.c[name].is_not(None) for name in VALIDATION_AGENTS))).all()


def task(session: Session, task_id: UUID) -> AnyRow | None:
    """One task with its benchmark, version and quarantine."""
    query = (
        select(Task, Benchmark.name.label("benchmark"), TaskSet, Quarantine.reason.label("quarantined"))
        .join(TaskSet, TaskSet.id == Task.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .outerjoin(Quarantine, and_(Quarantine.task_id == Task.id, Quarantine.lifted_at.is_(None)))
        .where(Task.id == task_id)
    )
    return session.execute(query).one_or_none()


def versions_with_episodes(session: Session, task_id: UUID) -> Sequence[AnyRow]:
    """Other versions of a task that have episodes: (id, version, episodes), the newest first."""
    same, task_set, other_set = aliased(Task), aliased(TaskSet), aliased(TaskSet)
    query = (
        select(same.id, other_set.version, func.count(Episode.id).label("episodes"))
        .select_from(Task)
        .join(task_set, task_set.id == Task.task_set_id)
        .join(other_set, (other_set.benchmark_id == task_set.benchmark_id) & (other_set.id != task_set.id))
        .join(same, (same.task_set_id == other_set.id) & (same.domain == Task.domain) & (same.name == Task.name))
        .join(Episode, Episode.task_id == same.id)
        .where(Task.id == task_id)
        .group_by(same.id, other_set.version)
        .order_by(other_set.version.desc())
    )
    return session.execute(query).all()


def results_by_configuration(session: Session, task_id: UUID) -> Sequence[AnyRow]:
    """Scored episodes of a task that count for the agent: (AgentConfiguration, scored, solved, mean)."""
    solved = func.count().filter(Episode.score >= 1.0 - SOLVED_TOLERANCE)
    query = (
        select(
            AgentConfiguration,
            func.count().label("scored"),
            solved.label("solved"),
            func.avg(Episode.score).label("mean"),
        )
        .join(Run, Run.agent_configuration_id == AgentConfiguration.id)
        .join(Episode, Episode.run_id == Run.id)
        .where(Episode.task_id == task_id, Episode.state == "scored", ~Episode.human_assisted)
        .group_by(AgentConfiguration.id)
    )
    return session.execute(query).all()


def history(session: Session, task_id: UUID, limit: int) -> Sequence[AnyRow]:
    """Newest episodes of a task: (Episode, Task, Run, newest Attempt, AgentConfiguration)."""
    query = (
        select(Episode, Task, Run, Attempt, AgentConfiguration)
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .outerjoin(Attempt, Attempt.id == newest_attempt())
        .where(Episode.task_id == task_id)
        .order_by(Episode.id.desc())
        .limit(limit)
    )
    return session.execute(query).all()
