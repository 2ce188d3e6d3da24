"""Summaries of runs: from their cubes, which workers compute, or from the episodes. Nothing is written here."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories import common_queries as repository
from backend.db.repositories.results import rollup_jobs
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.services.results.rollups import summary_of
from backend.services.runs.summary import RunSummary, run_summary

LARGE = 2_000
"""Number of episodes above which pages use a run's stored cube instead of computing its summary."""


def summaries(session: Session, runs: Sequence[Run]) -> dict[UUID, RunSummary]:
    """Summaries for a list: exact, except for large runs, whose cube may be some seconds old (`as_of`)."""
    return _summaries(session, runs, exact_end=False)


def summary(session: Session, run: Run) -> RunSummary:
    """The summary of one run: exact once it has ended, however large it is."""
    return _summaries(session, [run], exact_end=True)[run.id]


def _summaries(session: Session, runs: Sequence[Run], *, exact_end: bool) -> dict[UUID, RunSummary]:
    ids = [run.id for run in runs]
    behind = rollup_jobs.behind_among(session, ids)
    cells = {cell.run_id: cell for cell in repository.cells(session, ids)}
    summaries = {}
    for run in runs:
        cell, exact = cells.get(run.id), exact_end and RunState(run.state) in ENDED_RUNS
        if cell is not None and run.id not in behind:
            summaries[run.id] = summary_of(cell)
        elif cell is not None and not exact and rollup_jobs.larger_than(session, run.id, LARGE):
            summaries[run.id] = summary_of(cell).model_copy(update={"as_of": run.rollup_as_of})
        else:
            summaries[run.id] = run_summary(session, run.id)
    return summaries
