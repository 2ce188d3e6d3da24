"""`/episodes/{id}`: live view and replay of an episode."""

from typing import Annotated, Self
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, model_validator

from backend.db.session import read_only
from backend.domain.errors import NotFound
from backend.domain.model.judge_config import JudgeConfig
from backend.services.accounts.projects import LONGEST_NAME, person_name
from backend.services.attempts import reevaluation
from backend.services.attempts.reevaluation import By
from backend.services.export import video_encoder, videos
from backend.services.results.failure_labels import MOST
from backend.services.results.views import failures
from backend.services.runs import episode_comments
from backend.services.runs.views import progress
from backend.services.runs.views.episode_page import episode_page, selected_attempt
from backend.services.runs.views.step_list import PART, steps_between
from backend.services.runs.views.task_history import latest_in_other_runs
from backend.web.dependencies import ActorDep, EdgeDep, ProjectDep, SessionDep
from backend.web.export.videos_api import ensure_video
from backend.web.page_common import Id, page_router, redirect
from backend.web.results.failures_page import Person, Seed
from backend.web.templating import render

router = page_router()
AttemptNumber = Annotated[int | None, Query(ge=1, le=10_000)]


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
    attempt: AttemptNumber = None,
    step: Annotated[int | None, Query(ge=0, le=100_000)] = None,
    person: Person = "",
    sample: Annotated[int | None, Query(ge=1, le=MOST)] = None,
    seed: Seed = 0,
) -> HTMLResponse:
    """Live view, then replay. The address has attempt and step, so that a link shows exactly the same."""
    page = episode_page(session, episode_id, attempt, step)
    following = step is None and page.attempt is not None and page.attempt.live
    failed = (
        None
        if page.unrated
        else failures.panel(session, episode_id, person=person_name(session, person), number=sample, seed=seed)
    )
    attempt_id = None if page.unrated or page.attempt is None else page.attempt.id
    process = None if attempt_id is None else progress.episode_process(session, attempt_id, page.steps.acted)
    values = {
        "layout": "base.html",
        "process": process,
        "others": [] if page.unrated else latest_in_other_runs(session, page.episode),
        "page": page,
        "following": following,
        "asked": attempt,
        "failed": failed,
        "comments": [] if page.unrated else episode_comments.comments(session, episode_id),
        "commenter": person_name(session, person),
        "video": videos.find(session, page.attempt.id) if page.attempt else None,
        "makes_videos": video_encoder.available(),
    }
    return render(request, "episode.html", values)


@router.get("/episodes/{episode_id}/steps")
def steps(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    episode_id: Id,
    *,
    attempt: AttemptNumber = None,
    first: Annotated[int, Query(ge=0, le=100_000)] = 0,
    after: Annotated[int | None, Query(ge=-1, le=100_000)] = None,
) -> HTMLResponse:
    """A part of the list of steps; with `after`, what is new of a live episode: its result and later steps."""
    values = {"base": f"/episodes/{episode_id}", "asked": attempt}
    if after is None:
        selected = selected_attempt(session, episode_id, attempt)
        rows = steps_between(session, selected.id, first, first + PART - 1)
        return render(request, "step_rows.html", {**values, "steps": rows})
    page = episode_page(session, episode_id, attempt)
    fresh = steps_between(session, page.attempt.id, after + 1, after + PART) if page.attempt else []
    return render(request, "episode.html", {**values, "layout": "episode_news.html", "page": page, "fresh": fresh})


@router.get("/episodes/{episode_id}/steps/{number}")
def step_detail(
    request: Request,
    session: SessionDep,
    episode_id: Id,
    number: Annotated[int, Path(ge=0, le=100_000)],
    *,
    attempt: AttemptNumber = None,
) -> HTMLResponse:
    """Details of one step: prompt, reply, reasoning, times, tokens, cost."""
    for step in steps_between(session, selected_attempt(session, episode_id, attempt).id, number, number):
        return render(request, "step_detail.html", {"step": step})
    raise NotFound(f"this attempt has no step {number}", code="step_not_found")


@router.post("/episodes/{episode_id}/comments")
def comment(
    session: SessionDep,
    project: ProjectDep,
    episode_id: Id,
    *,
    text: Annotated[str, Form(max_length=4 * episode_comments.LONGEST)],
    person: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> RedirectResponse:
    """Store a comment; `#step-12` in it links a step."""
    written = episode_comments.add(session, project, episode_id, person=person, text=text)
    return _comments_of(episode_id, written.person)


@router.post("/episodes/{episode_id}/comments/{comment_id}/delete")
def delete_comment(
    session: SessionDep,
    project: ProjectDep,
    episode_id: Id,
    comment_id: Id,
    *,
    person: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> RedirectResponse:
    """Delete a comment of one's own."""
    episode_comments.delete(session, project, episode_id, comment_id, person=person)
    return _comments_of(episode_id, person)


def _comments_of(episode_id: UUID, person: str) -> RedirectResponse:
    return redirect(f"/episodes/{episode_id}?{urlencode({'person': person})}#comments")


@router.post("/episodes/{episode_id}/rescore")
def score_again(
    session: SessionDep, actor: ActorDep, episode_id: Id, form: Annotated[ReevaluationForm, Form()]
) -> RedirectResponse:
    """Score the stored evidence again, from the page; verdicts of newer tasks and other judges are only shown."""
    reevaluation.request(session, episode_id, actor, form.wish())
    return redirect(f"/episodes/{episode_id}")


@router.post("/episodes/{episode_id}/video")
def make_video(edge: EdgeDep, episode_id: Id, *, attempt: AttemptNumber = None) -> RedirectResponse:
    """Make the video of an attempt (default: the newest); the page then links it."""
    with read_only(edge.factory) as session:
        selected = selected_attempt(session, episode_id, attempt)
    ensure_video(edge, selected.id)
    return redirect(f"/episodes/{episode_id}" + (f"?attempt={attempt}" if attempt else ""))
