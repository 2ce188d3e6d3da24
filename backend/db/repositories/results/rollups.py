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
        in_quarantine: the task is, whether it has results or not.
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
    in_quarantine: bool = False

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


# Few of 25,000 tasks differ in their results, and few in their labels: what is equal is read once, with their ids.
_RESULTS = text("""
    SELECT scored, solved, score_sum, score_sq_sum, lost, cancelled, not_runnable, waiting, running, steps,
        human_assisted, handed_in, quarantined, in_quarantine, string_agg(CAST(task_id AS text), ' ') AS tasks
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
            coalesce(sum(steps) FILTER (WHERE state = 'scored' AND NOT human_assisted AND counts), 0)::bigint AS steps,
            bool_or(NOT counts) AS in_quarantine
        FROM (
            SELECT e.*, q.id IS NULL AS counts
            FROM episode e LEFT JOIN quarantine q ON q.task_id = e.task_id AND q.lifted_at IS NULL
            WHERE e.run_id = :run
        ) e GROUP BY task_id
    ) s
    GROUP BY scored, solved, score_sum, score_sq_sum, lost, cancelled, not_runnable, waiting, running, steps,
        human_assisted, handed_in, quarantined, in_quarantine
""")

_TASKS = text("""
    SELECT domain, difficulty, level, CAST(apps AS text) AS apps, CAST(labels AS text) AS labels,
        string_agg(CAST(id AS text), ' ') AS tasks
    FROM task WHERE id IN (SELECT task_id FROM episode WHERE run_id = :run)
    GROUP BY 1, 2, 3, 4, 5
""")

_FACTS = text("""
    SELECT id, coalesce(spec #>> '{evaluator,protocol}', ''), CAST(coalesce(spec #> '{labels,extra}', '{}') AS text)
    FROM task WHERE id = ANY(CAST(:tasks AS uuid[]))
""")


class TaskFileFacts(NamedTuple):
    """Scoring protocol and further labels of a task: what its file says, which never changes."""

    task_id: UUID
    protocol: str
    extra: Mapping[str, Any]


def task_set_of(session: Session, run_id: UUID) -> UUID | None:
    """Id of the run's task set; None without such a run."""
    return session.scalar(select(Run.task_set_id).where(Run.id == run_id))


def task_facts(session: Session, tasks: Sequence[str]) -> dict[str, TaskFileFacts]:
    """Facts of tasks by id, unpacked from their files. Those with equal further labels share them as one object.

    Ids are texts, as in `task_totals`.
    """
    parsed: dict[str, Mapping[str, Any]] = {}
    facts = {}
    for task_id, protocol, extra in session.execute(_FACTS, {"tasks": list(tasks)}):
        if extra not in parsed:
            parsed[extra] = json.loads(extra)
        facts[str(task_id)] = TaskFileFacts(task_id, protocol, parsed[extra])
    return facts


def task_totals(
    session: Session, run_id: UUID, facts_of: Callable[[Collection[str]], Mapping[str, TaskFileFacts]]
) -> list[TaskTotals]:
    """One row per task of the run, from its current episodes. Tasks with equal labels share them as one object.

    Args:
        session: the transaction.
        run_id: the run.
        facts_of: returns the facts of tasks, by their ids as texts.
    """
    labelled = _labelled_tasks(session, run_id)
    facts = facts_of(labelled)
    totals: dict[str, TaskTotals] = {}
    for *sums, tasks in session.execute(_RESULTS, {"run": run_id}):
        scored, solved, score_sum, score_sq_sum, classes, *counts, helped, handed_in, quarantined, in_quarantine = sums
        lost = {name: classes.count(name) for name in sorted(set(classes))} if classes else {}
        results = (scored, solved, score_sum, score_sq_sum, lost, *counts, helped)
        for key in tasks.split(" "):
            (task_id, protocol, extra), (task, labels) = facts[key], labelled[key]
            row = (task_id, *task, *results, protocol, extra, handed_in, quarantined, labels, in_quarantine)
            totals[key] = tuple.__new__(TaskTotals, row)  # By position, in the order of the fields.
    return [totals[key] for key in sorted(totals)]


def _labelled_tasks(session: Session, run_id: UUID) -> dict[str, tuple[tuple[Any, ...], Any]]:
    """(domain, difficulty, level, apps) and the labels of the run's tasks, by id as text."""
    parsed: dict[str, Any] = {}
    tasks: dict[str, tuple[tuple[Any, ...], Any]] = {}
    for domain, difficulty, level, apps, labels, ids in session.execute(_TASKS, {"run": run_id}):
        for source in (apps, labels):
            if source not in parsed:
                parsed[source] = json.loads(source)
        task = (domain, difficulty, level, tuple(parsed[apps]))
        tasks.update(dict.fromkeys(ids.split(" "), (task, parsed[labels])))
    return tasks


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
