"""The papers' tables with the installation's own rows below the published ones."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.results import leaderboards as repository
from backend.domain.benchmarks import (
    SHARE,
    STEPS,
    PaperColumn,
    PaperTable,
    ReportedFigure,
    paper_tables,
    reported_results,
)
from backend.domain.model.measures import info
from backend.domain.model.score import SCORE
from backend.services.benchmarks.labels import all_labels
from backend.services.read_model import ReadModel
from backend.services.results.board_rows import BoardRow
from backend.services.results.leaderboards import BenchmarkBoard, board_version, leaderboard
from backend.services.results.leaderboards import label as row_label
from backend.services.results.views.cuts import codes_of
from backend.services.results.views.leaderboard_models import NotRankedView

_OBVIOUS = "printed with drop "
"""Beginning of notes that only repeat the difference of two neighbours."""


class PaperCell(ReadModel):
    """One figure: as printed, or measured here over `tasks`; `mark` refers to a footnote."""

    text: str = Field(examples=["19.5"])
    value: float | None = Field(default=None, description="Measured here: a rate in [0, 1], or mean steps.")
    tasks: int | None = None
    mark: int | None = None
    where: str = Field(default="", description="`label=value` of its tasks; empty: all.")


class PaperRow(ReadModel):
    """An agent's figures of one measure; `run_id` is null in a published row."""

    agent: str
    inputs: str
    measure: str
    reference: str = ""
    reasons: list[NotRankedView] = Field(default=[], description="Why it is not ranked on the board; empty if it is.")
    run_id: UUID | None = None
    cells: list[PaperCell | None] = Field(description="In the order of the columns; null where there is no figure.")


class PaperTableView(ReadModel):
    """A paper's table: published rows in the paper's order, then the installation's own."""

    name: str
    title: str
    source: str
    note: str
    heads: list[tuple[str, int]]
    columns: list[str]
    several: bool = Field(description="Rows are of several measures, so that each names its own.")
    published: list[PaperRow]
    own: list[PaperRow]
    footnotes: list[str]


class PaperView(ReadModel):
    """The tables of a benchmark's paper."""

    benchmark: str
    version: int
    tables: list[PaperTableView]


def paper_view(session: Session, benchmark: str, *, version: int | None = None) -> PaperView:
    """The tables of a benchmark's paper, with a row for each of the board's. Raises NotFound."""
    task_set = board_version(session, benchmark, version)
    labels = all_labels(task_set)
    tables = [table for table in paper_tables(task_set.kind) if _has_tasks(table, labels)]
    columns = {table.name: _columns(table, labels) for table in tables}
    needed = {column.label for table in tables for column in columns[table.name] if column.label}
    board = leaderboard(session, benchmark, version=version, dimensions=sorted(needed))
    sources = {row.source for row in repository.reported(session, board.benchmark.id)}
    return PaperView(
        benchmark=board.benchmark.name,
        version=task_set.version,
        tables=[
            _table(table, columns[table.name], _figures(table) if table.source in sources else [], board)
            for table in tables
        ],
    )


def published_view(kind: str) -> list[PaperTableView]:
    """The tables of a suite's paper as published, readable without an import."""
    tables = [table for table in paper_tables(kind) if table.source]
    return [_table(table, table.columns, _figures(table), None) for table in tables]


def _figures(table: PaperTable) -> list[ReportedFigure]:
    return [figure for figure in reported_results(table.kind) if figure.source == table.source]


def _has_tasks(table: PaperTable, labels: Mapping[str, Mapping[str, int]]) -> bool:
    names = {column.label for column in table.columns if column.label} or {table.label}
    return any(name in labels for name in names)


def _columns(table: PaperTable, labels: Mapping[str, Mapping[str, int]]) -> Sequence[PaperColumn]:
    """The paper's columns, or one for each value of the table's label, and one for all tasks."""
    if table.columns:
        return table.columns
    values = [PaperColumn(title=value, label=table.label, value=value) for value in labels[table.label]]
    return [*values, PaperColumn(title="Overall")]


def _table(
    table: PaperTable, columns: Sequence[PaperColumn], figures: Sequence[ReportedFigure], board: BenchmarkBoard | None
) -> PaperTableView:
    footnotes: dict[str, int] = {}
    return PaperTableView(
        name=table.name,
        title=table.title,
        source=table.source,
        note=table.note,
        heads=list(table.heads),
        columns=[column.title for column in columns],
        several=len(table.measures) > 1,
        published=list(_published_rows(table, columns, figures, footnotes)),
        own=[row for each in (board.rows if board else ()) for row in _own_rows(table, columns, each)],
        footnotes=list(footnotes),
    )


def _published_rows(
    table: PaperTable, columns: Sequence[PaperColumn], figures: Sequence[ReportedFigure], footnotes: dict[str, int]
) -> Iterator[PaperRow]:
    for agent, inputs in dict.fromkeys((figure.agent, figure.inputs) for figure in figures):
        mine = [figure for figure in figures if (figure.agent, figure.inputs) == (agent, inputs)]
        for measure in table.measures:
            cells = [_published(column, measure, mine, footnotes) for column in columns]
            if any(cells):
                yield PaperRow(agent=agent, inputs=inputs, measure=_title(measure), cells=cells)


def _published(
    column: PaperColumn, measure: str, figures: Sequence[ReportedFigure], footnotes: dict[str, int]
) -> PaperCell | None:
    for figure in figures:
        same = figure.measure == (column.published or measure) and figure.group == column.group
        if same and column.kind in {"", figure.group_kind}:
            says_more = figure.note and not figure.note.startswith(_OBVIOUS)
            mark = footnotes.setdefault(figure.note, len(footnotes) + 1) if says_more else None
            return PaperCell(text=figure.printed, mark=mark)
    return None


def _own_rows(table: PaperTable, columns: Sequence[PaperColumn], row: BoardRow) -> Iterator[PaperRow]:
    """The row's figures, unless it has none."""
    variant = row.run.config.get("variant")
    inputs = ", ".join(str(value) for value in (row.run.config.get("observation"), variant) if value)
    for measure in filter(None, table.measures.values()):
        cells = [_measured(column, column.measure or measure, row) for column in columns]
        if any(cells):
            yield PaperRow(
                agent=row_label(row),
                inputs=inputs,
                measure=_title(measure),
                reference=row.reference,
                reasons=[NotRankedView.model_validate(reason) for reason in row.reasons],
                run_id=row.run.id,
                cells=cells,
            )


def _measured(column: PaperColumn, measure: str, row: BoardRow) -> PaperCell | None:
    summary = row.by.get(column.label, {}).get(column.value) if column.label else row.summary
    means = row.measures.get(column.label, {}).get(column.value, {}) if column.label else row.means
    if summary is None:
        return None
    value, tasks = summary.mean_score, summary.scored_tasks
    if measure == SHARE:
        value, tasks = summary.tasks / row.summary.tasks, summary.tasks
    elif measure == STEPS:
        value = summary.steps / summary.counts.scored if summary.counts.scored else None
    elif measure != SCORE:
        mean = means.get(measure)
        value, tasks = (mean.mean, mean.tasks) if mean else (None, 0)
    if value is None:
        return None
    where = f"{column.label}={column.value}" if column.label else ""
    return PaperCell(text=f"{value if measure == STEPS else 100 * value:.1f}", value=value, tasks=tasks, where=where)


def _title(measure: str) -> str:
    words = {SHARE: "share of tasks", SCORE: "mean score", "success_rate": "success rate"}
    return words.get(measure) or info(measure).title


def paper_rows(view: PaperView) -> Iterator[list[object]]:
    """All tables, one figure a row, as PAPER_HEAD names the columns."""
    for table in view.tables:
        for row in (*table.published, *table.own):
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell:
                    origin = str(row.run_id) if row.run_id else "published"
                    numbers = [cell.text, cell.tasks, codes_of(row.reasons), cell.value]
                    yield [table.name, row.agent, row.inputs, origin, row.measure, column, *numbers]


PAPER_HEAD = ("table", "agent", "inputs", "run", "measure", "column", "percent", "tasks", "not_ranked", "value")
