"""Judges: list, show, draw attempts for people, review them blind."""

from typing import Annotated

from fastapi import Query, Response

from backend.domain.errors import Invalid
from backend.domain.statistics.intervals import Interval
from backend.services.accounts.projects import LONGEST_NAME, person
from backend.services.judging import reviews
from backend.services.judging import views as judging_views
from backend.services.judging.judge_agreement import Alpha, Level
from backend.services.judging.views import JudgePage
from backend.web.api_common import BASE, Id, Page, api_router
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.judging import schemas as own

router = api_router("judges")
By = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="Who judges.", examples=["ann"])]


@router.get("/judges")
def list_judges(session: SessionDep, project: ProjectDep) -> Page[own.JudgeView]:
    """List judges with their agreement with people, newest first."""
    items = [judge_view(page) for page in judging_views.judge_pages(session, project)]
    return Page[own.JudgeView](items=items, next=None)


@router.get("/judges/{judge_id}")
def show(session: SessionDep, judge_id: Id) -> own.JudgeView:
    """Show a judge and how far it agrees with people."""
    return judge_view(judging_views.judge_page(session, judge_id))


@router.post("/judges/{judge_id}/sample", status_code=201)
def draw(session: SessionDep, judge_id: Id, body: own.Draw) -> own.DrawResult:
    """Draw attempts for people; deterministic for the same attempts and seed."""
    return own.DrawResult(drawn=reviews.draw(session, judge_id, body.size, body.seed))


@router.get("/judges/{judge_id}/review")
def next_item(session: SessionDep, project: ProjectDep, judge_id: Id, by: By) -> own.ReviewQueue:
    """Get the next item for a person: each goes to two, without the judge's verdict."""
    task = reviews.next_task(session, judge_id, person(session, project, by, path="by"))
    return own.ReviewQueue(task=None if task is None else task_view(task))


@router.post("/judges/{judge_id}/review", status_code=204)
def answer(session: SessionDep, project: ProjectDep, judge_id: Id, body: own.ReviewAnswer) -> Response:
    """Store a person's verdicts on an item. The last ones count."""
    by = person(session, project, body.by, path="by")
    if body.verdicts is not None:
        reviews.give_verdicts(session, judge_id, body.item, by, body.verdicts)
    elif body.completion is not None and body.logic is not None:
        reviews.give_rating(session, judge_id, body.item, by, completion=body.completion, logic=body.logic)
    else:
        raise Invalid("expected verdicts, or completion and logic", code="invalid_answer", path="verdicts")
    return Response(status_code=204)


def judge_view(page: JudgePage) -> own.JudgeView:
    """The REST view of a judge."""
    judge, agreement = page.judge, page.agreement
    return own.JudgeView.model_validate(
        {
            "id": judge.id,
            "kind": judge.kind,
            "endpoint": judge.endpoint,
            "model": judge.model,
            "prompt_sha256": judge.prompt_sha256,
            "config": judge.config,
            "created_at": judge.created_at,
            "attempts_judged": page.progress.judged,
            "usd": page.cost.usd,
            "priced": page.cost.priced,
            "drawn": page.progress.items,
            "done": page.progress.done,
            "attempts_checked": agreement.attempts,
            "agreement": [level_view(level) for level in (agreement.whole, *agreement.levels)],
            "alpha_people": alpha_view(agreement.people),
            "alpha_with_judge": alpha_view(agreement.everybody),
            "correlations": [
                own.RatingCorrelation.model_validate(
                    {"measure": one.measure, "rating": one.rating, "r": coefficient(one.r, one.interval, one.n)}
                )
                for one in agreement.correlations
            ],
        }
    )


def level_view(level: Level) -> own.LevelAgreement:
    """Agreement on one level."""
    counts = level.counts
    return own.LevelAgreement(
        level=level.name,
        both_yes=counts.both,
        only_judge_yes=counts.only_judge,
        only_person_yes=counts.only_people,
        both_no=counts.neither,
        agreed=counts.agreed,
        kappa=coefficient(counts.kappa, level.interval, counts.n),
    )


def alpha_view(alpha: Alpha) -> own.Coefficient:
    """Krippendorff's alpha."""
    return coefficient(alpha.value, alpha.interval, alpha.n)


def coefficient(value: float | None, interval: Interval | None, n: int) -> own.Coefficient:
    """A coefficient with its interval."""
    return own.Coefficient(value=value, interval=tuple(interval) if interval else None, n=n)


def task_view(task: reviews.ReviewTask) -> own.ReviewTaskView:
    """An item without anything that is not to be seen."""
    return own.ReviewTaskView.model_validate(
        {
            "item": task.item,
            "kind": task.kind,
            "instruction": task.instruction,
            "criteria": [criterion.model_dump() for criterion in task.criteria],
            "steps": [
                {
                    "index": step.index,
                    "did": step.did,
                    "picture": f"{BASE}/artifacts/{step.picture.sha256}" if step.picture else None,
                    "final": step.final,
                }
                for step in task.steps
            ],
        }
    )
