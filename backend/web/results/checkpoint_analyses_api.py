"""WindowsWorld's analyses of the runs on a benchmark's leaderboard."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from backend.services.results import checkpoint_analyses as service
from backend.services.results.checkpoint_analyses import AnalysesView
from backend.web.api_common import Name, api_router
from backend.web.dependencies import SessionDep

router = api_router("leaderboards")
Runs = Annotated[
    list[UUID] | None, Query(max_length=service.MOST, description="Runs on the board; the newest if none.")
]


@router.get("/benchmarks/{name}/analyses")
def analyses(session: SessionDep, name: Name, run: Runs = None) -> AnalysesView:
    """Get S_int and S_final by level, persona and number of applications; step gap, latency, languages."""
    return service.analyses(session, name, run or ())
