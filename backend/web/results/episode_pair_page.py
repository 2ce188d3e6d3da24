"""`/compare/episodes`: two episodes side by side."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse

from backend.services.results.views import episode_pair as service
from backend.web.dependencies import ActorDep, EdgeDep, SessionDep
from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()
Episodes = Annotated[list[UUID], Query(max_length=10)]
Sha256 = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]


@router.get("/compare/episodes")
def episodes(
    request: Request, session: SessionDep, episode: Episodes, at: Annotated[int | None, Query(ge=0)] = None
) -> HTMLResponse:
    """Both episodes at a row of their alignment, first where they diverge."""
    pair = service.episode_pair(session, episode)
    last = max(0, len(pair.rows) - 1)
    return render(request, "compare_episodes.html", {"pair": pair, "at": min(pair.start if at is None else at, last)})


@router.get("/compare/prompts")
def prompts(session: SessionDep, edge: EdgeDep, actor: ActorDep, first: Sha256, second: Sha256) -> PlainTextResponse:
    """Differences between two steps' prompts, as text."""
    text = service.prompt_difference(session, edge.store, actor, (first, second))
    return PlainTextResponse(text, headers={"Cache-Control": "private, max-age=3600"})
