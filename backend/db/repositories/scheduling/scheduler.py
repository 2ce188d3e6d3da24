"""The scheduler's reads and writes, in batches. See docs/internals/scheduling.md."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause, func, select, text
from sqlalchemy.orm import Session

from backend.db.models import Project, Task
from backend.domain.model.reason import Reason
from backend.domain.scheduling.requirements import Requirements
from backend.domain.scheduling.usage import RATE

_DOOR = 7_218_001
"""Advisory lock under which slots are assigned: one decision at a time, so that no quota is exceeded."""

_READY = "e.state = 'waiting' AND e.available_at < '9000-01-01 00:00:00+00' AND e.available_at <= clock_timestamp()"

_FIRST = "e.requirements_id, e.priority DESC, e.repeat_index, e.estimated_seconds DESC, e.id"
"""The index's own order, so that the planner uses the index."""

_QUEUE = text(f"""
    SELECT r.id, r.project_id, r.provider, r.state, r.priority, r.concurrency, r.in_use, r.usage_seconds, r.task_set_id,
        greatest(0, extract(epoch FROM clock_timestamp() - r.usage_updated_at))::float AS used_since,
        greatest(0, extract(epoch FROM clock_timestamp() - r.last_scheduled_at))::float AS idle_seconds,
        a.name AS agent, a.human, b.hidden, r.config ->> 'desktop_image' AS image,
        p.weight, p.quota, p.reserved, coalesce(held.number, 0) AS model_waits,
        coalesce(nullif(r.budget_reached, ''), (
            SELECT b.reached FROM project_budget b WHERE b.project_id = r.project_id AND b.reached <> ''
            ORDER BY b.period LIMIT 1
        ), '') AS budget_reached,
        coalesce((
            SELECT q.stored_bytes > q.disk_quota_mib * 1048576 FROM retention q WHERE q.project_id = r.project_id
        ), false) AS over_disk_quota,
        r.state <> 'paused' AND r.state <> 'cancelled'
            AND (SELECT true FROM episode e WHERE e.run_id = r.id AND {_READY} ORDER BY {_FIRST} LIMIT 1) AS ready
    FROM (
        SELECT * FROM run WHERE state IN ('queued', 'running', 'paused')
        UNION ALL
        SELECT * FROM run WHERE state = 'cancelled' AND ended_at > now() - interval '1 hour' AND in_use > 0
    ) r
    JOIN project p ON p.id = r.project_id
    JOIN agent_configuration a ON a.id = r.agent_configuration_id
    JOIN task_set s ON s.id = r.task_set_id
    JOIN benchmark b ON b.id = s.benchmark_id
    LEFT JOIN (
        SELECT e.run_id, count(*) AS number
        FROM lease l JOIN attempt t ON t.lease_id = l.id AND t.live JOIN episode e ON e.id = t.episode_id
        WHERE l.released_at IS NULL AND l.wait_reason <> ''
        GROUP BY e.run_id
    ) held ON held.run_id = r.id
    ORDER BY r.id
""")  # noqa: S608 - constant text

_LOCK = text("""
    SELECT id, state, concurrency, in_use, project_id, task_set_id, config, trace_parent, trace_per_episode FROM run
    WHERE id = ANY(:runs) ORDER BY id FOR NO KEY UPDATE
""")
_LOCK_FREE = text(f"{_LOCK.text} SKIP LOCKED")


NOT_LEFT = """
    AND (e.run_id, e.task_id) NOT IN (SELECT * FROM unnest(CAST(:left_runs AS uuid[]), CAST(:left_tasks AS uuid[])))
"""


def _taking(others: str) -> TextClause:
    return text(f"""
    WITH turn AS (SELECT * FROM unnest(CAST(:runs AS uuid[]), CAST(:numbers AS bigint[])) AS t(run_id, number)),
    able AS (SELECT * FROM unnest(CAST(:able_runs AS uuid[]), CAST(:needs AS uuid[])) AS n(run_id, requirements_id)),
    chosen AS (
        SELECT best.id, turn.run_id, best.place FROM turn CROSS JOIN LATERAL (
            SELECT first.id, row_number() OVER () AS place FROM (
                SELECT each.* FROM able CROSS JOIN LATERAL (
                    SELECT e.id, e.priority, e.repeat_index, e.estimated_seconds FROM episode e
                    WHERE e.run_id = able.run_id AND e.requirements_id = able.requirements_id AND {_READY} {others}
                    ORDER BY e.priority DESC, e.repeat_index, e.estimated_seconds DESC, e.id LIMIT turn.number
                ) each
                WHERE able.run_id = turn.run_id
                ORDER BY each.priority DESC, each.repeat_index, each.estimated_seconds DESC, each.id LIMIT turn.number
            ) first
        ) best
    )
    UPDATE episode e
    SET state = 'running', started_at = coalesce(e.started_at, now()), attempt_count = e.attempt_count + 1,
        reason = '', reason_code = NULL
    FROM chosen WHERE e.id = chosen.id AND e.state = 'waiting'
    RETURNING e.id, e.run_id, e.task_id, e.repeat_index, e.seed, e.attempt_count, e.human_feedback,
        e.requirements_id, chosen.place
""")  # noqa: S608 - constant texts


_TAKE = _taking("")
_TAKE_OTHERS = _taking(NOT_LEFT)
_PUT_BACK = text("""
    UPDATE episode SET state = 'waiting', attempt_count = attempt_count - 1, reason = :reason, reason_code = :code,
        started_at = CASE WHEN attempt_count > 1 THEN started_at END
    WHERE id = :id
""")
_NOTE_UNREAD = text("""
    UPDATE episode SET reason = :reason, reason_code = :code
    WHERE run_id = :run AND state = 'waiting' AND available_at < '9000-01-01 00:00:00+00'
        AND reason_code IS DISTINCT FROM :code
""")


_SPENT = f"""
    usage_seconds = usage_seconds * exp(-{RATE} * greatest(0, extract(epoch FROM clock_timestamp() - usage_updated_at)))
        + in_use * (1 - exp(-{RATE} * greatest(0, extract(epoch FROM clock_timestamp() - usage_updated_at)))) / {RATE},
    usage_updated_at = clock_timestamp()
"""
"""`domain.scheduling.usage.decay_usage` in SQL."""

_START_RUNS = text(f"""
    UPDATE run SET {_SPENT}, in_use = in_use + more.number, last_scheduled_at = clock_timestamp(), rollup_stale = true,
        started_at = coalesce(started_at, now()), state = 'running'
    FROM unnest(CAST(:runs AS uuid[]), CAST(:numbers AS bigint[])) AS more(id, number) WHERE run.id = more.id
""")  # noqa: S608 - constant text
_ENDED = text(f"""
    UPDATE run SET {_SPENT}, in_use = greatest(0, in_use - :number),
        last_scheduled_at = CASE WHEN (
            SELECT true FROM episode e
            WHERE e.run_id = :run AND e.state = 'waiting' AND e.available_at < '9000-01-01 00:00:00+00'
            ORDER BY {_FIRST} LIMIT 1
        ) THEN last_scheduled_at ELSE clock_timestamp() END
    WHERE id = :run
""")  # noqa: S608 - constant text
"""A run without waiting episodes was not waiting until now, if ended ones are to be retried."""

_MISCOUNTED = text("""
    SELECT r.id FROM run r
    CROSS JOIN LATERAL (SELECT count(*) AS number FROM episode e WHERE e.run_id = r.id AND e.state = 'running') busy
    WHERE (r.state IN ('queued', 'running', 'paused') OR r.state = 'cancelled' AND r.ended_at > now() - interval '1 h')
      AND r.in_use <> busy.number
    ORDER BY r.id
""")
_RECOUNT = text(f"""
    UPDATE run SET {_SPENT}, in_use = busy.number
    FROM (SELECT count(*) AS number FROM episode e WHERE e.run_id = :run AND e.state = 'running') busy
    WHERE id = :run AND in_use <> busy.number
""")  # noqa: S608 - constant text

_NEEDS = text("""
    UPDATE episode SET requirements_id = task.requirements_id FROM task
    WHERE task.id = episode.task_id AND episode.state = 'waiting' AND episode.requirements_id IS NULL
""")

_SLOTS = text("""
    WITH serving AS (
        SELECT w.node_id, w.capabilities #>> ARRAY['providers', :provider, 'cluster'] AS cluster,
            CAST(w.capabilities #>> ARRAY['providers', :provider, 'at_once'] AS bigint) AS most, held.number AS held
        FROM worker w CROSS JOIN LATERAL (
            SELECT count(*) AS number FROM lease l JOIN slot s ON s.id = l.slot_id
            WHERE l.worker_id = w.id AND l.released_at IS NULL AND s.provider = :provider
        ) held
        WHERE w.state = 'online'
    ), usable AS (
        SELECT n.cluster, count(*) AS number, count(*) FILTER (WHERE NOT EXISTS (
            SELECT FROM lease l WHERE l.slot_id = s.id AND l.released_at IS NULL
        )) AS free
        FROM slot s JOIN node n ON n.id = s.node_id
        WHERE s.provider = :provider AND s.state = 'free' AND n.state = 'ready' AND (
            n.cluster = '' AND n.id IN (SELECT node_id FROM serving)
            OR n.cluster <> '' AND n.cluster IN (SELECT cluster FROM serving)
        ) GROUP BY n.cluster
    ), bounded AS (
        SELECT u.number, u.free, least(u.free, CASE WHEN u.cluster = '' THEN u.free ELSE (
            SELECT sum(greatest(0, coalesce(v.most - v.held, u.free))) FROM serving v WHERE v.cluster = u.cluster
        ) END) AS open FROM usable u
    )
    SELECT coalesce(sum(number - free + open), 0) AS number, coalesce(sum(open), 0) AS free FROM bounded
""")
"""A cluster's slots are used only by workers that serve it, each up to the desktops that it runs at once."""

_LONGEST = "interval '5 minutes'"
_BACK_OFF = f"""coalesce((
    SELECT least({_LONGEST}, greatest(interval '0', e.available_at - a.ended_at)) FROM attempt a
    WHERE a.episode_id = e.id AND a.number = e.attempt_count AND a.failure_class IN ('model_api', 'cluster')
), interval '0')"""  # noqa: S608 - constant text
_BRING_BACK = text(f"""
    UPDATE episode SET available_at = clock_timestamp() + late.back_off
    FROM (
        SELECT e.id, {_BACK_OFF} AS back_off FROM episode e
        WHERE e.state = 'waiting' AND e.available_at < '9000-01-01 00:00:00+00' AND e.available_at > clock_timestamp()
        FOR NO KEY UPDATE OF e SKIP LOCKED
    ) late
    WHERE episode.id = late.id AND episode.state = 'waiting'
        AND episode.available_at > clock_timestamp() + late.back_off
""")  # noqa: S608 - constant text
"""Only losses to a model's API or a cluster have a back-off (`domain.model.episode.next_try`), five minutes at most."""


@dataclass(frozen=True)
class StartedEpisode:
    """An episode that starts. `number` is that of its new attempt."""

    id: UUID
    run_id: UUID
    task_id: UUID
    repeat_index: int
    seed: int
    number: int
    requirements_id: UUID
    human_feedback: Mapping[str, Any] | None


def enter(session: Session) -> None:
    """Waits for the scheduler's lock, and holds it until the transaction ends."""
    session.execute(select(func.pg_advisory_xact_lock(_DOOR)))


def queue(session: Session) -> Sequence[Row[Any]]:
    """Every run that has slots or may want some, in order of submission; `ready`: an episode may start now."""
    session.flush()
    return session.execute(_QUEUE).all()


def slots(session: Session, provider: str) -> tuple[int, int]:
    """(slots of the provider that online workers can use, free ones of them)."""
    row = session.execute(_SLOTS, {"provider": provider}).one()
    return int(row.number), int(row.free)


def reserving(session: Session) -> dict[UUID, dict[str, int]]:
    """Slots reserved by projects, by provider; also without a run, because they stay reserved."""
    query = select(Project.id, Project.reserved).where(Project.reserved != {})
    return {row.id: row.reserved for row in session.execute(query)}


def in_use_by_project(session: Session) -> dict[UUID, dict[str, int]]:
    """Running desktops of projects, by provider."""
    by_project: dict[UUID, dict[str, int]] = {}
    for row in queue(session):
        of_project = by_project.setdefault(row.project_id, {})
        of_project[row.provider] = of_project.get(row.provider, 0) + row.in_use
    return by_project


def needs_of(session: Session, task_set_id: UUID) -> tuple[Requirements, ...]:
    """All requirements of a set's tasks."""
    alike = (Task.requirements_id, Task.os, Task.requires, Task.licences)
    functions = func.array_agg(Task.id).filter(Task.has_user_functions).label("functions")
    query = select(*alike, functions, func.bool_or(~Task.has_user_functions).label("others"))
    rows = session.execute(query.where(Task.task_set_id == task_set_id).group_by(*alike))
    return tuple(
        Requirements(
            row.requirements_id,
            row.os,
            frozenset(row.requires),
            dict(row.licences) or None,
            frozenset(row.functions or ()),
            row.others,
        )
        for row in rows
    )


def lock_runs(session: Session, runs: Collection[UUID], *, skip_locked: bool = True) -> Sequence[Row[Any]]:
    """Rows of these runs, locked: state, concurrency, in_use, project_id, task_set_id, config and context of traces.

    Args:
        session: the transaction.
        runs: the runs.
        skip_locked: skip runs locked by others; else wait for them.
    """
    return session.execute(_LOCK_FREE if skip_locked else _LOCK, {"runs": list(runs)}).all()


def patience(session: Session, milliseconds: int | None) -> None:
    """Sets this transaction's lock timeout; None = default."""
    how_long = "DEFAULT" if milliseconds is None else str(int(milliseconds))
    session.execute(text(f"SET LOCAL lock_timeout TO {how_long}"))


def start_episodes(
    session: Session,
    numbers: Mapping[UUID, int],
    needs: Sequence[tuple[UUID, UUID]],
    left: Sequence[tuple[UUID, UUID]] = (),
) -> list[StartedEpisode]:
    """Moves the next waiting episodes to `running` and returns them, each run's in its order.

    Args:
        session: the transaction; it holds the runs' locks.
        numbers: maximum number by run.
        needs: (run, requirement) pairs that the worker meets.
        left: (run, task) pairs left to other workers.
    """
    values = {"runs": list(numbers), "numbers": list(numbers.values())}
    values |= {"able_runs": [run for run, _ in needs], "needs": [need for _, need in needs]}
    rows = sorted(
        session.execute(_TAKE_OTHERS if left else _TAKE, values | excluded_parameters(left)),
        key=lambda row: (str(row.run_id), row.place),
    )
    return [
        StartedEpisode(
            row.id,
            row.run_id,
            row.task_id,
            row.repeat_index,
            row.seed,
            row.attempt_count,
            row.requirements_id,
            row.human_feedback,
        )
        for row in rows
    ]


def excluded_parameters(left: Sequence[tuple[UUID, UUID]]) -> dict[str, Any]:
    """Parameters of `NOT_LEFT` for (run, task) pairs."""
    return {"left_runs": [run for run, _ in left], "left_tasks": [task for _, task in left]} if left else {}


def put_back(session: Session, episode_id: UUID, reason: Reason) -> None:
    """Returns a selected episode to waiting, with the reason in its row."""
    session.execute(_PUT_BACK, {"id": episode_id, "reason": reason.text, "code": reason.code})


def note_unread(session: Session, run_id: UUID, reason: Reason) -> None:
    """Sets the waiting reason of a run's episodes without one. The caller has locked the run."""
    session.execute(_NOTE_UNREAD, {"run": run_id, "reason": reason.text, "code": reason.code})


def count_starts(session: Session, numbers: Mapping[UUID, int]) -> None:
    """Counts started episodes by run."""
    session.execute(_START_RUNS, {"runs": list(numbers), "numbers": list(numbers.values())})


def count_ended(session: Session, run_id: UUID, number: int = 1) -> None:
    """Counts ended episodes of the run. The caller has locked the run."""
    session.execute(_ENDED, {"run": run_id, "number": number})


def miscounted_runs(session: Session) -> list[UUID]:
    """Runs whose `in_use` differs from their episodes: because of an older release, or a bug."""
    return list(session.scalars(_MISCOUNTED))


def recount(session: Session, run_id: UUID) -> bool:
    """Recounts a run's running episodes; returns whether the count was wrong. The caller has locked the run."""
    return bool(session.execute(_RECOUNT, {"run": run_id}).rowcount)  # type: ignore[attr-defined]


def bring_back(session: Session) -> int:
    """After the clock went back: makes no episode wait longer than its own back-off; returns the number corrected."""
    return int(session.execute(_BRING_BACK).rowcount)  # type: ignore[attr-defined]


def fill_needs(session: Session) -> int:
    """Completes waiting episodes written by an older release or a bulk load; returns their number."""
    return int(session.execute(_NEEDS).rowcount)  # type: ignore[attr-defined]
