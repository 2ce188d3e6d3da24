"""Episodes, attempts, steps."""

from typing import Annotated

from fastapi import Query, Request

from backend.services.runs import episodes as service
from backend.services.runs import runs as run_service
from backend.services.runs.views.attempt import AttemptView, StepView, attempt_views, step_view
from backend.services.runs.views.episode import EpisodeView, episode_view
from backend.services.scheduling.wait_reasons import explain
from backend.web.api_common import Id, Limit, Page, api_router, next_page_url
from backend.web.dependencies import SessionDep

router = api_router("episodes")


@router.get("/episodes/{episode_id}")
def show(session: SessionDep, episode_id: Id) -> EpisodeView:
    """Show an episode."""
    row = service.get_episode(session, episode_id)
    run = run_service.get_run(session, row.episode.run_id)
    return episode_view(row, run.config, explain(session, [row.episode]).get(row.episode.id))


@router.get("/episodes/{episode_id}/attempts")
def attempts(session: SessionDep, episode_id: Id) -> Page[AttemptView]:
    """List all attempts of an episode, including lost ones, each with its evaluations."""
    service.get_episode(session, episode_id)
    rows = service.located_attempts(session, episode_id)
    items = attempt_views(rows, service.evaluations(session, [row.attempt.id for row in rows]))
    return Page[AttemptView](items=items)


@router.get("/attempts/{attempt_id}")
def attempt(session: SessionDep, attempt_id: Id) -> AttemptView:
    """Show one attempt."""
    row = service.located_attempt(session, attempt_id)
    return attempt_views([row], service.evaluations(session, [attempt_id]))[0]


@router.get("/attempts/{attempt_id}/steps")
def steps(
    request: Request,
    session: SessionDep,
    attempt_id: Id,
    cursor: Annotated[int, Query(ge=-1, le=2**31, description="From `next` of the part before.")] = -1,
    limit: Limit = 100,
) -> Page[StepView]:
    """List an attempt's steps in order; the last may be the final state, without an action."""
    service.get_attempt(session, attempt_id)
    rows = service.steps(session, attempt_id, after=cursor, limit=limit)
    more = next_page_url(request, str(rows[-1].index)) if len(rows) == limit else None
    return Page[StepView](items=[step_view(row) for row in rows], next=more)
