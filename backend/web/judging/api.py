"""Judges: list, show, draw attempts for people, review them blind."""

from typing import Annotated

from fastapi import Query, Response

from backend.domain.errors import Invalid
from backend.services.accounts.projects import LONGEST_NAME, person
from backend.services.judging import reviews
from backend.services.judging.views import JudgeView, judge_page, judge_views, review_task_view
from backend.web.api_common import Id, Page, api_router
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.judging import schemas as own

router = api_router("judges")
By = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="Who judges.", examples=["ann"])]


@router.get("/judges")
def list_judges(session: SessionDep, project: ProjectDep) -> Page[JudgeView]:
    """List judges with their agreement with people, newest first."""
    return Page[JudgeView](items=judge_views(session, project))


@router.get("/judges/{judge_id}")
def show(session: SessionDep, judge_id: Id) -> JudgeView:
    """Show a judge with its agreement with people."""
    return judge_page(session, judge_id).judge


@router.post("/judges/{judge_id}/sample", status_code=201)
def draw(session: SessionDep, judge_id: Id, body: own.Draw) -> own.DrawResult:
    """Draw attempts for people; deterministic for the same attempts and seed."""
    return own.DrawResult(attempts_sampled=reviews.draw(session, judge_id, body.size, body.seed))


@router.get("/judges/{judge_id}/review")
def next_item(session: SessionDep, project: ProjectDep, judge_id: Id, by: By) -> own.ReviewQueue:
    """Get the next item for a person. Each item goes to two people, without the judge's verdict."""
    task = reviews.next_task(session, judge_id, person(session, project, by, path="by"))
    return own.ReviewQueue(task=task and review_task_view(task))


@router.post("/judges/{judge_id}/review", status_code=204)
def answer(session: SessionDep, project: ProjectDep, judge_id: Id, body: own.ReviewAnswer) -> Response:
    """Store a person's verdicts on an item. The latest ones count."""
    by = person(session, project, body.by, path="by")
    if body.verdicts is not None:
        reviews.give_verdicts(session, judge_id, body.item, by, body.verdicts)
    elif body.completion is not None and body.logic is not None:
        reviews.give_rating(session, judge_id, body.item, by, completion=body.completion, logic=body.logic)
    else:
        raise Invalid("expected verdicts, or completion and logic", code="invalid_answer", path="verdicts")
    return Response(status_code=204)
