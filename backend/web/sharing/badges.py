"""`/badge/{benchmark}/{configuration}.svg`, and the same of a public link."""

import hashlib
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from backend.addresses import PUBLIC_PATH
from backend.services.sharing.views.badges import BadgeText, Figures, badge_text
from backend.web.conditional_requests import is_known
from backend.web.dependencies import SessionDep
from backend.web.page_common import Id, page_router
from backend.web.results.leaderboard_page import QueryDep
from backend.web.sharing.badge_svg import badge_svg
from backend.web.sharing.public_pages import Token, open_board

router = page_router()
Show = Annotated[Figures, Query()]
SECONDS = 300
"""For which a browser or another site's cache need not ask again."""


@router.get("/badge/{benchmark}/{configuration_id}.svg")
def badge(  # noqa: PLR0913 - one parameter per part of the address
    request: Request, session: SessionDep, benchmark: str, configuration_id: Id, *, query: QueryDep, show: Show = "all"
) -> Response:
    """A row of a board, for pages of people who have the installation's token."""
    return _picture(request, badge_text(session, benchmark, query, configuration_id, show), "private")


@router.get(f"{PUBLIC_PATH}{{token}}/badge/{{configuration_id}}.svg")
def public_badge(
    request: Request, session: SessionDep, token: Token, configuration_id: Id, show: Show = "all"
) -> Response:
    """A row of the view that a public link opens, for any page."""
    shared = open_board(session, token)
    text = badge_text(session, shared.link.benchmark, shared.query, configuration_id, show)
    response = _picture(request, text, "public")
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _picture(request: Request, text: BadgeText, cache: str) -> Response:
    """The badge, or 304 if the reader has it already."""
    picture = badge_svg(text)
    tag = f'"{hashlib.sha256(picture.encode()).hexdigest()[:32]}"'
    headers = {"Cache-Control": f"{cache}, max-age={SECONDS}", "ETag": tag}
    if is_known(tag, request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return Response(picture, media_type="image/svg+xml", headers=headers)
