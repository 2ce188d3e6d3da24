"""Roll-ups: sums per task, and stored rows."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row, delete, insert, select, text
from sqlalchemy.orm import Session

from backend.db.models import Rollup, Run

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class TaskTotals(NamedTuple):
    """Sums over the episodes of one task in one run. A tuple: a run may have 25,000 of them.

    Attributes:
        steps: steps of scored episodes.
        lost: lost episodes by failure class.
        human_assisted: scored with a person's help, not counted for the agent.
        protocol: scoring protocol of the task; may be empty.
        extra: further labels of the task in its benchmark.
        labels: all labels of the task, flat.
        handed_in: without a score, judged by people.
        quarantined: episodes with a result that does not count, because their task is in quarantine.
    """

    task_id: UUID
    domain: str
    difficulty: str | None
    level: str | None
    apps: tuple[str, ...]
    scored: int
    solved: int
    score_sum: float
    score_sq_sum: float
    lost: Mapping[str, int]
    cancelled: int
    not_runnable: int
    waiting: int
    running: int
    steps: int
    human_assisted: int = 0
    protocol: str = ""
    extra: Mapping[str, Any] = _NOTHING
    handed_in: int = 0
    quarantined: int = 0
    labels: Mapping[str, Sequence[str]] = _NOTHING

    @property
    def episodes(self) -> int:
        ended = (
            self.scored
            + self.human_assisted
            + self.handed_in
            + self.quarantined
            + sum(self.lost.values())
            + self.cancelled
        )
        return ended + self.not_runnable + self.waiting + self.running


_TOTALS = text("""
    SELECT t.id, t.domain, t.difficulty, t.level, CAST(t.apps AS text),
        s.scored, s.solved, s.score_sum, s.score_sq_sum, s.lost, s.cancelled, s.not_runnable, s.waiting, s.running,
        s.steps, s.human_assisted, '', '', s.handed_in, s.quarantined, CAST(t.labels AS text)
    FROM (
        SELECT task_id,
            count(*) FILTER (WHERE state = 'scored' AND NOT human_assisted AND counts) AS scored,
            count(*) FILTER (WHERE state = 'scored' AND human_assisted AND counts) AS human_assisted,
            count(*) FILTER (WHERE state = 'handed_in' AND counts) AS handed_in,
            count(*) FILTER (WHERE state IN ('scored', 'handed_in', 'lost') AND NOT counts) AS quarantined,
            count(*) FILTER (WHERE solved AND NOT human_assisted AND counts) AS solved,
            coalesce(sum(score) FILTER (WHERE NOT human_assisted AND counts), 0) AS score_sum,
            coalesce(sum(score * score) FILTER (WHERE NOT human_assisted AND counts), 0) AS score_sq_sum,
            array_agg(failure_class) FILTER (WHERE state = 'lost' AND counts) AS lost,
            count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
            count(*) FILTER (WHERE state = 'not_runnable') AS not_runnable,
            count(*) FILTER (WHERE state = 'waiting') AS waiting,
            count(*) FILTER (WHERE state = 'running') AS running,
            coalesce(sum(steps) FILTER (WHERE state = 'scored' AND NOT human_assisted AND counts), 0)::bigint AS steps
        FROM (
            SELECT e.*, q.id IS NULL AS counts
            FROM episode e LEFT JOIN quarantine q ON q.task_id = e.task_id AND q.lifted_at IS NULL
            WHERE e.run_id = :run
        ) e GROUP BY task_id
    ) s
    JOIN task t ON t.id = s.task_id
    ORDER BY t.id
""")


_FACTS = text("""
    SELECT id, coalesce(spec #>> '{evaluator,protocol}', ''), CAST(coalesce(spec #> '{labels,extra}', '{}') AS text)
    FROM task WHERE id = ANY(:tasks)
""")

_PLACES = {name: place for place, name in enumerate(TaskTotals._fields)}
_APPS, _LOST, _LABELS = _PLACES["apps"], _PLACES["lost"], _PLACES["labels"]
_PROTOCOL, _EXTRA = _PLACES["protocol"], _PLACES["extra"]

TaskFacts = tuple[str, Mapping[str, Any]]
"""Scoring protocol and further labels of a task: what its file says, which never changes."""


def task_set_of(session: Session, run_id: UUID) -> UUID | None:
    """Id of the run's task set; None without such a run."""
    return session.scalar(select(Run.task_set_id).where(Run.id == run_id))


def task_facts(session: Session, task_ids: Sequence[UUID]) -> dict[UUID, TaskFacts]:
    """Facts of tasks, unpacked from their files. Those with equal further labels share them as one object."""
    parsed: dict[str, Mapping[str, Any]] = {}
    facts = {}
    for task_id, protocol, extra in session.execute(_FACTS, {"tasks": list(task_ids)}):
        if extra not in parsed:
            parsed[extra] = json.loads(extra)
        facts[task_id] = protocol, parsed[extra]
    return facts


def task_totals(
    session: Session, run_id: UUID, facts_of: Callable[[Sequence[UUID]], Mapping[UUID, TaskFacts]]
) -> list[TaskTotals]:
    """One row per task of the run, from its current episodes. Tasks with equal labels share them as one object.

    Args:
        session: the transaction.
        run_id: the run.
        facts_of: returns the facts of tasks.
    """
    parsed: dict[str, Any] = {}
    rows = session.execute(_TOTALS, {"run": run_id}).all()
    facts = facts_of([row[0] for row in rows])
    # By position, in the order of the fields: reading 25,000 rows by name takes twice as long.
    return [_totals(list(row), facts, parsed) for row in rows]


def _totals(values: list[Any], facts: Mapping[UUID, TaskFacts], parsed: dict[str, Any]) -> TaskTotals:
    apps, labels, lost = values[_APPS], values[_LABELS], values[_LOST]
    if apps not in parsed:
        parsed[apps] = tuple(json.loads(apps))
    if labels not in parsed:
        parsed[labels] = json.loads(labels)
    values[_APPS], values[_LABELS] = parsed[apps], parsed[labels]
    values[_LOST] = {name: lost.count(name) for name in sorted(set(lost))} if lost else {}
    values[_PROTOCOL], values[_EXTRA] = facts[values[0]]
    return TaskTotals(*values)


def replace(session: Session, run_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replaces the run's cube by these rows."""
    session.execute(delete(Rollup).where(Rollup.run_id == run_id).execution_options(synchronize_session=False))
    if rows:
        session.execute(insert(Rollup), [dict(row) for row in rows])


def of_run(session: Session, run_id: UUID) -> list[Rollup]:
    """The run's cube as stored."""
    return list(session.scalars(select(Rollup).where(Rollup.run_id == run_id).order_by(Rollup.dimension, Rollup.key)))


def of_runs(session: Session, run_ids: Sequence[UUID], dimensions: Collection[str]) -> Sequence[Row[Any]]:
    """Rows of several runs' cubes in these dimensions, as plain rows of the table: because a board reads thousands."""
    query = select(*Rollup.__table__.c).where(Rollup.run_id.in_(run_ids), Rollup.dimension.in_(list(dimensions)))
    return session.execute(query.order_by(Rollup.run_id, Rollup.dimension, Rollup.key)).all()
