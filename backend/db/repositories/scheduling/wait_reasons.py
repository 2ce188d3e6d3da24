"""Waiting episodes: order within their run, requirements, and workers that meet them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session

from backend.db.models import Worker
from backend.db.models.enums import WorkerState
from backend.domain.scheduling.closed_slots import ClosedSlots

_PLACES = text("""
    SELECT id, ahead, seconds FROM (
        SELECT id, row_number() OVER first - 1 AS ahead,
            coalesce(sum(estimated_seconds) OVER (first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS seconds
        FROM episode
        WHERE run_id = :run AND state = 'waiting' AND available_at < '9000-01-01 00:00:00+00'
        WINDOW first AS (ORDER BY priority DESC, repeat_index, estimated_seconds DESC, id)
    ) placed WHERE id = ANY(:ids)
""")
_REMAINING = text("""
    SELECT greatest(0, e.estimated_seconds - coalesce(extract(epoch FROM clock_timestamp() - a.started_at), 0))::float
    FROM episode e LEFT JOIN attempt a ON a.episode_id = e.id AND a.live
    WHERE e.run_id = :run AND e.state = 'running'
""")
_LEFT = text("""
    SELECT run_id, count(*) AS number FROM episode
    WHERE run_id = ANY(:runs) AND state = 'waiting' AND available_at < '9000-01-01 00:00:00+00' GROUP BY run_id
""")

_PAUSE_REASON = text("""
    SELECT reason, reason_code FROM episode
    WHERE run_id = :run AND state = 'waiting' AND available_at >= '9000-01-01 00:00:00+00'
    GROUP BY reason, reason_code ORDER BY count(*) DESC, reason LIMIT 1
""")
_CLOSED = text("""
    WITH online AS (
        SELECT node_id, coalesce(capabilities #>> ARRAY['providers', :provider, 'cluster'], '') AS cluster
        FROM worker WHERE state = 'online' AND capabilities #> ARRAY['providers', :provider] IS NOT NULL
    ), served AS (
        SELECT id, state, reason FROM node
        WHERE state <> 'gone' AND (
            cluster = '' AND id IN (SELECT node_id FROM online WHERE cluster = '')
            OR cluster <> '' AND cluster IN (SELECT cluster FROM online)
        )
    )
    SELECT s.id IS NOT NULL AS slots, CASE WHEN n.state = 'ready' THEN coalesce(s.state, 'ready') ELSE n.state END
        AS state, CASE WHEN n.state = 'ready' THEN coalesce(s.reason, n.reason) ELSE n.reason END AS reason,
        count(*) AS number
    FROM served n LEFT JOIN slot s ON s.node_id = n.id AND s.provider = :provider AND s.state <> 'draining'
    GROUP BY 1, 2, 3 ORDER BY number DESC, state, reason
""")


@dataclass(frozen=True)
class QueuePosition:
    """Number of waiting episodes of its run before one, and their total estimated seconds."""

    ahead: int
    seconds: float


def places(session: Session, run_id: UUID, episode_ids: Collection[UUID]) -> dict[UUID, QueuePosition]:
    """Positions of these waiting episodes of a run."""
    rows = session.execute(_PLACES, {"run": run_id, "ids": list(episode_ids)})
    return {row.id: QueuePosition(int(row.ahead), float(row.seconds)) for row in rows}


def remaining(session: Session, run_id: UUID) -> Sequence[float]:
    """Estimated remaining seconds of each running episode of a run; 0 if it takes longer than expected."""
    return session.scalars(_REMAINING, {"run": run_id}).all()


def count_waiting(session: Session, runs: Collection[UUID]) -> dict[UUID, int]:
    """Waiting episodes by run, without held ones."""
    return {row.run_id: int(row.number) for row in session.execute(_LEFT, {"runs": list(runs)})}


def hold_reason(session: Session, run_id: UUID) -> Row[Any] | None:
    """(reason, reason_code) of most of a run's held episodes; None without any."""
    return session.execute(_PAUSE_REASON, {"run": run_id}).one_or_none()


def closed(session: Session, provider: str) -> tuple[list[ClosedSlots], list[str]]:
    """Why no slot is usable: (slots of online workers, reasons of nodes without any, most frequent first)."""
    rows = session.execute(_CLOSED, {"provider": provider}).all()
    slots = [ClosedSlots(int(row.number), row.state, row.reason) for row in rows if row.slots]
    return slots, [row.reason for row in rows if not row.slots]


def online(session: Session) -> Sequence[Worker]:
    """Workers that accept work."""
    return session.scalars(select(Worker).where(Worker.state == WorkerState.ONLINE.value)).all()
