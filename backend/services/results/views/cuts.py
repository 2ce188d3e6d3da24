"""Results cut by a label of the tasks: of one run, and of every row of a board. Stored roll-ups only."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.results import rollups as repository
from backend.domain.errors import NotFound
from backend.domain.model.label_filter import order_values
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results import measure_rollups
from backend.services.results.board_rows import BoardRow
from backend.services.results.leaderboards import board_version, leaderboard
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.rollups import summary_of
from backend.services.results.views.leaderboard_models import NotRankedView
from backend.services.runs.runs import get_run
from backend.services.runs.summary import RunSummary


class CutCell(ReadModel):
    """Results of the tasks with one value of a label."""

    value: str = Field(examples=["L2"])
    summary: RunSummary
    measures: dict[str, MeasureMean] = Field(default={})


class RunCut(ReadModel):
    """A run cut by a label."""

    run_id: UUID
    label: str = Field(examples=["level"])
    as_of: datetime | None = Field(description="When the figures were computed; null: not yet.")
    cells: list[CutCell]


class BoardCutRow(ReadModel):
    """One row of a board, cut by a label."""

    configuration: ConfigurationRef
    runs: list[UUID] = Field(description="All its runs; the first stands for all.")
    reference: str = Field(description="`floor`, `privileged`, `human` or empty.")
    reasons: list[NotRankedView] = Field(description="Why it is not ranked on the board; empty if it is.")
    cells: dict[str, CutCell] = Field(description="By value of the label.")


class BoardCut(ReadModel):
    """A leaderboard cut by a label.

    `values` are in the order of columns; `labels` are those by which the board can be cut, with numbers of tasks.
    """

    benchmark: str
    version: int
    label: str
    values: list[str]
    labels: LabelCounts
    primary: str = Field(description="Measure that ranks, or `score`.")
    measures: list[str]
    as_of: datetime | None
    stale: bool
    rows: list[BoardCutRow]


def run_cut(session: Session, run_id: UUID, label: str) -> RunCut:
    """A run by the values of a label. Raises NotFound: no such run, or no task of its has the label."""
    run = get_run(session, run_id)
    rows = {row.key: row for row in repository.of_runs(session, [run_id], [label])}
    means = measure_rollups.of_runs(session, [run_id], [label]).get(run_id, {}).get(label, {})
    if not rows and run.rollup_as_of is not None:
        raise _no_label(label)
    cells = [
        CutCell(value=value, summary=summary_of(rows[value]), measures=dict(means.get(value, {})))
        for value in order_values(rows)
    ]
    return RunCut(run_id=run_id, label=label, as_of=run.rollup_as_of, cells=cells)


def board_cut(session: Session, benchmark: str, label: str = "", *, version: int | None = None) -> BoardCut:
    """A leaderboard by the values of a label (default: the first by which its tasks differ). Raises NotFound."""
    labels = label_counts(board_version(session, benchmark, version))
    if label and label not in labels:
        raise _no_label(label, *labels)
    label = label or next(iter(labels), "domain")
    board = leaderboard(session, benchmark, version=version, dimensions=[label])
    rows = [_row(row, label) for row in board.rows if row.summary.mean_score is not None]
    return BoardCut(
        benchmark=board.benchmark.name,
        version=board.task_set.version,
        label=label,
        values=order_values({value for row in rows for value in row.cells}),
        labels=labels,
        primary=board.primary,
        measures=board.measures,
        as_of=board.as_of,
        stale=board.stale,
        rows=rows,
    )


def _row(row: BoardRow, label: str) -> BoardCutRow:
    means = row.measures.get(label, {})
    return BoardCutRow(
        configuration=configuration_ref(row.agent),
        runs=row.runs,
        reference=row.reference,
        reasons=[NotRankedView.model_validate(reason) for reason in row.reasons],
        cells={
            value: CutCell(value=value, summary=summary, measures=dict(means.get(value, {})))
            for value, summary in row.by.get(label, {}).items()
        },
    )


def _no_label(label: str, *labels: str) -> NotFound:
    hint = f"Its labels: {', '.join(labels)}." if labels else "The benchmark's page lists its labels."
    return NotFound(f"the tasks have no label {label!r}", code="label_not_found", hint=hint)


HEAD = ("configuration", "run", "reference", "not_ranked", "label", "value", "tasks", "episodes", "scored", "lost",
        "success_rate", "success_low", "success_high", "mean_score", "mean_low", "mean_high")  # fmt: skip


def cut_rows(cut: BoardCut) -> Iterator[list[object]]:
    """The board as a table: one row per configuration and value, as HEAD names the columns."""
    for row in cut.rows:
        for value in cut.values:
            if value in row.cells:
                names = [row.configuration.name, str(row.runs[0]), row.reference, codes_of(row.reasons)]
                yield [*names, cut.label, value, *numbers(row.cells[value].summary)]


def codes_of(reasons: Sequence[NotRankedView]) -> str:
    """Codes of why a row is not ranked, for a table."""
    return " ".join(reason.code for reason in reasons)


def numbers(summary: RunSummary) -> list[object]:
    """Counts and rates of a cell, as the columns of HEAD from `tasks` on."""
    success, mean = summary.success_interval or ("", ""), summary.mean_interval or ("", "")
    counts = [summary.tasks, summary.episodes, summary.counts.scored, summary.counts.lost]
    rates = [summary.success_rate, *success, summary.mean_score, *mean]
    return [*counts, *("" if value is None else value for value in rates)]
