"""`/compare/failures`: why and how runs fail, side by side."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.domain.judging.failure_labels import LABELS
from backend.domain.model.outcome_style import ENDED_LABELS
from backend.services.results.failure_labels import SAMPLE
from backend.services.results.views.failure_breakdown import TABLES, TaskPasses, failure_breakdown
from backend.web.dependencies import SessionDep
from backend.web.page_common import Text, page_router
from backend.web.results.comparison_page import address
from backend.web.results.failures_page import Number, Seed
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
TASKS = 100
"""Tasks that the page lists."""
SHOWN: Mapping[str, Callable[[TaskPasses], bool]] = {
    "": lambda _: True,
    "fail": lambda task: not any(task.solved),
    "pass": lambda task: not task.failed,
    "flip": lambda task: task.flips,
}


@router.get("/compare/failures")
def failures(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    *,
    run: Annotated[list[UUID], Query(max_length=50)],
    label: Text = "",
    show: Literal["", "fail", "pass", "flip"] = "",
    sample: Number = SAMPLE,
    seed: Seed = 0,
) -> HTMLResponse:
    """Shares of labels, endings, and the tasks that all fail, all pass or flip."""
    breakdown = failure_breakdown(session, run, label or None, number=sample, seed=seed)
    tasks = [task for task in breakdown.tasks if SHOWN[show](task)]
    query = {"run": run, "label": label, "sample": sample if sample != SAMPLE else None, "seed": seed}
    values = {
        "breakdown": breakdown,
        "runs": run,
        "tasks": tasks[:TASKS],
        "total": len(tasks),
        "show": show,
        "sample": sample,
        "failure_labels": LABELS,
        "ended_words": ENDED_LABELS,
        "link": lambda **changes: address({**query, **changes}, "/compare/failures"),
    }
    return render(request, "compare_failures.html", values)


@router.get("/compare/failures/{table}.csv")
def table(  # noqa: PLR0913 - one parameter per part of the address
    session: SessionDep,
    write: TableDep,
    table: Literal["shares", "ends", "tasks"],
    *,
    run: Annotated[list[UUID], Query(max_length=50)],
    label: Text = "",
    sample: Number = SAMPLE,
    seed: Seed = 0,
) -> Response:
    """Shares of labels, endings, or every task."""
    head, rows = TABLES[table]
    return write(
        f"failure-{table}", head, rows(failure_breakdown(session, run, label or None, number=sample, seed=seed))
    )
