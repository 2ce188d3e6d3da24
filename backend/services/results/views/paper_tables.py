"""The papers' tables with the installation's own rows below the published ones."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.results import leaderboards as repository
from backend.domain.benchmarks import (
    NODE_SIZE,
    PaperColumn,
    PaperTable,
    ReportedFigure,
    paper_tables,
    reported_results,
)
from backend.domain.model.measures import info
from backend.domain.statistics.intervals import Interval
from backend.services.benchmarks.labels import all_labels
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.people import human_baselines
from backend.services.people.human_baselines import HumanTrial
from backend.services.read_model import ReadModel
from backend.services.results.board_ranking import BoardTasks
from backend.services.results.board_rows import BoardRow
from backend.services.results.leaderboards import BenchmarkBoard, board_version, leaderboard
from backend.services.results.views.cuts import codes_of
from backend.services.results.views.leaderboard_models import NotRankedView
from backend.services.results.views.paper_figures import TITLES, figure_text, own_figure
from backend.services.results.views.row_costs import NodePriceList

_OBVIOUS = "printed with drop "
"""Beginning of notes that only repeat the difference of two neighbours."""


class PaperCell(ReadModel):
    """One figure: as printed, or measured here over `tasks`; `mark` refers to a footnote."""

    text: str = Field(examples=["19.5"])
    value: float | None = Field(
        default=None, description="Measured here: a rate in [0, 1], or in the table's `unit` if that is not percent."
    )
    tasks: int | None = None
    interval: Interval | None = Field(default=None, description="95 %; of means over tasks that were measured here.")
    mark: int | None = None
    where: str = Field(default="", description="`label=value` of its tasks; empty: all.")


class PaperRow(ReadModel):
    """The figures of one measure: of a configuration, or as published."""

    title: str = Field(description="The configuration's name, or the agent as printed.")
    configuration: ConfigurationRef | None = Field(default=None, description="Null in a published row.")
    inputs: str
    measure: str
    reference: str = ""
    reasons: list[NotRankedView] = Field(default=[], description="Why it is not ranked on the board; empty if it is.")
    runs: list[UUID] = Field(default=[], description="All runs of the configuration; the first stands for all.")
    cells: list[PaperCell | None] = Field(description="In the order of the columns; null where there is no figure.")


class PaperTableView(ReadModel):
    """A paper's table: published rows in the paper's order, then the installation's own."""

    name: str
    title: str
    source: str
    unit: str = Field(examples=["percent"])
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


def paper_view(
    session: Session,
    benchmark: str,
    *,
    version: int | None = None,
    prices: NodePriceList = NodePriceList(),  # noqa: B008 - it is immutable
) -> PaperView:
    """The tables of a benchmark's paper, with a row for each of the board's; `prices`: of nodes. Raises NotFound."""
    task_set = board_version(session, benchmark, version)
    labels = all_labels(task_set)
    tables = [table for table in paper_tables(task_set.kind) if _has_tasks(table, labels)]
    columns = {table.name: _columns(table, labels) for table in tables}
    needed = {column.label for table in tables for column in columns[table.name] if column.label}
    board = leaderboard(session, benchmark, version=version, dimensions=sorted(needed))
    trials = human_baselines.trials(session, task_set.id)
    sources = {row.source for row in repository.published_results(session, board.benchmark.id)}
    published = {table.name for table in tables if table.source in sources or (table.figures and sources)}
    views = [
        _table(table, columns[table.name], _figures(table) if table.name in published else [], board, trials)
        for table in tables
    ]
    return PaperView(
        benchmark=board.benchmark.name,
        version=task_set.version,
        tables=[_with_nodes(view, prices) if NODE_SIZE in table.measures else view
                for table, view in zip(tables, views, strict=True)],
    )  # fmt: skip


def _with_nodes(view: PaperTableView, prices: NodePriceList) -> PaperTableView:
    """The table of nodes with the operator's own, newest prices first."""
    rows = [
        PaperRow(
            title=f"{price.provider} {price.node}",
            inputs=f"since {price.since}",
            measure=_title(NODE_SIZE),
            cells=[
                *(None if size is None else PaperCell(text=f"{size:g}", value=size)
                  for size in (price.cores, price.memory_gb, price.disk_gb)),
                PaperCell(text=f"{price.per_hour:g} {price.currency}", value=price.per_hour),
            ],
        )
        for price in sorted(prices.prices, key=lambda price: price.since, reverse=True)
    ]  # fmt: skip
    note = f"{view.note} {prices.error}." if prices.error else view.note
    return view.model_copy(update={"own": rows, "note": note})


def published_view(kind: str) -> list[PaperTableView]:
    """The tables of a suite's paper as published, readable without an import."""
    tables = [table for table in paper_tables(kind) if table.source]
    return [_table(table, table.columns, _figures(table), None) for table in tables]


def _figures(table: PaperTable) -> Sequence[ReportedFigure]:
    return table.figures or [figure for figure in reported_results(table.kind) if figure.source == table.source]


def _has_tasks(table: PaperTable, labels: Mapping[str, Mapping[str, int]]) -> bool:
    names = {column.label for column in table.columns if column.label} | ({table.label} - {""})
    return not names or any(name in labels for name in names)


def _columns(table: PaperTable, labels: Mapping[str, Mapping[str, int]]) -> Sequence[PaperColumn]:
    """The paper's columns, or one for each value of the table's label, and one for all tasks."""
    if table.columns:
        return table.columns
    values = [PaperColumn(title=value, label=table.label, value=value) for value in labels[table.label]]
    return [*values, PaperColumn(title="Overall")]


def _table(
    table: PaperTable,
    columns: Sequence[PaperColumn],
    figures: Sequence[ReportedFigure],
    board: BenchmarkBoard | None,
    trials: Sequence[HumanTrial] = (),
) -> PaperTableView:
    footnotes: dict[str, int] = {}
    return PaperTableView(
        name=table.name,
        title=table.title,
        source=table.source,
        unit=table.unit,
        note=table.note,
        heads=list(table.heads),
        columns=[column.title for column in columns],
        several=len(table.measures) > 1,
        published=list(_published_rows(table, columns, figures, footnotes)),
        own=list(_rows_of_board(table, columns, board, trials)) if board else [],
        footnotes=list(footnotes),
    )


def _published_rows(
    table: PaperTable, columns: Sequence[PaperColumn], figures: Sequence[ReportedFigure], footnotes: dict[str, int]
) -> Iterator[PaperRow]:
    for agent, inputs in dict.fromkeys((figure.agent, figure.inputs) for figure in figures):
        of_row = [figure for figure in figures if (figure.agent, figure.inputs) == (agent, inputs)]
        for measure in table.measures:
            cells = [_published_cell(column, measure, of_row, footnotes) for column in columns]
            if any(cells):
                yield PaperRow(title=agent, inputs=inputs, measure=_title(measure), cells=cells)


def _published_cell(
    column: PaperColumn, measure: str, figures: Sequence[ReportedFigure], footnotes: dict[str, int]
) -> PaperCell | None:
    for figure in figures:
        same = figure.measure == (column.published or measure) and figure.group == column.group
        if same and column.kind in {"", figure.group_kind}:
            says_more = figure.note and not figure.note.startswith(_OBVIOUS)
            mark = footnotes.setdefault(figure.note, len(footnotes) + 1) if says_more else None
            return PaperCell(text=figure.printed, mark=mark)
    return None


def _rows_of_board(
    table: PaperTable, columns: Sequence[PaperColumn], board: BenchmarkBoard, trials: Sequence[HumanTrial]
) -> Iterator[PaperRow]:
    for row in board.rows:
        of_person = [trial for trial in trials if trial.run_id in row.runs]
        yield from _own_rows(table, columns, row, of_person, board.tasks)


def _own_rows(
    table: PaperTable,
    columns: Sequence[PaperColumn],
    row: BoardRow,
    trials: Sequence[HumanTrial],
    tasks: BoardTasks,
) -> Iterator[PaperRow]:
    """The row's figures, unless it has none. `trials`: those of its person. `tasks`: of the board."""
    variant = row.run.config.get("variant")
    inputs = ", ".join(str(value) for value in (row.run.config.get("observation"), variant) if value)
    for measure in filter(None, table.measures.values()):
        cells = [_cell(column, column.measure or measure, row, trials, tasks) for column in columns]
        if any(cells):
            yield PaperRow(
                title=row.agent.title,
                configuration=configuration_ref(row.agent),
                inputs=inputs,
                measure=_title(measure),
                reference=row.reference,
                reasons=[NotRankedView.model_validate(reason) for reason in row.reasons],
                runs=row.runs,
                cells=cells,
            )


def _cell(
    column: PaperColumn, measure: str, row: BoardRow, trials: Sequence[HumanTrial], tasks: BoardTasks
) -> PaperCell | None:
    figure = own_figure(column, measure, row, trials, tasks)
    if (value := figure.value) is None:
        return None
    where = f"{column.label}={column.value}" if column.label else ""
    text = figure_text(measure, value)
    return PaperCell(text=text, value=value, tasks=figure.tasks, interval=figure.interval, where=where)


def _title(measure: str) -> str:
    return TITLES.get(measure) or info(measure).title


def paper_rows(view: PaperView) -> Iterator[list[object]]:
    """All tables, one figure a row, as PAPER_HEAD names the columns."""
    for table in view.tables:
        for row, without_run in (*((row, "published") for row in table.published), *((row, "") for row in table.own)):
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell:
                    origin = str(row.runs[0]) if row.runs else without_run
                    configuration = row.configuration.name if row.configuration else ""
                    numbers = [
                        cell.text,
                        cell.tasks,
                        codes_of(row.reasons),
                        cell.value,
                        *(cell.interval or (None, None)),
                    ]
                    yield [table.name, row.title, configuration, row.inputs, origin, row.measure, column, *numbers]


PAPER_HEAD = ("table", "title", "configuration", "inputs", "run", "measure", "column", "figure", "tasks", "not_ranked",
              "value", "low", "high")  # fmt: skip
