"""Durations of past attempts, and estimates for waiting episodes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

SAMPLE = 30
"""Number of newest episodes of a task, and of newest runs of an agent, that are used."""
NEWEST = 500
"""Number of recent episodes by which an agent's duration on similar tasks is estimated."""

_OWN = f"""(
    SELECT id FROM run WHERE agent_configuration_id = :agent AND task_set_id = :task_set ORDER BY id DESC LIMIT {SAMPLE}
)"""  # noqa: S608 - constant text
_LAST_ATTEMPT = """
    JOIN attempt at ON at.episode_id = e.id AND at.state IN ('scored', 'handed_in') AND at.ended_at > at.started_at
"""
_SECONDS = "extract(epoch FROM at.ended_at - at.started_at)::float"
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY"

MEDIANS = text(f"""
    WITH mine AS (
        SELECT newest.task_id, {_SECONDS} AS seconds
        FROM unnest(CAST(:tasks AS uuid[])) AS t(id)
        CROSS JOIN LATERAL (
            SELECT e.id, e.task_id FROM {_OWN} own JOIN episode e ON e.run_id = own.id AND e.task_id = t.id
            WHERE e.state IN ('scored', 'handed_in') ORDER BY e.id DESC LIMIT {SAMPLE}
        ) newest
        JOIN LATERAL (SELECT newest.id) e ON true {_LAST_ATTEMPT}
    ), anybodys AS (
        SELECT newest.task_id, {_SECONDS} AS seconds
        FROM unnest(CAST(:tasks AS uuid[])) AS t(id)
        CROSS JOIN LATERAL (
            SELECT e.id, e.task_id FROM episode e
            WHERE e.task_id = t.id AND e.state IN ('scored', 'handed_in') ORDER BY e.id DESC LIMIT {SAMPLE}
        ) newest
        JOIN LATERAL (SELECT newest.id) e ON true {_LAST_ATTEMPT}
        WHERE t.id NOT IN (SELECT task_id FROM mine)
    ), alike AS (
        SELECT newest.task_id, {_SECONDS} AS seconds, at.current_step AS steps
        FROM (SELECT id FROM {_OWN} own ORDER BY id DESC LIMIT 3) own
        CROSS JOIN LATERAL (
            SELECT e.id, e.task_id FROM episode e
            WHERE e.run_id = own.id AND e.state IN ('scored', 'handed_in') ORDER BY e.id DESC LIMIT {NEWEST}
        ) newest
        JOIN LATERAL (SELECT newest.id) e ON true {_LAST_ATTEMPT}
    )
    SELECT 'own' AS kind, task_id, NULL AS domain, NULL AS difficulty, {_MEDIAN} seconds) AS seconds
    FROM mine GROUP BY task_id
    UNION ALL
    SELECT 'others', task_id, NULL, NULL, {_MEDIAN} seconds) FROM anybodys GROUP BY task_id
    UNION ALL
    SELECT 'alike', NULL, task.domain, task.difficulty, {_MEDIAN} seconds)
    FROM alike JOIN task ON task.id = alike.task_id GROUP BY task.domain, task.difficulty
    UNION ALL
    SELECT 'step', NULL, NULL, NULL, {_MEDIAN} seconds / steps) FROM alike WHERE steps > 0 HAVING count(*) > 0
""")  # noqa: S608 - constant text

_TURN = text("""
    UPDATE run SET estimates_updated_at = now() WHERE id = (
        SELECT r.id FROM run r
        WHERE r.state IN ('queued', 'running', 'paused')
          AND (r.estimates_updated_at < now() - CAST(:age AS interval) OR r.estimates_updated_at > clock_timestamp())
          AND EXISTS (SELECT FROM episode e WHERE e.run_id = r.id AND e.state = 'waiting')
        ORDER BY r.estimates_updated_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    ) RETURNING id
""")
_WAITING = text("""
    SELECT DISTINCT t.id, t.domain, t.difficulty, t.level, CAST(t.spec ->> 'max_steps' AS bigint) AS max_steps
    FROM episode e JOIN task t ON t.id = e.task_id WHERE e.run_id = :run AND e.state = 'waiting'
""")
_WRITE = text("""
    UPDATE episode e SET estimated_seconds = new.seconds
    FROM unnest(CAST(:tasks AS uuid[]), CAST(:seconds AS float[])) AS new(task_id, seconds)
    WHERE e.run_id = :run AND e.task_id = new.task_id AND e.state = 'waiting'
      AND abs(e.estimated_seconds - new.seconds) > 0.1 * e.estimated_seconds
""")


def medians(session: Session, task_ids: Collection[UUID], agent_id: UUID, task_set_id: UUID) -> Sequence[Row[Any]]:
    """Median seconds of the newest attempts with a verdict in their slots.

    Returns:
        Rows (kind, task_id, domain, difficulty, seconds). `own`: of a task by the agent, in its newest runs of the
        task set; `others`: by any agent, if the agent never played it; `alike`: by the agent, of a domain and
        difficulty; `step`: seconds of one of its steps, a single row.
    """
    values = {"tasks": list(task_ids), "agent": agent_id, "task_set": task_set_id}
    return session.execute(MEDIANS, values).all()


def take_turn(session: Session, age: timedelta) -> UUID | None:
    """A run with waiting episodes that need an update; marked as updated.

    No other caller gets it for that time, unless the database's clock goes back.
    """
    run_id: UUID | None = session.scalar(_TURN, {"age": age})
    return run_id


def waiting_tasks(session: Session, run_id: UUID) -> Sequence[Row[Any]]:
    """Rows (id, domain, difficulty, level, max_steps) of the tasks of a run's waiting episodes."""
    return session.execute(_WAITING, {"run": run_id}).all()


def write(session: Session, run_id: UUID, seconds: Mapping[UUID, float]) -> int:
    """Updates expected seconds by task if they differ by a tenth; returns the number. The caller has locked the run."""
    values = {"run": run_id, "tasks": list(seconds), "seconds": list(seconds.values())}
    return int(session.execute(_WRITE, values).rowcount)  # type: ignore[attr-defined]
