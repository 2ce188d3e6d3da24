"""What the REST API gives of core operations."""

from uuid import UUID

from pydantic import Field

from backend.web.runs.schemas import ResponseModel, RunSummaryView


class OperationView(ResponseModel):
    """A core operation."""

    name: str = Field(examples=["scale a picture"])
    alone: int = Field(description="Tasks that are this operation.")
    within: int = Field(description="Longer tasks that need it.")


class MasteryView(ResponseModel):
    """What a row's episodes of one operation come to; null where it has none."""

    operation: str
    alone: RunSummaryView | None
    within: RunSummaryView | None


class OperationRow(ResponseModel):
    """One row of the leaderboard."""

    run_id: UUID
    agent: str
    mark: str = Field(description="`floor`, `privileged`, `human` or empty.")
    cells: list[MasteryView]


class OperationBoardView(ResponseModel):
    """A benchmark's leaderboard by core operation."""

    benchmark: str
    version: int
    operations: list[OperationView]
    rows: list[OperationRow]
