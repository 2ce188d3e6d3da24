"""What runs that are compared scored, task by task."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Double, Text, Uuid, any_, cast, func, literal, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Benchmark, Episode, Run, Step, Task, TaskSet
from backend.db.repositories.common_queries import AnyRow, in_quarantine
from backend.db.repositories.results.pass_rollups import on_boards
from backend.domain.model.episode import EpisodeState


def _counts() -> ColumnElement[bool]:
    return (Episode.state == EpisodeState.SCORED) & ~Episode.human_assisted


def task_results(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """One row per run and task.

    Returns:
        (run, task id, key, content hash, quarantined, scores by repeat, their episodes, lost, mean steps, mean seconds
        of the agent); scores and means are of episodes that count, None without one.
    """
    seconds = cast(Attempt.seconds["agent"].astext, Double)
    columns: tuple[Any, ...] = (
        Episode.run_id.label("run"),
        Task.id.label("task_id"),
        (Task.domain + "/" + Task.name).label("key"),
        Task.content_hash,
        in_quarantine(Task.id).label("quarantined"),
        func.array_agg(aggregate_order_by(Episode.score, Episode.repeat_index)).filter(_counts()).label("scores"),
        func.array_agg(aggregate_order_by(Episode.id, Episode.repeat_index)).filter(_counts()).label("episodes"),
        func.count().filter(Episode.state == EpisodeState.LOST).label("lost"),
        cast(func.avg(Episode.steps).filter(_counts()), Double).label("steps"),
        func.avg(seconds).filter(_counts()).label("seconds"),
    )
    query = (
        select(*columns)
        .join(Task, Task.id == Episode.task_id)
        .outerjoin(Attempt, (Attempt.episode_id == Episode.id) & (Attempt.state == "scored"))
        .where(Episode.run_id.in_(run_ids))
        .group_by(Episode.run_id, Task.id)
    )
    return session.execute(query.order_by(Episode.run_id, Task.domain, Task.name)).all()


def task_costs(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(run, task id, mean USD of an episode that counts), only of tasks whose every model call has a price."""
    usd = func.sum(cast(Step.usage["usd"].astext, Double))
    query = (
        select(Episode.run_id.label("run"), Episode.task_id, (usd / func.count(Episode.id.distinct())).label("usd"))
        .join(Attempt, Attempt.episode_id == Episode.id)
        .join(Step, Step.attempt_id == Attempt.id)
        .where(Episode.run_id.in_(run_ids), _counts(), Attempt.state == "scored")
        .group_by(Episode.run_id, Episode.task_id)
        .having(func.bool_and(func.coalesce(Step.usage["priced"].astext, "") != "false"), usd.is_not(None))
    )
    return session.execute(query).all()


class LabelledTask(NamedTuple):
    """A task with what a comparison lists of it."""

    id: UUID
    instruction: str
    labels: dict[str, list[str]]


def tasks(session: Session, task_ids: Sequence[UUID]) -> list[LabelledTask]:
    """These tasks. Those with equal labels share them as one object."""
    among = Task.id == any_(literal(list(task_ids), ARRAY(Uuid)))  # One parameter for 25,000 tasks.
    query = select(Task.id, Task.instruction, cast(Task.labels, Text)).where(among)
    parsed: dict[str, dict[str, list[str]]] = {}
    rows = []
    for task_id, instruction, labels in session.execute(query):
        if labels not in parsed:
            parsed[labels] = json.loads(labels)
        rows.append(LabelledTask(task_id, instruction, parsed[labels]))
    return rows


def shared_boards(session: Session, configuration_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(benchmark, version) of the boards that have runs of all these configurations.

    The benchmark with the newest of these runs comes first, of one benchmark the newest version.
    """
    newest = func.max(func.max(Run.created_at)).over(partition_by=Benchmark.id)
    query = (
        select(Benchmark.name.label("benchmark"), TaskSet.version)
        .join(TaskSet, TaskSet.benchmark_id == Benchmark.id)
        .join(Run, Run.task_set_id == TaskSet.id)
        .where(Run.agent_configuration_id.in_(configuration_ids), on_boards())
        .group_by(Benchmark.id, TaskSet.version)
        .having(func.count(Run.agent_configuration_id.distinct()) == len(set(configuration_ids)))
    )
    return session.execute(query.order_by(newest.desc(), Benchmark.name, TaskSet.version.desc())).all()
