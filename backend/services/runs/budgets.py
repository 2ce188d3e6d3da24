"""Budgets of runs, projects and months: counted by workers, checked before each episode starts.

An episode that runs when its budget is reached ends as any other. The rest waits with the reason `budget_reached`,
until the budget is raised, the month ends, or the run is cancelled.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from backend.db.models import Project, ProjectBudget, Run
from backend.db.models.runs.project_budget import PERIODS
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import budgets as repository
from backend.db.repositories.runs import runs
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import NotFound
from backend.domain.scheduling.budgets import Spending, reached
from backend.services.accounts import audit
from backend.services.events import outbox, worker_wakeup
from backend.services.read_model import ReadModel

EVERY = timedelta(seconds=10)
MEASURES = ("usd", "tokens", "desktop_hours")
LONG_AGO = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
logger = logging.getLogger(__name__)


class BudgetChanges(BaseModel):
    """Limits to change; None removes one, what is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    usd: float | None = Field(default=None, ge=0, le=10**9)
    tokens: int | None = Field(default=None, ge=0, le=10**15)
    desktop_hours: float | None = Field(default=None, ge=0, le=10**9)


class BudgetView(ReadModel):
    """A project's budget of a period, and what was spent in it.

    A limit that is null is none. Spending is null until a limit is set: it is counted from then on.
    """

    period: str = Field(description="`month`: each calendar month, by UTC; `total`: all time.", examples=["month"])
    usd: float | None = Field(default=None, description="US dollars of models, at the prices of their calls.")
    tokens: int | None = Field(default=None, description="Input and output tokens.")
    desktop_hours: float | None = None
    spent_usd: float | None = Field(default=None, description="All of the period, as counted at `counted_at`.")
    spent_tokens: int | None = None
    spent_desktop_hours: float | None = None
    counted_at: datetime | None = None
    reached: str = Field(default="", description="Reached limit; no further episode starts.")


def list_budgets(session: Session, project: Project) -> list[BudgetView]:
    """A project's budgets, one a period."""
    rows = {row.period: row for row in repository.of_project(session, project.id)}
    return [
        BudgetView.model_validate(rows[period]) if period in rows else BudgetView(period=period) for period in PERIODS
    ]


def set_budget(session: Session, project: Project, period: str, changes: BudgetChanges) -> BudgetView:
    """Changes a project's budget and recounts, so that it applies at once.

    Raises:
        NotFound: there is no such period.
    """
    if period not in PERIODS:
        raise NotFound(f"a budget is of a {' or '.join(PERIODS)}, not {period!r}", code="budget_not_found")
    row = repository.get_locked(session, project.id, period)
    values: Mapping[str, Any] = changes.model_dump(exclude_unset=True)
    before = {name: getattr(row, name) for name in MEASURES}
    for name, value in values.items():
        setattr(row, name, value)
    audit.record(session, "set_budget", f"{project.name} ({period})", audit.differences(before, values))
    _count(session, row, project.name, workers.now(session))
    session.flush()
    worker_wakeup.wake_workers(session)
    return BudgetView.model_validate(row)


def count_due(factory: SessionFactory) -> int:
    """Counts what was spent where it was not counted within ten seconds. Safe to call from several processes at once.

    Returns:
        The number of budgets that were reached by it.
    """
    with unit_of_work(factory) as session:
        ids = repository.limited_runs(session)
    number = sum(_count_run(factory, run_id) for run_id in ids)
    while True:
        with unit_of_work(factory) as session:
            now = workers.now(session)
            claimed = repository.claim(session, now - EVERY)
            if claimed is None:
                return number
            number += _count(session, *claimed, now)


def _count_run(factory: SessionFactory, run_id: UUID) -> bool:
    with unit_of_work(factory) as session:
        spent = repository.spent_by_run(session, run_id)
        run = runs.lock(session, run_id)
        return run is not None and note_spent(session, run, spent)


def note_spent(session: Session, run: Run, spent: Spending) -> bool:
    """Notes which limit a locked run has reached; returns whether it has just reached one, which is announced."""
    limits = Spending(run.run_usd, run.run_tokens, run.run_desktop_hours)
    before, run.budget_reached = run.budget_reached, reached(limits, spent, "the run")
    if before and not run.budget_reached:
        worker_wakeup.wake_workers(session)
    if before or not run.budget_reached:
        return False
    details = {"text": run.budget_reached, "run_id": str(run.id)}
    _announce(session, str(run.id), run.project_id, run.id, details)
    return True


def _count(session: Session, row: ProjectBudget, project: str, now: datetime) -> bool:
    since = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0) if row.period == "month" else LONG_AGO
    spent = repository.spent_by_project(session, row.project_id, since)
    same = row.since == since
    for name in MEASURES:
        spent_before = getattr(row, f"spent_{name}") if same else 0
        setattr(row, f"spent_{name}", max(spent_before or 0, getattr(spent, name)))
    row.since, row.counted_at = since, now
    amounts = Spending(row.spent_usd, row.spent_tokens, row.spent_desktop_hours)
    whose = f"the project {project}{' this month' if row.period == 'month' else ''}"
    before, row.reached = row.reached, reached(Spending(row.usd, row.tokens, row.desktop_hours), amounts, whose)
    if before and not row.reached:
        worker_wakeup.wake_workers(session)
    if before or not row.reached:
        return False
    details = {"text": row.reached, "project": project, "period": row.period}
    _announce(session, f"{project} ({row.period})", row.project_id, row.project_id, details)
    return True


def _announce(session: Session, budget: str, project_id: UUID, subject_id: UUID, details: Mapping[str, str]) -> None:
    audit.record(session, "budget_reached", budget, {"reached": ["", details["text"]]})
    outbox.note_budget_reached(session, project_id, subject_id, details)
    logger.warning("%s", details["text"])
