"""List of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.runs import runs_view as repository
from backend.domain.model.sort_order import SortOrder
from backend.services.runs.views.run import RunView
from backend.services.runs.views.run_rows import RunRow, run_rows

PAGE = 50


@dataclass(frozen=True)
class RunList:
    """One page of the list, and its filters."""

    rows: list[RunRow]
    next: UUID | None
    benchmarks: Sequence[str]
    agents: Sequence[str]


RUN_COLUMNS = frozenset(repository.RUN_ORDER)
"""Columns by which the list can be sorted."""


def run_list(
    session: Session,
    filters: dict[str, str],
    before: UUID | None,
    limit: int = PAGE,
    order: SortOrder | None = None,
) -> RunList:
    """Runs, newest first or in another order; `next` is the last one's id if there are more."""
    runs = repository.runs(session, filters, before, limit, order)
    rows = run_rows(session, runs[:limit])
    benchmarks, agents = repository.names(session)
    return RunList(rows, rows[-1].run.id if len(runs) > limit else None, benchmarks, agents)


RUN_HEAD = (
    "run", "name", "configuration", "agent", "benchmark", "version", "origin", "purpose", "provider", "status",
    "episodes", "scored", "lost", "solved", "success_rate", "success_low", "success_high", "mean_score", "mean_low",
    "mean_high", "lower_bound_success", "created_at", "started_at", "ended_at",
)  # fmt: skip
"""Columns of a table of runs."""


def table_rows(session: Session, filters: dict[str, str], limit: int) -> list[list[Any]]:
    """The values of RUN_HEAD of the newest runs."""
    return [_table_row(row.run) for row in run_list(session, filters, None, limit).rows]


def _table_row(run: RunView) -> list[Any]:
    counts, rates = run.counts, run.summary
    success, mean = rates.success_interval or (None, None), rates.mean_interval or (None, None)
    return [
        *(run.id, run.name, run.configuration.name, run.agent, run.benchmark, run.task_set.version),
        *(run.origin.value, run.purpose, run.provider, run.status.value),
        *(sum(counts.model_dump().values()), counts.scored, counts.lost, rates.solved),
        *(rates.success_rate, *success, rates.mean_score, *mean, rates.lower_bound_success),
        *(run.created_at, run.started_at, run.ended_at),
    ]
