"""Scores of compared runs, by task."""

import json
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, any_, cast, func, literal, select, text
from sqlalchemy.orm import Session

from backend.db.models import Benchmark, Quarantine, Run, Task, TaskSet
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results.pass_rollups import on_boards

_EPISODES = text("""
    SELECT e.run_id AS run, array_agg(CAST(e.id AS text)) AS ids, array_agg(CAST(e.task_id AS text)) AS tasks,
        array_agg(e.repeat_index) AS repeats, array_agg(e.state = 'scored' AND NOT e.human_assisted) AS counted,
        array_agg(e.state = 'lost') AS lost, array_agg(e.score) AS scores, array_agg(e.steps) AS steps,
        array_agg(CAST(a.seconds ->> 'agent' AS float)) AS seconds,
        array_agg(CASE WHEN a.usage ->> 'priced' IS DISTINCT FROM 'false' THEN CAST(a.usage ->> 'usd' AS float) END)
            AS usd,
        coalesce(sum(CAST(a.usage ->> 'calls' AS float) + CAST(a.usage ->> 'usd' AS float)), 0) > 0 AS paid
    FROM episode e LEFT JOIN attempt a ON a.episode_id = e.id AND a.state = 'scored'
    WHERE e.run_id = ANY(:runs) GROUP BY e.run_id
""")

_TASKS = text("""
    SELECT coalesce(array_agg(CAST(id AS text)), '{}') AS ids, coalesce(array_agg(domain || '/' || name), '{}') AS keys,
        coalesce(array_agg(content_hash), '{}') AS hashes
    FROM task WHERE id IN (SELECT task_id FROM episode WHERE run_id = ANY(:runs))
""")

_LABELS = text("""
    SELECT CAST(labels AS text), array_agg(CAST(id AS text))
    FROM task WHERE id IN (SELECT task_id FROM episode WHERE run_id = ANY(:runs)) GROUP BY labels
""")


def episode_columns(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """All episodes, one row per run: a row per episode takes seconds for 50,000 of them.

    Returns:
        (run, ids, tasks, repeats, counted, lost, scores, steps, seconds, usd, paid): lists with one value per episode;
        ids as texts; `seconds` of the agent; `usd` of its model calls, None where one of them has no price. Of all
        together, `paid`: there are calls; programs outside report tokens without any, whose price is not known.
    """
    return session.execute(_EPISODES, {"runs": list(run_ids)}).all()


def task_columns(session: Session, run_ids: Sequence[UUID]) -> AnyRow:
    """(ids, keys, hashes) of these runs' tasks: lists with one text per task."""
    return session.execute(_TASKS, {"runs": list(run_ids)}).one()


def task_labels(session: Session, run_ids: Sequence[UUID]) -> dict[str, dict[str, list[str]]]:
    """Labels of these runs' tasks by id. Those with equal labels share them as one object."""
    labels: dict[str, dict[str, list[str]]] = {}
    for source, ids in session.execute(_LABELS, {"runs": list(run_ids)}):
        labels |= dict.fromkeys(ids, json.loads(source))
    return labels


def quarantined_tasks(session: Session) -> set[str]:
    """Ids of all tasks that are in quarantine now, as texts."""
    return set(session.scalars(select(cast(Quarantine.task_id, Text)).where(Quarantine.lifted_at.is_(None))))


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


def instructions(session: Session, task_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Instructions of these tasks by id."""
    among = Task.id == any_(literal(list(task_ids), ARRAY(Uuid)))
    return {row.id: row.instruction for row in session.execute(select(Task.id, Task.instruction).where(among))}


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
