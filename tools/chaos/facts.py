"""Snapshot of the database rows that the invariants check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.db.repositories.results import rollups as rollup_rows
from backend.services.results import rollups
from tests.factories.records import World

RECENT = 8
"""Runs whose roll-ups are recomputed after each fault; at the end all are."""


@dataclass(frozen=True)
class EpisodeFact:
    """An episode. `endings`: events of its end; `expected`: agent and task, whose score is known."""

    id: UUID
    run_id: UUID
    run_state: str
    agent: str
    task: str
    state: str
    outcome: str | None
    score: float | None
    attempt_count: int
    endings: int
    failure_message: str


@dataclass(frozen=True)
class AttemptFact:
    """An attempt. `verdicts`: its current evaluations; `late`: events of its steps after the one of its end.

    `pod`, `node`: UID of the pod that it ran in and the pod's node, empty if in none.
    """

    id: UUID
    episode_id: UUID
    number: int
    state: str
    live: bool
    worker_id: UUID
    slot_id: UUID
    lease_id: UUID
    fencing_token: int
    failure_class: str | None
    failure_message: str
    after_action: bool
    started_at: datetime
    first_observation_at: datetime | None
    ended_at: datetime | None
    verdicts: int
    late: int
    pod: str
    node: str


@dataclass(frozen=True)
class LeaseFact:
    """A lease as the database has it."""

    id: UUID
    slot_id: UUID
    node_id: UUID
    worker_id: UUID
    fencing_token: int
    acquired_at: datetime
    heartbeat_at: datetime
    released_at: datetime | None


@dataclass(frozen=True)
class RunFact:
    """A run. `events`: how many, from the first to the last number; `stale`: its roll-up is of an earlier moment."""

    id: UUID
    state: str
    name: str
    next_event_seq: int
    events: int
    first_event: int
    last_event: int
    stale: bool


@dataclass(frozen=True)
class Facts:
    """State of the installation, read in one transaction.

    Attributes:
        slots: number of slots by node.
        workers: node by worker.
        cubes: stored and recomputed cube of runs whose roll-up is up to date.
    """

    now: datetime
    episodes: Sequence[EpisodeFact]
    attempts: Sequence[AttemptFact]
    leases: Sequence[LeaseFact]
    runs: Sequence[RunFact]
    slots: Mapping[UUID, int]
    workers: Mapping[UUID, UUID]
    cubes: Mapping[UUID, tuple[Mapping[str, Any], Mapping[str, Any]]]

    def attempts_of(self) -> dict[UUID, list[AttemptFact]]:
        """Attempts by episode, in order."""
        by_episode: dict[UUID, list[AttemptFact]] = {episode.id: [] for episode in self.episodes}
        for attempt in sorted(self.attempts, key=lambda attempt: attempt.number):
            by_episode.setdefault(attempt.episode_id, []).append(attempt)
        return by_episode


_ENDED = "('scored', 'handed_in', 'lost', 'cancelled')"
_EPISODES = f"""
SELECT e.id, e.run_id, r.state AS run_state, a.name AS agent, t.domain || '/' || t.name AS task, e.state, e.outcome,
    e.score, e.attempt_count, e.failure_message,
    (SELECT count(*) FROM event v WHERE v.episode_id = e.id AND v.kind = 'episode_state'
        AND v.data->>'to' IN {_ENDED}) AS endings
FROM episode e JOIN run r ON r.id = e.run_id JOIN task t ON t.id = e.task_id
JOIN agent_configuration a ON a.id = r.agent_configuration_id
ORDER BY e.id
"""  # noqa: S608 - no word of it comes from outside.
_ATTEMPTS = f"""
WITH ends AS (
    SELECT attempt_id, min(seq) AS seq FROM event
    WHERE kind = 'attempt_state' AND data->>'to' IN {_ENDED} GROUP BY attempt_id
), late AS (
    SELECT v.attempt_id, count(*) AS number FROM event v JOIN ends ON ends.attempt_id = v.attempt_id
    WHERE v.kind = 'step' AND v.seq > ends.seq GROUP BY v.attempt_id
)
SELECT a.id, a.episode_id, a.number, a.state, a.live, a.worker_id, a.slot_id, a.lease_id, a.fencing_token,
    a.failure_class, a.failure_message, a.after_action, a.started_at, a.first_observation_at,
    coalesce(a.desktop->>'pod_uid', '') AS pod, coalesce(a.desktop->>'node', '') AS node,
    a.ended_at, coalesce(late.number, 0) AS late,
    (SELECT count(*) FROM evaluation v WHERE v.attempt_id = a.id AND v.current) AS verdicts
FROM attempt a LEFT JOIN late ON late.attempt_id = a.id ORDER BY a.id
"""  # noqa: S608
_LEASES = """
SELECT l.id, l.slot_id, s.node_id, l.worker_id, l.fencing_token, l.acquired_at, l.heartbeat_at, l.released_at
FROM lease l JOIN slot s ON s.id = l.slot_id ORDER BY l.fencing_token
"""
_RUNS = """
SELECT r.id, r.state, r.name, r.next_event_seq,
    r.rollup_stale OR r.rollup_started_at IS NOT NULL AS stale, count(v.id) AS events,
    coalesce(min(v.seq), 0) AS first_event, coalesce(max(v.seq), 0) AS last_event
FROM run r LEFT JOIN event v ON v.run_id = r.id GROUP BY r.id ORDER BY r.id
"""
_SLOTS = "SELECT node_id, count(*) FROM slot WHERE provider = :provider AND state = 'free' GROUP BY node_id"


def read(world: World, *, provider: str = "local", all_cubes: bool = False) -> Facts:
    """The current facts, from one snapshot. Raises Unavailable while the database is unavailable."""
    with world.work() as session:
        session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        runs = [RunFact(**row) for row in session.execute(text(_RUNS)).mappings()]
        known = [run.id for run in runs if not run.stale]
        return Facts(
            now=session.execute(text("SELECT now()")).scalar_one(),
            episodes=[EpisodeFact(**row) for row in session.execute(text(_EPISODES)).mappings()],
            attempts=[AttemptFact(**row) for row in session.execute(text(_ATTEMPTS)).mappings()],
            leases=[LeaseFact(**row) for row in session.execute(text(_LEASES)).mappings()],
            runs=runs,
            slots={row[0]: row[1] for row in session.execute(text(_SLOTS), {"provider": provider})},
            workers={row[0]: row[1] for row in session.execute(text("SELECT id, node_id FROM worker"))},
            cubes={run_id: _cubes(session, run_id) for run_id in (known if all_cubes else known[-RECENT:])},
        )


def _cubes(session: Session, run_id: UUID) -> tuple[dict[str, Any], dict[str, Any]]:
    stored = {f"{row.dimension}:{row.key}": row for row in rollup_rows.of_run(session, run_id)}
    computed = rollups.compute(rollups.gather(session, run_id)).cells
    cells = {f"{row['dimension']}:{row['key']}": dict(row) for row in computed}
    columns = next(iter(cells.values()), {})
    return {key: {name: getattr(row, name) for name in columns} for key, row in stored.items()}, cells
