"""The leaderboard by core operation."""

from typing import Annotated

from fastapi import Query

from backend.services.results import core_operations as service
from backend.services.runs.summary import RunSummary as Found
from backend.web.api_common import api_router
from backend.web.dependencies import SessionDep
from backend.web.results import core_operations_schemas as schemas
from backend.web.runs.schemas import RunSummaryView
from backend.web.runs.views import summary

router = api_router("leaderboards")
Version = Annotated[int | None, Query(ge=1, le=2**31, description="Of the task set; default: the newest.")]


@router.get("/leaderboards/{benchmark}/operations")
def operations(session: SessionDep, benchmark: str, version: Version = None) -> schemas.OperationBoardView:
    """Get the board's rows by core operation: alone (tasks that are it), within (longer tasks that need it)."""
    board = service.operation_board(session, benchmark, version=version)
    return schemas.OperationBoardView(
        benchmark=board.benchmark.name,
        version=board.task_set.version,
        operations=[
            schemas.OperationView(name=one.name, alone=one.alone, within=one.within) for one in board.operations
        ],
        rows=[
            schemas.OperationRow(
                run_id=line.row.run.id,
                agent=line.label,
                mark=line.row.mark,
                cells=[
                    schemas.MasteryView(operation=one.name, alone=_summary(cell.alone), within=_summary(cell.within))
                    for one, cell in zip(board.operations, line.cells, strict=True)
                ],
            )
            for line in board.lines
        ],
    )


def _summary(statistics: Found | None) -> RunSummaryView | None:
    return None if statistics is None else summary(statistics)
