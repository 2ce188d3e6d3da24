"""Tasks and their twins on another system, paired: OSWorld's table 7."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import twins as repository
from backend.domain.benchmarks import reported_results
from backend.domain.statistics.correlation import pearson, pearson_interval
from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.paired import difference_of_columns
from backend.domain.statistics.passes import over_tasks
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results.board_rows import BoardRow
from backend.services.results.conditions import RunConditions, conditions_of
from backend.services.results.leaderboards import board_version, leaderboard

SOURCE = "OSWorld paper, Table 7"
_OF_THE_SYSTEM = frozenset({"provider", "image"})
"""Conditions in which a run on Windows and one on Ubuntu cannot be equal."""


class TwinRow(ReadModel):
    """One configuration on both systems, or the published row."""

    title: str = Field(description="The configuration's name, or the agent as printed.")
    configuration: ConfigurationRef | None = Field(default=None, description="Null in a published row.")
    inputs: str
    runs: list[UUID] = Field(default=[], description="Its runs on Windows, whose passes are pooled.")
    twin_runs: list[UUID] = Field(default=[], description="Its runs on Ubuntu.")
    ubuntu: str = Field(description="Mean score in percent over the pairs; a task counts once, by its passes' mean.")
    ubuntu_interval: Interval | None = Field(default=None, description="Of the share, in 0 to 1; tasks are resampled.")
    windows: str
    windows_interval: Interval | None = None
    difference: float | None = Field(default=None, description="Windows minus Ubuntu, in -1 to 1, over these pairs.")
    difference_interval: Interval | None = None
    correlation: str = Field(description="Pearson's, over these pairs; empty where a side has one score only.")
    correlation_interval: Interval | None = Field(default=None, description="By Fisher's transformation.")
    pairs: int | None = None


class UnpairedRow(ReadModel):
    """A row on Windows without a twin, with the reason."""

    configuration: ConfigurationRef
    runs: list[UUID]
    reason: str = Field(examples=["its runs on Ubuntu had other conditions: 50 steps, here 15 steps"])


class TwinTable(ReadModel):
    """Windows tasks paired with the Ubuntu tasks that they were made from."""

    benchmark: str
    tasks: int = Field(description="Windows tasks with a twin.")
    source: str = SOURCE
    published: list[TwinRow]
    own: list[TwinRow]
    left_out: list[UnpairedRow] = Field(default=[], description="Rows on Windows that could not be paired.")


@dataclass(frozen=True)
class _Side:
    """Runs of one configuration on one version of a benchmark under equal conditions, and the means of their tasks."""

    runs: Sequence[Run]
    scores: Mapping[str, float]

    @property
    def conditions(self) -> RunConditions:
        return conditions_of(self.runs[0].config)


def twin_table(session: Session, benchmark: str, *, version: int | None = None) -> TwinTable | None:
    """The pairs of a Windows benchmark's rows; None if its tasks have no twins. Raises NotFound."""
    task_set = board_version(session, benchmark, version)
    twins = repository.twins(session, task_set.id)
    if not twins:
        return None
    board = leaderboard(session, benchmark, version=version, dimensions=())
    agents = {row.run.agent_configuration_id for row in board.rows}
    others = repository.other_runs(session, task_set.kind, task_set.id, agents)
    totals: dict[UUID, list[AnyRow]] = defaultdict(list)
    own_runs = [run_id for row in board.rows for run_id in row.runs]
    for total in repository.scores(session, [*own_runs, *(run.id for run in others)]):
        totals[total.run].append(total)
    sides: dict[UUID, list[_Side]] = defaultdict(list)
    for group in _alike(others):
        sides[group[0].agent_configuration_id].append(_Side(group, _means([totals[run.id] for run in group])))
    rows = [
        _pair_row(row, _means([totals[run_id] for run_id in row.runs]), sides[row.run.agent_configuration_id], twins)
        for row in board.rows
    ]
    return TwinTable(
        benchmark=benchmark,
        tasks=len(twins),
        published=_published_rows(),
        own=[row for row in rows if isinstance(row, TwinRow)],
        left_out=[row for row in rows if isinstance(row, UnpairedRow)],
    )


def _alike(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs whose passes may be pooled, groups and runs with the newest first."""
    groups: dict[tuple[UUID, UUID, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.agent_configuration_id, run.task_set_id, conditions_of(run.config).key].append(run)
    return list(groups.values())


def _means(runs: Iterable[Iterable[AnyRow]]) -> dict[str, float]:
    """The mean score of each task over all passes of these runs."""
    passes, totals = Counter[str](), defaultdict[str, float](float)
    for row in (row for rows in runs for row in rows):
        passes[row.key] += row.passes
        totals[row.key] += row.total
    return {key: totals[key] / number for key, number in passes.items()}


def _pair_row(
    row: BoardRow, windows: Mapping[str, float], sides: Sequence[_Side], twins: Mapping[str, str]
) -> TwinRow | UnpairedRow:
    """The row with the runs on Ubuntu that share most pairs, the newest of equal ones; else why there are none."""
    differences = [(side.conditions.differences(row.conditions, "here", _OF_THE_SYSTEM), side) for side in sides]
    best: list[tuple[float, float]] = []
    twin: _Side | None = None
    for side in (side for difference, side in differences if not difference):
        pairs = [
            (side.scores[original], windows[twin])
            for twin, original in twins.items()
            if twin in windows and original in side.scores
        ]
        if len(pairs) > len(best):
            best, twin = pairs, side
    if twin is None:
        reason = _why_not([difference for difference, _ in differences])
        return UnpairedRow(configuration=configuration_ref(row.agent), runs=row.runs, reason=reason)
    ubuntu, windows_scores = [pair[0] for pair in best], [pair[1] for pair in best]
    correlation = pearson(ubuntu, windows_scores)
    difference = difference_of_columns(np.array(ubuntu), np.array(windows_scores))
    return TwinRow(
        title=row.agent.title,
        configuration=configuration_ref(row.agent),
        inputs=str(row.run.config.get("observation") or ""),
        runs=row.runs,
        twin_runs=[run.id for run in twin.runs],
        ubuntu=f"{100 * difference.base:.2f}",
        ubuntu_interval=_interval(ubuntu),
        windows=f"{100 * difference.other:.2f}",
        windows_interval=_interval(windows_scores),
        difference=difference.value,
        difference_interval=difference.interval,
        correlation="" if correlation is None else f"{correlation:.2f}",
        correlation_interval=None if correlation is None else pearson_interval(correlation, len(best)),
        pairs=len(best),
    )


def _interval(scores: Sequence[float]) -> Interval | None:
    estimate = over_tasks(scores)
    return estimate and estimate.interval


def _why_not(differences: Sequence[str]) -> str:
    """Why none of the runs on Ubuntu, which differ in this, is the twin of a row."""
    if not differences:
        return "no run of this configuration on Ubuntu"
    if not all(differences):
        return "no pair of tasks is scored on both systems"
    return f"its runs on Ubuntu had other conditions: {differences[0]}"


def _published_rows() -> list[TwinRow]:
    """The paper's row."""
    figures = [figure for figure in reported_results("osworld") if figure.source == SOURCE]
    printed = {figure.group: figure.printed for figure in figures}
    return [
        TwinRow(
            title=figures[0].agent,
            inputs=figures[0].inputs,
            ubuntu=printed["Ubuntu"],
            windows=printed["Windows"],
            correlation=printed["Ubuntu and Windows"],
        )
    ]


HEAD = ("title", "configuration", "inputs", "published", "ubuntu", "ubuntu_low", "ubuntu_high", "windows",
        "windows_low", "windows_high", "difference", "difference_low", "difference_high", "correlation",
        "correlation_low", "correlation_high", "pairs", "ubuntu_runs", "windows_runs", "not_paired")  # fmt: skip


def twin_rows(table: TwinTable) -> Iterator[list[Any]]:
    """Rows of a table file, scores and differences in percent; runs are ids with spaces between."""
    for row in [*table.published, *table.own]:
        runs = [" ".join(map(str, runs)) for runs in (row.twin_runs, row.runs)]
        figures = [
            float(row.ubuntu),
            *_percent(row.ubuntu_interval),
            float(row.windows),
            *_percent(row.windows_interval),
            None if row.difference is None else 100 * row.difference,
            *_percent(row.difference_interval),
            float(row.correlation) if row.correlation else None,
            *(row.correlation_interval or (None, None)),
        ]
        configuration = row.configuration.name if row.configuration else ""
        yield [row.title, configuration, row.inputs, not configuration, *figures, row.pairs, *runs, ""]
    for left in table.left_out:
        name = left.configuration.name
        yield [name, name, "", False, *[None] * 13, "", " ".join(map(str, left.runs)), left.reason]


def _percent(interval: Interval | None) -> tuple[float | None, float | None]:
    return (100 * interval.low, 100 * interval.high) if interval else (None, None)
