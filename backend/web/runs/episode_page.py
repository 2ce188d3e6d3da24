"""`/episodes/{id}`: live view and replay of an episode."""

from typing import Annotated, Self

from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, model_validator

from backend.domain.model.judge_config import JudgeConfig
from backend.services.attempts import reevaluation
from backend.services.attempts.reevaluation import By
from backend.services.results.failure_labels import MOST
from backend.services.results.views import failures
from backend.services.runs.views import progress
from backend.services.runs.views.episode_page import episode_page
from backend.web.dependencies import ActorDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.results.failures_page import Person, Seed
from backend.web.templating import render

router = page_router()


class ReevaluationForm(BaseModel):
    """Forms of re-evaluation; with `judge_model`, that model judges the stored pictures."""

    by: By = "own"
    judge_model: str = ""
    judge_endpoint: str = "openai"
    judge_votes: int = 1
    judge_temperature: float = 0.0

    @model_validator(mode="after")
    def is_a_judge(self) -> Self:
        """Raises ValueError if there is no such judge."""
        self.wish()
        return self

    def wish(self) -> reevaluation.ReevaluationOptions:
        """The options for the service, which decides whether the verdict counts."""
        model = self.judge_model.strip()
        if not model:
            return reevaluation.ReevaluationOptions(self.by)
        judge = JudgeConfig(
            endpoint=self.judge_endpoint.strip(),
            model=model,
            votes=self.judge_votes,
            temperature=self.judge_temperature,
        )
        return reevaluation.ReevaluationOptions(self.by, judge=judge)


@router.get("/episodes/{episode_id}")
def episode(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    episode_id: Id,
    *,
    attempt: Annotated[int | None, Query(ge=1, le=10_000)] = None,
    step: Annotated[int | None, Query(ge=0, le=100_000)] = None,
    person: Person = "",
    sample: Annotated[int | None, Query(ge=1, le=MOST)] = None,
    seed: Seed = 0,
) -> HTMLResponse:
    """Live view, then replay. The address has attempt and step, so that a link shows exactly the same."""
    page = episode_page(session, episode_id, attempt)
    following = step is None and page.attempt is not None and page.attempt.live
    chosen = next((each for each in page.steps if each.index == step), page.steps[-1] if page.steps else None)
    failed = None if page.unrated else failures.panel(session, episode_id, person=person, number=sample, seed=seed)
    shown = None if page.unrated or page.attempt is None else page.attempt.id
    process = None if shown is None else progress.episode_process(session, shown, page.acted)
    values = {
        "process": process,
        "page": page,
        "step": chosen,
        "following": following,
        "asked": attempt,
        "failed": failed,
    }
    return render(request, "episode.html", values)


@router.post("/episodes/{episode_id}/rescore")
def score_again(
    session: SessionDep, actor: ActorDep, episode_id: Id, form: Annotated[ReevaluationForm, Form()]
) -> RedirectResponse:
    """Score the stored evidence again, from the page; verdicts of newer tasks and other judges are only shown."""
    reevaluation.request(session, episode_id, actor, form.wish())
    return redirect(f"/episodes/{episode_id}")
