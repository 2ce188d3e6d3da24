"""Roll-ups of measures: sums per task, and stored rows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, insert, select, text
from sqlalchemy.orm import Session

from backend.db.models import MeasureRollup
from backend.db.repositories.common_queries import NOT_QUARANTINED
from backend.domain.model.measures import MOST_PHASES, PARTS

# A phase is identified by its position among the task's parts, because its name is specific to the task. `OFFSET 0`
# makes the database look up the measures of each evaluation: a join reads those of all runs.
_SUMS = text(f"""
    WITH counted AS MATERIALIZED (
        SELECT e.task_id, v.id, v.part_count, v.reached_part_count
        FROM episode e
        JOIN attempt a ON a.episode_id = e.id AND a.state = 'scored'
        JOIN evaluation v ON v.attempt_id = a.id AND v.current
        WHERE e.run_id = :run AND e.state = 'scored' AND NOT e.human_assisted AND {NOT_QUARANTINED}
    ), measured AS MATERIALIZED (
        SELECT c.task_id, c.id, m.name, m.value
        FROM counted c
        CROSS JOIN LATERAL (SELECT name, value FROM measure WHERE evaluation_id = c.id AND name <> 'score' OFFSET 0) m
    )
    SELECT measure, string_agg(CAST(task_id AS text), ' ') AS tasks, string_agg(CAST(n AS text), ' ') AS numbers,
        string_agg(CAST(total AS text), ' ') AS totals
    FROM (
        SELECT task_id, name AS measure, count(*) AS n, sum(value) AS total
        FROM measured WHERE NOT starts_with(name, 'phase:')
        GROUP BY task_id, name
        UNION ALL
        SELECT c.task_id, 'phase:' || p.position, count(*), sum(m.value)
        FROM (SELECT DISTINCT id FROM measured WHERE starts_with(name, 'phase:')) phased
        JOIN counted c ON c.id = phased.id
        JOIN evaluation v ON v.id = c.id
        CROSS JOIN LATERAL jsonb_array_elements(v.parts) WITH ORDINALITY p(value, position)
        JOIN measured m ON m.id = c.id AND m.name = 'phase:' || (p.value ->> 'name')
        WHERE p.position <= :phases AND p.value ->> 'kind' <> 'assertion'
        GROUP BY c.task_id, p.position
        UNION ALL
        SELECT task_id, :pooled, sum(part_count)::bigint, sum(reached_part_count)::float
        FROM counted WHERE part_count > 0 GROUP BY task_id
    ) sums GROUP BY measure
""")  # noqa: S608 - fixed words


def task_sums(session: Session, run_id: UUID) -> Sequence[Row[Any]]:
    """Rows (measure, tasks, numbers, totals) over the counted episodes of a run, by their current scores.

    One row per measure, because reading 75,000 takes most of a second: ids of the tasks in any order, the number of
    values of each and their sum, as texts with spaces between.
    """
    values = {"run": run_id, "phases": MOST_PHASES, "pooled": PARTS}
    return session.execute(_SUMS, values).all()


def replace(session: Session, run_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replaces the run's measures by these rows."""
    query = delete(MeasureRollup).where(MeasureRollup.run_id == run_id)
    session.execute(query.execution_options(synchronize_session=False))
    if rows:
        session.execute(insert(MeasureRollup), [dict(row) for row in rows])


def of_runs(session: Session, run_ids: Sequence[UUID], dimensions: Collection[str]) -> Sequence[Row[Any]]:
    """Rows of several runs in these dimensions, as plain rows of the table."""
    table = MeasureRollup.__table__
    query = select(*table.c).where(table.c.run_id.in_(run_ids), table.c.dimension.in_(list(dimensions)))
    return session.execute(query.order_by(table.c.run_id, table.c.dimension, table.c.key, table.c.measure)).all()
