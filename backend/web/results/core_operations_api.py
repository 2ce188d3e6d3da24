"""The leaderboard by core operation."""

from typing import Annotated

from fastapi import Query

from backend.services.results import core_operations as service
from backend.services.results.core_operations import OperationBoard
from backend.web.api_common import api_router
from backend.web.dependencies import SessionDep

router = api_router("leaderboards")
Version = Annotated[int | None, Query(ge=1, le=2**31, description="Of the task set; default: the newest.")]


@router.get("/leaderboards/{benchmark}/operations")
def operations(session: SessionDep, benchmark: str, version: Version = None) -> OperationBoard:
    """Get the board's rows by core operation: alone (its own tasks), within (longer tasks that need it)."""
    return service.operation_board(session, benchmark, version=version)
