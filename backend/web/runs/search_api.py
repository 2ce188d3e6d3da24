"""Search over everything that has a page."""

from typing import Annotated

from fastapi import Query

from backend.services.runs.views.search import SearchResults
from backend.services.runs.views.search import search as search_everything
from backend.web.api_common import api_router
from backend.web.dependencies import SessionDep

router = api_router("search")


@router.get("/search")
def search(
    session: SessionDep,
    q: Annotated[str, Query(max_length=200, description="Words of a name, model or instruction, or an id.")] = "",
) -> SearchResults:
    """Search runs, configurations, tasks, episodes and pages; at most six of each kind."""
    return search_everything(session, q)
