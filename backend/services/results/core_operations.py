"""Mastery of core operations: alone and inside longer tasks. See docs/benchmarks/prosoftarena.md."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import TaskSet
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results import pass_rollups
from backend.services.results.board_rows import BoardRow, with_rates
from backend.services.results.leaderboards import leaderboard
from backend.services.results.rollups import RollupInputs
from backend.services.runs.summary import RunSummary, summarise
from backend.services.runs.task_totals import task_totals

ALONE = "L1"
"""Level whose tasks are one operation each."""


class Operation(ReadModel):
    """A core operation."""

    name: str = Field(examples=["scale a picture"])
    alone: int = Field(description="Tasks that are this operation.")
    within: int = Field(description="Longer tasks that need it.")


class Mastery(ReadModel):
    """A row's result for one operation; null without episodes."""

    operation: str
    alone: RunSummary | None
    within: RunSummary | None


class OperationBoardRow(ReadModel):
    """One row of the leaderboard, by operation, in the order of the board's `operations`."""

    configuration: ConfigurationRef
    runs: list[UUID] = Field(description="All its runs, whose passes are pooled; the first stands for all.")
    reference: str = Field(description="`floor`, `privileged`, `human` or empty.")
    cells: list[Mastery]


class OperationBoard(ReadModel):
    """A benchmark's leaderboard by core operation."""

    benchmark: str
    version: int
    operations: list[Operation]
    rows: list[OperationBoardRow]


def operation_board(session: Session, benchmark: str, *, version: int | None = None) -> OperationBoard:
    """The leaderboard by core operation. A task with several counts for each of them.

    Args:
        session: the transaction.
        benchmark: its name.
        version: of the task set; default: the newest.
    """
    board = leaderboard(session, benchmark, version=version, dimensions=())
    operations = _operations(session, board.task_set)
    rows = [
        OperationBoardRow(
            configuration=configuration_ref(row.agent),
            runs=row.runs,
            reference=row.reference,
            cells=_cells(session, row, operations),
        )
        for row in (board.rows if operations else ())
    ]
    return OperationBoard(
        benchmark=board.benchmark.name, version=board.task_set.version, operations=operations, rows=rows
    )


def _operations(session: Session, task_set: TaskSet) -> list[Operation]:
    alone: dict[str, int] = {}
    within: dict[str, int] = {}
    for level, names in task_repository.operations(session, task_set.id):
        for name in names:
            counts = alone if level == ALONE else within
            counts[name] = counts.get(name, 0) + 1
    return [
        Operation(name=name, alone=alone.get(name, 0), within=within.get(name, 0)) for name in sorted({*alone, *within})
    ]


def _cells(session: Session, row: BoardRow, operations: Sequence[Operation]) -> list[Mastery]:
    pooled = pass_rollups.pool([RollupInputs(task_totals(session, run_id), {}) for run_id in row.runs])
    totals = [task for task in pooled.totals if task.extra.get("operations")]
    return [
        Mastery(
            operation=operation.name,
            alone=_summary(totals, operation.name, alone=True),
            within=_summary(totals, operation.name, alone=False),
        )
        for operation in operations
    ]


def _summary(totals: Sequence[TaskTotals], operation: str, *, alone: bool) -> RunSummary | None:
    tasks = [task for task in totals if operation in task.extra["operations"] and (task.level == ALONE) == alone]
    return with_rates(summarise(tasks), RollupInputs(tasks, {}).rates) if tasks else None


HEAD = ("configuration", "run", "reference", "operation", "where", "tasks", "episodes", "scored", "lost",
        "success_rate", "success_low", "success_high", "mean_score", "mean_low", "mean_high")  # fmt: skip


def rows(board: OperationBoard) -> Iterator[list[object]]:
    """The board as a table; `where` is `alone` or `within`, as HEAD names the columns."""
    for row in board.rows:
        for cell in row.cells:
            for where, summary in _places(cell).items():
                names = [row.configuration.name, str(row.runs[0]), row.reference, cell.operation, where]
                yield [*names, *_numbers(summary)]


def _places(cell: Mastery) -> Mapping[str, RunSummary]:
    return {name: summary for name, summary in (("alone", cell.alone), ("within", cell.within)) if summary is not None}


def _numbers(summary: RunSummary) -> list[object]:
    success, mean = summary.success_interval or ("", ""), summary.mean_interval or ("", "")
    counts = [summary.tasks, summary.episodes, summary.counts.scored, summary.counts.lost]
    rates = [summary.success_rate, *success, summary.mean_score, *mean]
    return [*counts, *("" if value is None else value for value in rates)]
