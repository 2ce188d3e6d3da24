"""How long past attempts held their slots, and how long waiting ones should."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

SAMPLE = 30
"""Newest ended episodes of a task that are looked at."""

_PAST = text(f"""
    SELECT recent.task_id, recent.own, at.current_step AS steps,
        extract(epoch FROM at.ended_at - at.started_at)::float AS seconds
    FROM unnest(CAST(:tasks AS uuid[])) AS t(id)
    CROSS JOIN LATERAL (
        SELECT e.id, e.task_id, r.agent_id = :agent AS own
        FROM episode e JOIN run r ON r.id = e.run_id
        WHERE e.task_id = t.id AND e.state IN ('scored', 'handed_in')
        ORDER BY e.id DESC LIMIT {SAMPLE}
    ) recent
    JOIN attempt at ON at.episode_id = recent.id AND at.state IN ('scored', 'handed_in')
    WHERE at.ended_at > at.started_at
""")  # noqa: S608 - constant text

_STALE = text("""
    SELECT r.id FROM run r
    WHERE r.state IN ('queued', 'running', 'paused') AND r.expected_at < :before
      AND EXISTS (SELECT FROM episode e WHERE e.run_id = r.id AND e.state = 'waiting')
    ORDER BY r.expected_at LIMIT :limit
""")
_WAITING = text("""
    SELECT DISTINCT t.id, t.domain, t.difficulty, t.level, CAST(t.spec ->> 'max_steps' AS bigint) AS max_steps
    FROM episode e JOIN task t ON t.id = e.task_id WHERE e.run_id = :run AND e.state = 'waiting'
""")
_WRITE = text("""
    UPDATE episode e SET expected_seconds = new.seconds
    FROM unnest(CAST(:tasks AS uuid[]), CAST(:seconds AS float[])) AS new(task_id, seconds)
    WHERE e.run_id = :run AND e.task_id = new.task_id AND e.state = 'waiting'
      AND abs(e.expected_seconds - new.seconds) > 0.1 * e.expected_seconds
""")
_LOOKED = text("UPDATE run SET expected_at = now() WHERE id = :run")


def past(session: Session, task_ids: Collection[UUID], agent_id: UUID) -> Sequence[Row[Any]]:
    """Rows (task_id, own, seconds, steps) of the newest attempts that came to a verdict; `own`: of that agent."""
    return session.execute(_PAST, {"tasks": list(task_ids), "agent": agent_id}).all()


def stale(session: Session, before: datetime, limit: int) -> list[UUID]:
    """Runs with waiting episodes whose expected seconds were last looked at before then, the longest ago first."""
    return list(session.scalars(_STALE, {"before": before, "limit": limit}))


def waiting_tasks(session: Session, run_id: UUID) -> Sequence[Row[Any]]:
    """Rows (id, domain, difficulty, level, max_steps) of the tasks of a run's waiting episodes."""
    return session.execute(_WAITING, {"run": run_id}).all()


def write(session: Session, run_id: UUID, seconds: Mapping[UUID, float]) -> int:
    """Writes expected seconds by task where they differ by a tenth; how many. The caller holds the run."""
    values = {"run": run_id, "tasks": list(seconds), "seconds": list(seconds.values())}
    session.execute(_LOOKED, {"run": run_id})
    return int(session.execute(_WRITE, values).rowcount)  # type: ignore[attr-defined]
