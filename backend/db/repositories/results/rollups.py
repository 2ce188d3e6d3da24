"""Roll-ups: sums per task, and stored rows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, insert, select, text
from sqlalchemy.orm import Session

from backend.db.models import Rollup


@dataclass(frozen=True)
class TaskTotals:
    """Sums over the episodes of one task in one run.

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
    extra: Mapping[str, Any] = field(default_factory=dict)
    handed_in: int = 0
    quarantined: int = 0
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)

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
        s.steps, s.human_assisted, coalesce(t.spec #>> '{evaluator,protocol}', ''),
        CAST(coalesce(t.spec #> '{labels,extra}', '{}') AS text), s.handed_in, s.quarantined, CAST(t.labels AS text)
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


_PLACES = {each.name: place for place, each in enumerate(fields(TaskTotals))}
_APPS, _LOST = _PLACES["apps"], _PLACES["lost"]
_JSON = (_APPS, _PLACES["extra"], _PLACES["labels"])


def task_totals(session: Session, run_id: UUID) -> list[TaskTotals]:
    """One row per task of the run, from its current episodes. Tasks with equal labels share them as one object."""
    parsed: dict[str, Any] = {}
    # By position, in the order of the fields: reading 25,000 rows by name takes twice as long.
    return [_totals(list(row), parsed) for row in session.execute(_TOTALS, {"run": run_id})]


def _totals(values: list[Any], parsed: dict[str, Any]) -> TaskTotals:
    for place in _JSON:
        source = values[place]
        if source not in parsed:
            parsed[source] = json.loads(source)
        values[place] = parsed[source]
    values[_APPS], lost = tuple(values[_APPS]), values[_LOST]
    values[_LOST] = {name: lost.count(name) for name in sorted(set(lost))} if lost else {}
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
