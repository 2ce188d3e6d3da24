"""`/public/{token}` and `/embed/{token}`: one view of a board for everybody who has the link; nothing else."""

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from backend.addresses import EMBED_PATH, PUBLIC_PATH
from backend.db.project_scope import narrow_to
from backend.domain.errors import NotAllowed
from backend.services.sharing.public_links import SharedBoard, shared_board
from backend.web.dependencies import EdgeDep, NodePricesDep, SessionDep
from backend.web.page_common import page_router
from backend.web.results.leaderboard_page import board_values
from backend.web.templating import render

router = page_router()
Token = Annotated[str, Path(max_length=100)]


def open_board(session: Session, token: str) -> SharedBoard:
    """The board of the token; the rest of the request sees its project's rows only. Raises as `shared_board`."""
    shared = shared_board(session, token)
    narrow_to(shared.project_id)
    return shared


@router.get(f"{PUBLIC_PATH}{{token}}")
def public_board(request: Request, session: SessionDep, prices: NodePricesDep, token: Token) -> HTMLResponse:
    """The view, without links into the installation."""
    shared = open_board(session, token)
    values = board_values(session, shared.link.benchmark, shared.query, prices)
    return render(request, "leaderboard.html", {**values, "link": shared.link, "ignored": shared.ignored})


@router.get(f"{EMBED_PATH}{{token}}")
def embedded_board(
    request: Request, session: SessionDep, edge: EdgeDep, prices: NodePricesDep, token: Token
) -> HTMLResponse:
    """A shared leaderboard for a frame; `theme` in the address is `light` or `dark`."""
    if not edge.settings.embed_origins:
        raise NotAllowed(
            "This installation does not let other sites show its boards.",
            code="embedding_not_allowed",
            hint="Its operator names these sites in DESKARENA_EMBED_ORIGINS.",
        )
    return public_board(request, session, prices, token)
