"""Summaries of runs: from their cubes, which workers compute, or from the episodes. Nothing is written here."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Rollup, Run
from backend.db.repositories import common_queries as repository
from backend.db.repositories.results import rollup_jobs
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.services.results.rollups import summary_of
from backend.services.runs.summary import RunSummary, run_summary

LARGE = 2_000
"""Number of episodes above which pages use a running run's stored cube instead of computing its summary."""


def summaries(session: Session, runs: Sequence[Run]) -> dict[UUID, RunSummary]:
    """Each run's summary: exact, except for large active runs, whose cube is some seconds old (`as_of`)."""
    ids = [run.id for run in runs]
    behind = rollup_jobs.behind_among(session, ids)
    cells = {cell.run_id: cell for cell in repository.cells(session, ids)}
    return {run.id: _summary(session, run, cells.get(run.id), behind=run.id in behind) for run in runs}


def summary(session: Session, run: Run) -> RunSummary:
    """The summary of one run."""
    return summaries(session, [run])[run.id]


def _summary(session: Session, run: Run, cell: Rollup | None, *, behind: bool) -> RunSummary:
    ended = RunState(run.state) in ENDED_RUNS
    if cell is not None and not behind:
        return summary_of(cell)
    if cell is not None and not ended and rollup_jobs.larger_than(session, run.id, LARGE):
        return summary_of(cell).model_copy(update={"as_of": run.rollup_as_of})
    return run_summary(session, run.id)
