"""Evaluations of an episode, and scoring stored evidence again."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Request
from pydantic import Field

from backend.domain.model.judge_config import JudgeConfig
from backend.services.attempts import reevaluation as service
from backend.services.attempts.reevaluation import RescoreRow
from backend.services.runs import episodes as episode_service
from backend.services.runs import runs as run_service
from backend.web.api_common import Id, Limit, api_router, next_page_url
from backend.web.attempts import schemas as own
from backend.web.dependencies import ActorDep, SessionDep
from backend.web.runs import schemas
from backend.web.runs import views as runs_views

router = api_router("rescoring")


class RescoreBody(schemas.RequestModel):
    """Which task and which model judge, and whether the verdict counts."""

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
        """For the service."""
        return service.ReevaluationOptions(self.task_set, self.make_current, self.judge)


class RescoreView(schemas.ResponseModel):
    """A request to score an episode's evidence again, with the old and the new score."""

    id: UUID
    episode_id: UUID
    attempt_id: UUID
    task: str = Field(examples=["files/copy-a-file"])
    task_set_version: int
    state: Literal["waiting", "done", "failed"]
    message: str = Field(default="", description="Why it failed, or what else the newer task has changed.")
    judge: JudgeConfig | None = Field(default=None, description="The model that looks at the kept pictures.")
    tries: int = Field(description="How often it came to no verdict, where there was none before.")
    old_score: float | None = Field(description="null: there was no verdict.")
    new_score: float | None = None
    old_evaluation: UUID
    new_evaluation: UUID | None = None
    make_current: bool
    created_at: datetime
    ended_at: datetime | None = None


class RescoreRefusal(schemas.ResponseModel):
    """An episode that cannot be scored again."""

    episode_id: UUID
    task: str
    reason: str


class RunRescore(schemas.ResponseModel):
    """What was asked for, and which episodes cannot be scored again."""

    run: UUID
    rescores: list[RescoreView]
    refused: list[RescoreRefusal]


def view(row: RescoreRow) -> RescoreView:
    """A request as it is shown."""
    rescore = row.rescore
    return RescoreView(
        id=rescore.id,
        episode_id=rescore.episode_id,
        attempt_id=rescore.attempt_id,
        task=row.task.key,
        task_set_version=row.task_set_version,
        state=rescore.state,
        message=rescore.message,
        judge=JudgeConfig.model_validate(rescore.judge) if rescore.judge else None,
        tries=rescore.tries,
        old_score=row.before,
        new_score=row.after,
        old_evaluation=rescore.before_id,
        new_evaluation=rescore.after_id,
        make_current=rescore.make_current,
        created_at=rescore.created_at,
        ended_at=rescore.ended_at,
    )


@router.get("/episodes/{episode_id}/evaluations")
def evaluations(session: SessionDep, episode_id: Id) -> schemas.Page[own.EvaluationView]:
    """List every evaluation of every attempt at an episode, oldest first, with what was checked and its evidence."""
    episode_service.get_episode(session, episode_id)
    attempts = [row.id for row in episode_service.attempts(session, episode_id)]
    rows = episode_service.evaluations(session, attempts)
    return schemas.Page[own.EvaluationView](items=[runs_views.evaluation(row) for row in rows])


@router.post("/episodes/{episode_id}/rescore", status_code=202)
def rescore_episode(
    session: SessionDep, actor: ActorDep, episode_id: Id, body: RescoreBody | None = None
) -> RescoreView:
    """Score an episode's stored evidence again, without a desktop. Asking twice while one waits is one request.

    Also an episode that was lost for want of a verdict: it waits again, and is scored if there is one this time.
    """
    return view(service.request(session, episode_id, actor, (body or RescoreBody()).wish))


@router.get("/episodes/{episode_id}/rescores")
def episode_rescores(session: SessionDep, episode_id: Id) -> schemas.Page[RescoreView]:
    """List the requests to score an episode again, oldest first, with old and new score."""
    episode_service.get_episode(session, episode_id)
    return schemas.Page[RescoreView](items=[view(row) for row in service.listing(session, episode_id=episode_id)])


@router.post("/runs/{run_id}/rescore", status_code=202)
def rescore_run(session: SessionDep, actor: ActorDep, run_id: Id, body: RescoreBody | None = None) -> RunRescore:
    """Score again every episode of a run that has a score or lacks only the verdict. The others are refused."""
    rows, refused = service.request_run(session, run_id, actor, (body or RescoreBody()).wish)
    return RunRescore(
        run=run_id,
        rescores=[view(row) for row in rows],
        refused=[RescoreRefusal(episode_id=one.episode_id, task=one.task, reason=one.reason) for one in refused],
    )


@router.get("/runs/{run_id}/rescores")
def run_rescores(
    request: Request,
    session: SessionDep,
    run_id: Id,
    cursor: Annotated[UUID | None, Query(description="From `next` of the part before.")] = None,
    limit: Limit = 100,
) -> schemas.Page[RescoreView]:
    """List the requests to score episodes of a run again, oldest first, with old and new score."""
    run_service.get_run(session, run_id)
    rows = service.listing(session, run_id=run_id, after=cursor, limit=limit)
    more = next_page_url(request, str(rows[-1].rescore.id)) if len(rows) == limit else None
    return schemas.Page[RescoreView](items=[view(row) for row in rows], next=more)
