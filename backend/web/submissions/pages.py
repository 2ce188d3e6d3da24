"""`/compare/pairs` and `/leaderboards/{benchmark}/submissions`: ratings by pairwise comparison."""

from random import SystemRandom
from typing import Annotated
from uuid import UUID

from fastapi import Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from backend.db.models.enums import Preference
from backend.services.accounts.projects import LONGEST_NAME, person_name, person_or_local
from backend.services.submissions import pairwise_preferences as service
from backend.services.submissions import submissions
from backend.web.dependencies import EdgeDep, ProjectDep, SessionDep
from backend.web.file_responses import guest_file
from backend.web.page_common import Id, page_router, redirect
from backend.web.query_strings import with_query
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Person = Annotated[str, Query(max_length=LONGEST_NAME)]
HEAD = ("group", "contestant", "reference", "submissions", "tasks", "wins", "losses", "ties", "points", "points_low",
        "points_high", "preferred_over_expert")  # fmt: skip


@router.get("/compare/pairs")
def pairs(  # noqa: PLR0913, PLR0917 - what a page is made of
    request: Request,
    session: SessionDep,
    edge: EdgeDep,
    project: ProjectDep,
    benchmark: Annotated[str, Query(max_length=200)] = "",
    person: Person = "",
) -> HTMLResponse:
    """The next pair of submissions, side by side and anonymous."""
    names = service.benchmarks(session)
    name = benchmark or (names[0] if names else "")
    pair = service.next_pair(session, name, person_or_local(session, project, person), SystemRandom()) if name else None
    sides = [(work, submissions.submission_files(edge.store, work)) for work in (pair.left, pair.right)] if pair else []
    values = {"pair": pair, "sides": sides, "benchmark": name, "names": names, "person": person_name(session, person)}
    return render(request, "compare_pairs.html", values)


@router.post("/compare/pairs")
def choose(  # noqa: PLR0913, PLR0917 - the fields of a form
    session: SessionDep,
    project: ProjectDep,
    left: Annotated[UUID, Form()],
    right: Annotated[UUID, Form()],
    preferred: Annotated[Preference, Form()],
    benchmark: Annotated[str, Form(max_length=200)],
    person: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> RedirectResponse:
    """Stores the preference and shows the next pair."""
    service.choose(session, left, right, preferred, person_or_local(session, project, person))
    return redirect(with_query("/compare/pairs", {}, benchmark=benchmark, person=person or None))


@router.get("/compare/submissions/{submission_id}/{number}")
def file(
    session: SessionDep, edge: EdgeDep, submission_id: Id, number: Annotated[int, Path(ge=0, le=1000)]
) -> Response:
    """One file of a submission: a picture is shown, others are downloaded. Its name reveals nothing."""
    return guest_file(submissions.read_file(session, edge.store, submission_id, number), f"submission-{number + 1}")


@router.get("/leaderboards/{benchmark}/submissions")
def board(request: Request, session: SessionDep, benchmark: str) -> HTMLResponse:
    """Ratings of all agents and people whose submissions were compared."""
    return render(request, "submissions.html", {"board": service.board(session, benchmark)})


@router.get("/leaderboards/{benchmark}/submissions.csv")
def table(session: SessionDep, write: TableDep, benchmark: str) -> Response:
    """Ratings of compared submissions as a table."""
    return write(f"{benchmark}-submissions", HEAD, service.rows(service.board(session, benchmark)))
