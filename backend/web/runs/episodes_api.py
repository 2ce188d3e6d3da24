"""Episodes, attempts, steps."""

from typing import Annotated

from fastapi import Query, Request

from backend.services.runs import episodes as service
from backend.services.scheduling.wait_reasons import explain
from backend.web.api_common import Id, Limit, api_router, next_page_url
from backend.web.attempts import schemas as own
from backend.web.dependencies import SessionDep
from backend.web.runs import schemas
from backend.web.runs import views as runs_views

router = api_router("episodes")


@router.get("/episodes/{episode_id}")
def show(session: SessionDep, episode_id: Id) -> schemas.EpisodeView:
    """Show an episode."""
    row = service.get_episode(session, episode_id)
    return runs_views.episode(row, explain(session, [row.episode]).get(row.episode.id))


@router.get("/episodes/{episode_id}/attempts")
def attempts(session: SessionDep, episode_id: Id) -> schemas.Page[own.AttemptView]:
    """List all attempts at an episode, the lost ones too, each with its evaluations."""
    service.get_episode(session, episode_id)
    rows = service.attempts(session, episode_id)
    items = runs_views.attempts(session, rows, service.evaluations(session, [row.id for row in rows]))
    return schemas.Page[own.AttemptView](items=items)


@router.get("/attempts/{attempt_id}")
def attempt(session: SessionDep, attempt_id: Id) -> own.AttemptView:
    """Show one attempt."""
    row = service.get_attempt(session, attempt_id)
    return runs_views.attempts(session, [row], service.evaluations(session, [row.id]))[0]


@router.get("/attempts/{attempt_id}/steps")
def steps(
    request: Request,
    session: SessionDep,
    attempt_id: Id,
    cursor: Annotated[int, Query(ge=-1, le=2**31, description="From `next` of the part before.")] = -1,
    limit: Limit = 100,
) -> schemas.Page[own.StepView]:
    """List an attempt's steps in order; the last may be the state that the agent left, without an action."""
    service.get_attempt(session, attempt_id)
    rows = service.steps(session, attempt_id, after=cursor, limit=limit)
    more = next_page_url(request, str(rows[-1].index)) if len(rows) == limit else None
    return schemas.Page[own.StepView](items=[runs_views.step(row) for row in rows], next=more)
