"""`/wall`: live screens for a large display."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from backend.services.runs.views.run_rows import tiles
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()
MOST_TILES = 40
"""Screens at a time."""
MOST_LISTED = 400
"""Screens that the wall goes through."""
SIZES = (1, 2, 4, 6, 9, 12, 16, 20, 30, MOST_TILES)
PAUSES = (10, 15, 30, 60)


class WallQuery(BaseModel):
    """Query of a wall of live screens.

    Attributes:
        q: searched for in tasks, configurations and names of runs.
        run: of this run only.
        tiles: screens at a time.
        every: seconds after which the next ones are shown.
    """

    q: str = Field(default="", max_length=200)
    run: UUID | None = None
    tiles: int = Field(default=MOST_TILES, ge=1, le=MOST_TILES)
    every: int = Field(default=15, ge=5, le=3600)


@router.get("/wall")
def wall(request: Request, session: SessionDep, query: Annotated[WallQuery, Query()]) -> HTMLResponse:
    """Live screens that fill the window, a number of them at a time."""
    values = {
        "shown": tiles(session, run_id=query.run, words=query.q.strip(), limit=MOST_LISTED),
        "filters": query,
        "sizes": sorted({*SIZES, query.tiles}),
        "pauses": sorted({*PAUSES, query.every}),
    }
    return render(request, "wall.html", values)
