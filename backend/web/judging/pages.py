"""`/judges`: judges, their agreement with people, and blind reviews."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import FormData

from backend.db.models import Actor, Project
from backend.db.models.enums import JudgeKind
from backend.domain.errors import DeskarenaError, Invalid
from backend.services.accounts.projects import LONGEST_NAME, person_name
from backend.services.accounts.projects import person as person_of
from backend.services.judging import reviews
from backend.services.judging import views as service
from backend.services.judging.judges import get_judge
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.runs.new_run_page import read_form, text
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
ANSWERS = {"yes": True, "no": False, "unsure": None}
Name = Annotated[str, Query(alias="as", max_length=LONGEST_NAME)]


@router.get("/judges")
def judges(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """All judges with their agreement."""
    return render(request, "judges.html", {"judges": service.judge_views(session, project)})


@router.get("/judges/{judge_id}")
def judge(request: Request, session: SessionDep, judge_id: Id) -> HTMLResponse:
    return show(request, session, judge_id)


def show(request: Request, session: Session, judge_id: UUID, error: DeskarenaError | None = None) -> HTMLResponse:
    """The page, with an error if there is one."""
    values = {"page": service.judge_page(session, judge_id), "people": reviews.PEOPLE, "most": service.SHOWN}
    return render(request, "judge.html", values | {"error": error}, status=error.status if error else 200)


@router.post("/judges/{judge_id}/sample")
def draw(
    request: Request,
    session: SessionDep,
    judge_id: Id,
    size: Annotated[int, Form(ge=1, le=reviews.MOST_DRAWN)] = 50,
    seed: Annotated[int, Form(ge=0, le=2**53)] = 0,
) -> Response:
    """Draw attempts for people."""
    try:
        reviews.draw(session, judge_id, size, seed)
    except Invalid as error:
        session.rollback()
        return show(request, session, judge_id, error)
    return redirect(f"/judges/{judge_id}#queue")


@router.get("/judges/{judge_id}/review")
def review(request: Request, session: SessionDep, project: ProjectDep, judge_id: Id, name: Name = "") -> HTMLResponse:
    """The next item for the named person; without a name, asks for it."""
    return ask(request, session, project, judge_id, name)


def ask(  # noqa: PLR0913, PLR0917 - what the edge gives, and what went wrong
    request: Request,
    session: Session,
    project: Project,
    judge_id: UUID,
    name: str,
    error: DeskarenaError | None = None,
) -> HTMLResponse:
    """The page of the next item, without the judge's verdict or the agent."""
    judge, task, name = get_judge(session, judge_id), None, person_name(session, name)
    if name:
        try:
            task = reviews.next_task(session, judge_id, person_of(session, project, name, path="as"))
        except Invalid as wrong:
            error, name = error or wrong, ""
    values = {
        "judge": judge,
        "name": name,
        "task": task,
        "progress": reviews.progress(session, judge),
        "tenths": reviews.TENTHS,
        "error": error,
    }
    return render(request, "review.html", values, status=error.status if error else 200)


@router.post("/judges/{judge_id}/review")
def answer(
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    judge_id: Id,
    *,
    form: FormData = Depends(read_form),  # noqa: B008, FAST002 - FormData is no type that Annotated could describe
) -> Response:
    """Stores a person's answer and shows the next item."""
    name = text(form, "as")
    try:
        keep(session, judge_id, person_of(session, project, name, path="as"), form)
    except DeskarenaError as error:
        session.rollback()
        return ask(request, session, project, judge_id, name, error)
    return next_address(judge_id, name)


def keep(session: Session, judge_id: UUID, person: Actor, form: FormData) -> None:
    """Stores the answer in the form of the judge's kind. Raises Invalid."""
    try:
        item = UUID(text(form, "item"))
    except ValueError as error:
        raise Invalid("expected the id of an item", code="invalid_request", path="item") from error
    if get_judge(session, judge_id).kind == JudgeKind.GRAPH:
        completion, logic = (tenth(form, name) for name in ("completion", "logic"))
        reviews.give_rating(session, judge_id, item, person, completion=completion, logic=logic)
        return
    verdicts = {}
    for key, value in form.items():
        if key.startswith("c."):
            if value not in ANSWERS:
                raise Invalid("expected yes, no or unsure", code="invalid_answer", path=key)
            verdicts[key.removeprefix("c.")] = ANSWERS[str(value)]
    reviews.give_verdicts(session, judge_id, item, person, verdicts)


def tenth(form: FormData, name: str) -> int:
    """A rating in tenths from the form. Raises Invalid."""
    try:
        return int(text(form, name))
    except ValueError as error:
        raise Invalid("expected 0, 10 .. 100", code="invalid_request", path=name) from error


def next_address(judge_id: UUID, name: str) -> RedirectResponse:
    """Address of the next item."""
    from urllib.parse import urlencode

    return redirect(f"/judges/{judge_id}/review?{urlencode({'as': name})}")


@router.get("/judges/{judge_id}/{table}.csv")
def table(session: SessionDep, write: TableDep, judge_id: Id, table: Literal["agreement", "answers"]) -> Response:
    """The numbers of the page; every answer."""
    view = service.judge_page(session, judge_id).judge
    rows = list(service.agreement_rows(view) if table == "agreement" else service.answer_rows(session, view))
    return write(f"judge-{judge_id}-{table}", list(rows[0]) if rows else [], [list(row.values()) for row in rows])
