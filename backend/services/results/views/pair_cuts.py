"""Boards and runs cut by two labels together. Stored roll-ups only: of pairs that somebody asked for."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.results import label_pairs as pair_repository
from backend.db.repositories.results import rollups as repository
from backend.db.repositories.runs.runs_view import task_set
from backend.domain.model.label_filter import order_values
from backend.domain.model.label_pair import LabelPair, values_of
from backend.services.benchmarks.labels import label_counts
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results import measure_rollups
from backend.services.results.board_rows import BoardRow
from backend.services.results.label_pairs import checked_pair
from backend.services.results.leaderboards import board_version, leaderboard
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.rollups import summary_of
from backend.services.results.views.cuts import HEAD, codes_of, numbers
from backend.services.results.views.leaderboard_models import NotRankedView
from backend.services.runs.runs import get_run
from backend.services.runs.summary import RunSummary


class PairCutCell(ReadModel):
    """Results of the tasks with one value of each label."""

    value: str = Field(examples=["L2"])
    by_value: str = Field(examples=["Student"])
    summary: RunSummary
    measures: dict[str, MeasureMean] = Field(default={})


class BoardPairCutRow(ReadModel):
    """One row of a board, cut by two labels."""

    configuration: ConfigurationRef
    runs: list[UUID] = Field(description="All its runs; the first stands for all.")
    reference: str = Field(description="`floor`, `privileged`, `human` or empty.")
    reasons: list[NotRankedView] = Field(description="Why it is not ranked on the board; empty if it is.")
    cells: list[PairCutCell]

    def cell(self, value: str, by_value: str) -> PairCutCell | None:
        """The cell of these values."""
        return next((cell for cell in self.cells if (cell.value, cell.by_value) == (value, by_value)), None)


class BoardPairCut(ReadModel):
    """A leaderboard cut by two labels; `values` and `by_values` are in the order of rows and columns."""

    benchmark: str
    version: int
    label: str = Field(examples=["level"])
    by: str = Field(examples=["persona"])
    values: list[str]
    by_values: list[str]
    computed: bool = Field(description="Workers compute this pair; if not, ask for it: `POST .../label-pairs`.")
    primary: str = Field(description="Measure that ranks, or `score`.")
    measures: list[str]
    as_of: datetime | None
    stale: bool = Field(description="Some figures are being computed.")
    rows: list[BoardPairCutRow]


class RunPairCut(ReadModel):
    """A run cut by two labels."""

    run_id: UUID
    label: str = Field(examples=["level"])
    by: str = Field(examples=["persona"])
    computed: bool = Field(description="Workers compute this pair.")
    as_of: datetime | None = Field(description="When the figures were computed; null: not yet.")
    cells: list[PairCutCell]


class _Orientation(NamedTuple):
    """Whether a reader wants the pair's second label as rows."""

    pair: LabelPair
    turned: bool

    def cells(
        self, summaries: Mapping[str, RunSummary], means: Mapping[str, Mapping[str, MeasureMean]]
    ) -> list[PairCutCell]:
        cells = []
        for key, summary in summaries.items():
            first, second = values_of(key)
            value, by_value = (second, first) if self.turned else (first, second)
            cells.append(
                PairCutCell(value=value, by_value=by_value, summary=summary, measures=dict(means.get(key, {})))
            )
        return cells


def board_pair_cut(
    session: Session, benchmark: str, label: str, by: str, *, version: int | None = None
) -> BoardPairCut:
    """A leaderboard by the values of two labels. Raises NotFound, Invalid for a pair that cannot be computed."""
    of_tasks = board_version(session, benchmark, version)
    pair = checked_pair(label_counts(of_tasks), label, by)
    computed = pair in pair_repository.of_benchmark(session, of_tasks.benchmark_id)
    board = leaderboard(session, benchmark, version=version, dimensions=[pair.dimension] if computed else [])
    side = _Orientation(pair, label != pair.first)
    rows = [_row(row, side) for row in board.rows if row.summary.mean_score is not None] if computed else []
    cells = [cell for row in rows for cell in row.cells]
    return BoardPairCut(
        benchmark=board.benchmark.name,
        version=board.task_set.version,
        label=label,
        by=by,
        values=order_values({cell.value for cell in cells}),
        by_values=order_values({cell.by_value for cell in cells}),
        computed=computed,
        primary=board.primary,
        measures=board.measures,
        as_of=board.as_of,
        stale=board.stale,
        rows=rows,
    )


def run_pair_cut(session: Session, run_id: UUID, label: str, by: str) -> RunPairCut:
    """A run by the values of two labels. Raises NotFound: no such run, or its tasks lack a label; Invalid."""
    run = get_run(session, run_id)
    pair = checked_pair(label_counts(task_set(session, run.task_set_id)), label, by)
    computed = pair in pair_repository.of_run(session, run_id)
    stored = repository.of_runs(session, [run_id], [pair.dimension]) if computed else []
    means = measure_rollups.of_runs(session, [run_id], [pair.dimension]).get(run_id, {}).get(pair.dimension, {})
    side = _Orientation(pair, label != pair.first)
    return RunPairCut(
        run_id=run_id,
        label=label,
        by=by,
        computed=computed,
        as_of=run.rollup_as_of,
        cells=side.cells({row.key: summary_of(row) for row in stored}, means),
    )


def _row(row: BoardRow, side: _Orientation) -> BoardPairCutRow:
    name = side.pair.dimension
    return BoardPairCutRow(
        configuration=configuration_ref(row.agent),
        runs=row.runs,
        reference=row.reference,
        reasons=[NotRankedView.model_validate(reason) for reason in row.reasons],
        cells=side.cells(row.by.get(name, {}), row.measures.get(name, {})),
    )


PAIR_HEAD = (*HEAD[: HEAD.index("tasks")], "by", "by_value", *HEAD[HEAD.index("tasks") :])


def pair_cut_rows(cut: BoardPairCut) -> Iterator[Sequence[object]]:
    """The board as a table: one row per configuration and cell, as PAIR_HEAD names the columns."""
    for row in cut.rows:
        names = [row.configuration.name, str(row.runs[0]), row.reference, codes_of(row.reasons)]
        for cell in row.cells:
            yield [*names, cut.label, cell.value, cut.by, cell.by_value, *numbers(cell.summary)]
