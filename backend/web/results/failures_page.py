"""`/runs/{id}/failures`: failure labels of a run, and the form on a failed episode's page."""

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from backend.domain.judging.failure_labels import label
from backend.domain.model.outcome_style import ENDED_LABELS
from backend.services.accounts.projects import LONGEST_NAME, person_name
from backend.services.results import failure_labels as service
from backend.services.results.views import failures as tables
from backend.services.runs.runs import get_run
from backend.web import charts
from backend.web.charts import failures as figures
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Number = Annotated[int, Query(ge=1, le=service.MOST)]
Seed = Annotated[int, Query(ge=0, le=2**31)]
Person = Annotated[str, Query(max_length=LONGEST_NAME)]


@router.get("/runs/{run_id}/failures")
def failures(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    run_id: Id,
    *,
    sample: Number = service.SAMPLE,
    seed: Seed = 0,
    person: Person = "",
) -> HTMLResponse:
    """A sample of the run's failures: shares of labels, agreement, and the episodes to judge."""
    draw = service.sample(session, run_id, number=sample, seed=seed)
    values = {
        "run": get_run(session, run_id),
        "found": draw,
        "sample": sample,
        "seed": seed,
        "person": person,
        "label": label,
        "ended_words": ENDED_LABELS,
        "library": charts.library_url(),
    }
    return render(request, "failures.html", values)


@router.get("/runs/{run_id}/failures.json")
def chart(
    session: SessionDep,
    run_id: Id,
    sample: Number = service.SAMPLE,
    seed: Seed = 0,
    theme: Literal["light", "dark"] = "light",
) -> JSONResponse:
    """The shares as a plotly figure."""
    draw = service.sample(session, run_id, number=sample, seed=seed)
    return JSONResponse(figures.figure(draw, theme))


@router.get("/runs/{run_id}/failures/{table}.csv")
def table(  # noqa: PLR0913, PLR0917 - one parameter per part of the address
    session: SessionDep,
    write: TableDep,
    run_id: Id,
    table: Literal["shares", "labels"],
    sample: Number = service.SAMPLE,
    seed: Seed = 0,
) -> Response:
    """Shares, or every label of every episode of the sample."""
    draw = service.sample(session, run_id, number=sample, seed=seed)
    head, rows = {
        "shares": (tables.SHARES_HEAD, tables.share_rows),
        "labels": (tables.ROWS_HEAD, tables.label_rows),
    }[table]
    return write(f"run-{run_id}-failure-{table}", head, rows(draw))


@router.post("/episodes/{episode_id}/failures")
def judge(  # noqa: PLR0913 - what the form has
    session: SessionDep,
    project: ProjectDep,
    episode_id: Id,
    *,
    person: Annotated[str, Form(min_length=1, max_length=LONGEST_NAME)],
    labels: Annotated[list[str] | None, Form(max_length=50)] = None,
    note: Annotated[str, Form(max_length=2000)] = "",
    sample: Annotated[int | None, Form(ge=1, le=service.MOST)] = None,
    seed: Annotated[int, Form(ge=0, le=2**31)] = 0,
) -> RedirectResponse:
    """Stores a person's labels; in a sample, continues with the next unjudged episode."""
    person = person_name(session, person).strip()
    failure = service.review(session, project, episode_id, person=person, labels=labels or [], note=note.strip())
    query: dict[str, str | int] = {"person": person}
    if sample is None:
        return redirect(f"/episodes/{episode_id}?{urlencode(query)}#why")
    query |= {"sample": sample, "seed": seed}
    after = tables.next_unjudged(session, failure, person, sample, seed)
    if after is None:
        return redirect(f"/runs/{failure.run_id}/failures?{urlencode(query)}")
    return redirect(f"/episodes/{after}?{urlencode(query)}#why")
