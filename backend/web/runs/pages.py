"""`/runs` and `/runs/{id}`: list of runs, and page of one run."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.domain.errors import Invalid, NotFound
from backend.domain.model.episode import RunState
from backend.domain.model.measures import in_order, info
from backend.domain.model.validation_words import problem_words
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.results import pass_rollups
from backend.services.runs import runs as service
from backend.services.runs.scheduling_settings import update_scheduling
from backend.services.runs.views import progress, run_list, run_tables
from backend.services.runs.views import run_page as run_view
from backend.services.runs.views.run_page import RunPageQuery
from backend.web.api_common import Where
from backend.web.dependencies import SessionDep
from backend.web.page_common import (
    Cursor,
    Id,
    OrderDep,
    Text,
    changed_fields,
    is_later_page,
    known_order,
    next_page,
    page_router,
    redirect,
)
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
MOST_RUNS = 10_000
"""Rows of a table of runs."""
EXPORTS = {
    "jsonl": "JSON lines",
    "zip": "ZIP with a table of episodes",
    "osworld": "OSWorld results folder (ZIP)",
    "inspect": "Inspect log (.eval)",
    "atif": "ATIF trajectories (ZIP)",
}
"""Formats of an exported run, for its menu."""


async def list_filters(  # noqa: PLR0913 - one parameter per filter in the address
    *,
    q: Text = "",
    benchmark: Text = "",
    agent: Text = "",
    configuration: UUID | None = None,
    status: Text = "",
    purpose: Text = "",
) -> dict[str, str]:
    """The filters of a list of runs."""
    filters = {"q": q, "benchmark": benchmark, "agent": agent, "status": status, "purpose": purpose}
    return {**filters, "configuration": str(configuration or "")}


FiltersDep = Annotated[dict[str, str], Depends(list_filters)]


@router.get("/runs.csv")
def run_table(session: SessionDep, write: TableDep, filters: FiltersDep) -> Response:
    """The newest runs of the list as a table."""
    return write("runs", run_list.RUN_HEAD, run_list.table_rows(session, filters, MOST_RUNS))


@router.get("/runs")
def runs(
    request: Request, session: SessionDep, filters: FiltersDep, order: OrderDep, before: Cursor = None
) -> HTMLResponse:
    """The filterable list of runs."""
    order = known_order(order, run_list.RUN_COLUMNS)
    page = run_list.run_list(session, filters, before, order=order)
    values = {"list": page, "filters": filters, "statuses": list(RunState), "by": run_list.RUN_COLUMNS}
    values |= {"next": next_page(order, before=page.next), "begun": is_later_page(order, before)}
    return render(request, "runs.html", values)


@router.get("/runs/{run_id}")
def run(  # noqa: PLR0913 - same
    request: Request,
    session: SessionDep,
    run_id: Id,
    *,
    domain: Text = "",
    difficulty: Text = "",
    outcome: Text = "",
    where: Where = (),
    q: Text = "",
    row: Text = "",
    column: Text | None = None,
    passes: Annotated[bool, Query(description="List the episodes of its other passes, too.")] = False,  # noqa: FBT002 - a switch
    order: OrderDep,
    after: Cursor = None,
) -> HTMLResponse:
    filters = {"domain": domain, "difficulty": difficulty, "outcome": outcome, "q": q}
    order = known_order(order, run_view.EPISODE_COLUMNS)
    pooled = pass_rollups.passes_of(session, run_id)
    together = passes and len(pooled) > 1
    others = [each for each in pooled if each != run_id] if together else []
    page = run_view.run_page(session, run_id, RunPageQuery(filters, where, after, row, column, order, others))
    means = {} if page.unrated else progress.measures(session, [run_id]).get(run_id, {})
    filters |= {"passes": "true" if together else ""}
    values = {"page": page, "run": page.run, "filters": {**filters, "where": list(where)}}
    values |= {"next": next_page(order, after=page.episodes.next), "begun": is_later_page(order, after)}
    values["by"] = run_view.EPISODE_COLUMNS
    values |= {"exports": EXPORTS, "passes": pooled, "together": together}
    return render(request, "run.html", {**values, "means": means, "measures": in_order(list(means)), "info": info})


@router.get("/runs/{run_id}/labels.csv")
def label_table(
    session: SessionDep, write: TableDep, run_id: Id, row: Text = "", column: Text | None = None
) -> Response:
    """The heat map: episodes by the values of one or two labels."""
    rows = run_tables.matrix_rows(session, run_id, row, column)
    return write(f"run-{run_id}-labels", run_tables.MATRIX_HEAD, rows)


@router.get("/runs/{run_id}/losses.csv")
def loss_table(session: SessionDep, write: TableDep, run_id: Id) -> Response:
    """Infrastructure failures by class, code and reason."""
    return write(f"run-{run_id}-losses", run_tables.LOSS_HEAD, run_tables.loss_rows(session, run_id))


@router.get("/runs/{run_id}/models.csv")
def model_table(session: SessionDep, write: TableDep, run_id: Id) -> Response:
    """Calls by part of the agent."""
    return write(f"run-{run_id}-models", run_tables.MODEL_HEAD, run_tables.model_rows(session, run_id))


@router.post("/runs/{run_id}/scheduling")
def change_scheduling(  # noqa: PLR0913 - the form's fields
    session: SessionDep,
    run_id: Id,
    *,
    priority: Annotated[str, Form()],
    concurrency: Annotated[str, Form()] = "",
    run_usd: Annotated[str, Form()] = "",
    run_tokens: Annotated[str, Form()] = "",
    run_desktop_hours: Annotated[str, Form()] = "",
    shown_priority: Annotated[str, Form()] = "",
    shown_concurrency: Annotated[str, Form()] = "",
    shown_budget: Annotated[str, Form()] = "",
) -> RedirectResponse:
    """Changes priority, parallel limit and budget. An empty limit means none; unedited fields stay."""
    budget = {"run_usd": run_usd, "run_tokens": run_tokens, "run_desktop_hours": run_desktop_hours}
    values_before = {"priority": shown_priority, "concurrency": shown_concurrency}
    values_before |= dict(zip(budget, [*shown_budget.split(","), "", "", ""], strict=False))
    changes = changed_fields({"priority": priority, "concurrency": concurrency, **budget}, values_before)
    try:
        tuning = SchedulingUpdate.model_validate({name: value or None for name, value in changes.items()})
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(problem_words(first), code="invalid_request", path=str(first["loc"][0])) from None
    update_scheduling(session, run_id, tuning)
    return redirect(f"/runs/{run_id}#scheduling")


@router.post("/runs/{run_id}/{move}")
def command(session: SessionDep, run_id: Id, move: str) -> RedirectResponse:
    """Pause, resume, cancel, retry or close, from the buttons of the page."""
    moves: dict[str, Callable[[Session, UUID], object]] = {
        "pause": service.pause_run,
        "resume": service.resume_run,
        "cancel": service.cancel_run,
        "retry": service.retry_run,
        "close": service.close_run,
    }
    if move not in moves:
        raise NotFound(f"a run has no command {move!r}", code="unknown_command", hint=f"It has {', '.join(moves)}.")
    moves[move](session, run_id)
    return redirect(f"/runs/{run_id}")
