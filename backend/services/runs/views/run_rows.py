"""View objects that several pages share: rows of runs with their bars and rates, tiles of live screens."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models import Attempt
from backend.db.repositories import common_queries as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import AttemptState
from backend.domain.model.run import Budget
from backend.services.attempts.attempts import OPENING
from backend.services.results.run_summaries import summaries
from backend.services.runs.summary import RunSummary
from backend.services.runs.views.outcome_style import OutcomeCounts, OutcomeStyle

DEFAULT_STEPS = 30
"""Step budget where neither run nor task names one (backend.domain.model.run)."""


def splits(rows: Iterable[Row[UUID, str, int]]) -> dict[UUID, OutcomeCounts]:
    """Bars by run, from (run, look, episodes)."""
    by_run: dict[UUID, dict[OutcomeStyle, int]] = defaultdict(dict)
    for run_id, look, count in rows:
        by_run[run_id][OutcomeStyle(look)] = count
    return {run_id: OutcomeCounts(counts) for run_id, counts in by_run.items()}


@dataclass(frozen=True)
class RunRow:
    """One run in a list."""

    id: UUID
    name: str
    status: str
    benchmark: str
    version: int
    agent: str
    params: Mapping[str, Any]
    provider: str
    purpose: str
    repeats: int
    split: OutcomeCounts
    rate: RunSummary | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @property
    def title(self) -> str:
        """Its name, or what it measures where it has none."""
        return self.name or f"{self.agent} on {self.benchmark}"

    @property
    def seconds(self) -> float | None:
        """How long it took, or has taken until now."""
        if self.started_at is None:
            return None
        return ((self.ended_at or datetime.now(UTC)) - self.started_at).total_seconds()


def run_rows(session: Session, rows: Sequence[AnyRow]) -> list[RunRow]:
    """Rows of `repositories.common_queries.run_columns` with their bars and rates."""
    bars = splits(repository.looks_by_run(session, [row.Run.id for row in rows]))
    rates = summaries(session, [row.Run for row in rows])
    return [_run_row(row, bars.get(row.Run.id, OutcomeCounts({})), rates.get(row.Run.id)) for row in rows]


def _run_row(row: AnyRow, split: OutcomeCounts, rate: RunSummary | None) -> RunRow:
    run = row.Run
    return RunRow(
        id=run.id,
        name=run.name,
        status=run.state,
        benchmark=row.benchmark,
        version=row.version,
        agent=row.Agent.name,
        params=row.Agent.params,
        provider=run.provider,
        purpose=run.purpose,
        repeats=int(run.config.get("repeats", 1)),
        split=split,
        rate=rate,
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
    )


@dataclass(frozen=True)
class DesktopStartup:
    """What an attempt waits for while its desktop is being made; see `attempts.note_opening`."""

    subject: str
    phase: str
    doing: str
    limit: float | None
    note: str
    since: datetime


def opening_of(attempt: Attempt) -> DesktopStartup | None:
    """None once the desktop is there, and where nothing was told."""
    facts = attempt.desktop.get(OPENING)
    if not facts or attempt.state != AttemptState.PREPARING:
        return None
    return DesktopStartup(
        subject=facts.get("subject", ""),
        phase=facts["phase"],
        doing=facts["doing"],
        limit=facts.get("limit"),
        note=facts.get("note", ""),
        since=datetime.fromisoformat(facts["since"]),
    )


@dataclass(frozen=True)
class Tile:
    """One live screen of the wall."""

    attempt_id: UUID
    episode_id: UUID
    run_id: UUID
    task: str
    agent: str
    state: str
    number: int
    step: int
    max_steps: int
    frame: str | None
    frame_at: datetime | None
    started_at: datetime
    opening: DesktopStartup | None = None


def max_steps_of(config: Mapping[str, Any], spec: Mapping[str, Any]) -> int:
    """The step budget that holds for a task in a run."""
    budget = Budget.model_validate(config.get("budget") or {})
    level = (spec.get("labels") or {}).get("level")
    return budget.steps_of(level, spec.get("max_steps")) or DEFAULT_STEPS


def tiles(session: Session, *, run_id: UUID | None = None, limit: int = 64) -> list[Tile]:
    """The live screens, oldest attempt first, so that a screen keeps its place on the wall."""
    return [_tile(row) for row in repository.live_attempts(session, run_id=run_id, limit=limit)]


def _tile(row: AnyRow) -> Tile:
    attempt = row.Attempt
    return Tile(
        attempt_id=attempt.id,
        episode_id=row.Episode.id,
        run_id=row.Run.id,
        task=row.Task.key,
        agent=row.agent,
        state=attempt.state,
        number=attempt.number,
        step=attempt.current_step,
        max_steps=max_steps_of(row.Run.config, row.Task.spec),
        frame=row.frame_sha256,
        frame_at=row.created_at,
        started_at=attempt.started_at,
        opening=opening_of(attempt),
    )
