"""`/leaderboards/{benchmark}/operations`: core operations, alone and in longer tasks."""

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.services.results import core_operations as service
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Version = Annotated[int | None, Query(ge=1, le=2**31)]


@router.get("/leaderboards/{benchmark}/operations")
def operations(request: Request, session: SessionDep, benchmark: str, version: Version = None) -> HTMLResponse:
    """Rates by operation with their n and intervals."""
    board = service.operation_board(session, benchmark, version=version)
    return render(request, "operations.html", {"board": board, "version": version})


@router.get("/leaderboards/{benchmark}/operations.csv")
def table(session: SessionDep, write: TableDep, benchmark: str, version: Version = None) -> Response:
    """Rates by operation as a table."""
    board = service.operation_board(session, benchmark, version=version)
    return write(f"{benchmark}-operations", service.HEAD, service.rows(board))
