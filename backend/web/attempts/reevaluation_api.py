"""Evaluations of an episode, and re-evaluation of stored evidence."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Request
from pydantic import Field

from backend.domain.model.judge_config import JudgeConfig
from backend.services.attempts import reevaluation as service
from backend.services.attempts.views import RescoreRefusal, RescoreView, RunRescore, rescore_view
from backend.services.runs import episodes as episode_service
from backend.services.runs import runs as run_service
from backend.services.runs.views.attempt import EvaluationView, evaluation_view
from backend.web.api_common import Id, Limit, Page, RequestModel, api_router, next_page_url
from backend.web.dependencies import ActorDep, SessionDep

router = api_router("rescoring")


class RescoreBody(RequestModel):
    """Which task and which judge to use, and whether the verdict counts."""

    task_set: Literal["own", "latest"] = Field(
        default="own", description="`latest`: the task of the same key in the newest task set of the benchmark."
    )
    make_current: bool | None = Field(
        default=None,
        description="Whether the new score counts. By default it does, unless another task or another judge gives it.",
    )
    judge: JudgeConfig | None = Field(
        default=None,
        description="A model that looks at the kept pictures, for tasks that a model judges; null: what its own judge "
        "said is kept.",
    )

    @property
    def wish(self) -> service.ReevaluationOptions:
        return service.ReevaluationOptions(self.task_set, self.make_current, self.judge)


@router.get("/episodes/{episode_id}/evaluations")
def evaluations(session: SessionDep, episode_id: Id) -> Page[EvaluationView]:
    """List every evaluation of every attempt of an episode, oldest first, with what was checked and its evidence."""
    episode_service.get_episode(session, episode_id)
    attempts = [row.id for row in episode_service.attempts(session, episode_id)]
    rows = episode_service.evaluations(session, attempts)
    return Page[EvaluationView](items=[evaluation_view(row) for row in rows])


@router.post("/episodes/{episode_id}/rescore", status_code=202)
def rescore_episode(
    session: SessionDep, actor: ActorDep, episode_id: Id, body: RescoreBody | None = None
) -> RescoreView:
    """Score an episode's stored evidence again, without a desktop. An identical waiting request is returned.

    Works for an episode lost without a verdict, too: it waits again, and is scored if there is a verdict now.
    """
    return rescore_view(service.request(session, episode_id, actor, (body or RescoreBody()).wish))


@router.get("/episodes/{episode_id}/rescores")
def episode_rescores(session: SessionDep, episode_id: Id) -> Page[RescoreView]:
    """List the requests to score an episode again, oldest first, with old and new score."""
    episode_service.get_episode(session, episode_id)
    return Page[RescoreView](items=[rescore_view(row) for row in service.listing(session, episode_id=episode_id)])


@router.post("/runs/{run_id}/rescore", status_code=202)
def rescore_run(session: SessionDep, actor: ActorDep, run_id: Id, body: RescoreBody | None = None) -> RunRescore:
    """Score again every episode of a run with a score or without only the verdict. The others are refused."""
    rows, refused = service.request_run(session, run_id, actor, (body or RescoreBody()).wish)
    return RunRescore(
        run=run_id,
        rescores=[rescore_view(row) for row in rows],
        refused=[RescoreRefusal.model_validate(refusal) for refusal in refused],
    )


@router.get("/runs/{run_id}/rescores")
def run_rescores(
    request: Request,
    session: SessionDep,
    run_id: Id,
    cursor: Annotated[UUID | None, Query(description="From `next` of the part before.")] = None,
    limit: Limit = 100,
) -> Page[RescoreView]:
    """List the requests to score episodes of a run again, oldest first, with old and new score."""
    run_service.get_run(session, run_id)
    rows = service.listing(session, run_id=run_id, after=cursor, limit=limit)
    more = next_page_url(request, str(rows[-1].rescore.id)) if len(rows) == limit else None
    return Page[RescoreView](items=[rescore_view(row) for row in rows], next=more)
