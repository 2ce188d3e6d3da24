"""Summaries of several runs at once, from their cubes."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories import common_queries as repository
from backend.services.results import rollups
from backend.services.results.rollups import summary_of
from backend.services.runs.summary import RunSummary, run_summary

DEADLOCK = "40P01"


def summaries(session: Session, runs: Sequence[Run]) -> dict[UUID, RunSummary]:
    """Each run's summary from its cube, which is recomputed first where an episode changed since.

    That of a large run is of some seconds ago while it goes on: workers recompute it.
    """
    stale = [run.id for run in runs if run.rollup_stale or run.rollup_began_at is not None]
    for run_id in sorted(stale, key=str):
        _renew(session, run_id)
    session.flush()  # The cubes are read below.
    by_run = {cell.run_id: summary_of(cell) for cell in repository.cells(session, [run.id for run in runs])}
    # A run so new that somebody else is making its first cube just now.
    return {run.id: by_run.get(run.id) or run_summary(session, run.id) for run in runs}


def _renew(session: Session, run_id: UUID) -> None:
    """Recomputes one cube. Several readers and workers hold several: who meets another in a circle gives way to it."""
    try:
        with session.begin_nested():
            rollups.refresh(session, run_id)
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", "") != DEADLOCK:
            raise
