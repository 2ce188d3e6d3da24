"""Shared parts of pages: runs with their bars, tiles of live screens."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories import common_queries as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.domain.model.outcome_style import OutcomeCounts, OutcomeStyle
from backend.services.lru_cache import LruCache
from backend.services.results.run_summaries import summaries
from backend.services.runs.views.episode import max_steps_of
from backend.services.runs.views.run import RunView, run_view
from backend.services.runs.views.waiting import AttemptWait, DesktopStartup, startup_of, wait_of


def splits(rows: Iterable[Row[UUID, str, int]]) -> dict[UUID, OutcomeCounts]:
    """Bars by run, from (run, style, episodes)."""
    by_run: dict[UUID, dict[OutcomeStyle, int]] = defaultdict(dict)
    for run_id, look, count in rows:
        by_run[run_id][OutcomeStyle(look)] = count
    return {run_id: OutcomeCounts(counts) for run_id, counts in by_run.items()}


@dataclass(frozen=True)
class RunRow:
    """One run in a list, with its bar."""

    run: RunView
    split: OutcomeCounts


ResultsKey = tuple[UUID, datetime]
_BARS: LruCache[ResultsKey, OutcomeCounts] = LruCache(10_000)


def results_key(run: Run) -> ResultsKey | None:
    """Key of what follows from the results of an ended run, to remember it by; None while they change.

    Whatever changes a result marks the run's roll-ups as stale in the same transaction.
    """
    changing = run.rollup_stale or run.rollup_started_at is not None or RunState(run.state) not in ENDED_RUNS
    return None if changing or run.rollup_as_of is None else (run.id, run.rollup_as_of)


def run_rows(session: Session, rows: Sequence[AnyRow]) -> list[RunRow]:
    """Rows of `repositories.common_queries.run_columns` with their bars and rates."""
    runs = [row.Run for row in rows]
    bars, rates = _bars(session, runs), summaries(session, runs)
    return [RunRow(run_view(row, rates[row.Run.id]), bars[row.Run.id]) for row in rows]


def _bars(session: Session, runs: Sequence[Run]) -> dict[UUID, OutcomeCounts]:
    keys = {run.id: results_key(run) for run in runs}
    bars = {run_id: counts for run_id, key in keys.items() if key and (counts := _BARS.get(key))}
    others = [run.id for run in runs if run.id not in bars]
    counted = splits(repository.looks_by_run(session, others)) if others else {}
    for run_id in others:
        bars[run_id] = counted.get(run_id, OutcomeCounts({}))
        if key := keys[run_id]:
            _BARS.put(key, bars[run_id])
    return bars


@dataclass(frozen=True)
class Tile:
    """A live screen on the run's page. `silent_since`: time of the worker's last heartbeat if that is late."""

    attempt_id: UUID
    episode_id: UUID
    run_id: UUID
    task: str
    configuration: str
    state: str
    number: int
    step: int
    max_steps: int
    frame: str | None
    frame_at: datetime | None
    started_at: datetime
    startup: DesktopStartup | None = None
    wait: AttemptWait | None = None
    silent_since: datetime | None = None


def tiles(session: Session, *, run_id: UUID | None = None, words: str = "", limit: int = 64) -> list[Tile]:
    """Live screens, oldest attempt first, so that each keeps its position. `words`: searched for in names."""
    rows = repository.live_attempts(session, run_id=run_id, words=words, limit=limit)
    return [_tile(row) for row in rows]


def _tile(row: AnyRow) -> Tile:
    attempt = row.Attempt
    return Tile(
        attempt_id=attempt.id,
        episode_id=row.Episode.id,
        run_id=row.Run.id,
        task=row.Task.key,
        configuration=row.configuration,
        state=attempt.state,
        number=attempt.number,
        step=attempt.current_step,
        max_steps=max_steps_of(row.Run.config, row.Task.spec),
        frame=row.frame_sha256,
        frame_at=row.created_at,
        started_at=attempt.started_at,
        startup=startup_of(attempt.state, attempt.desktop),
        wait=wait_of(attempt, row.model_wait, row.created_at, row.Run.config["agent"]),
        silent_since=row.silent_since,
    )
