"""An installation's own figures in the papers' tables, and how they are printed."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from backend.domain.benchmarks import (
    DIFFICULTY,
    MINUTES,
    NODE_SIZE,
    SHARE,
    STEPS,
    STEPS_DIFFICULTY,
    STEPS_SUCCESS,
    SUCCESS_DIFFICULTY,
    PaperColumn,
)
from backend.domain.model.score import SCORE
from backend.domain.statistics.intervals import Interval
from backend.services.people.human_baselines import DomainRow, HumanTrial, domain_row
from backend.services.results.board_ranking import BoardTasks
from backend.services.results.board_rows import BoardRow
from backend.services.results.views.row_costs import pass_times


class PaperFigure(NamedTuple):
    """A value, None if there is none, the number of its tasks, and the 95 % interval of a mean over them."""

    value: float | None = None
    tasks: int = 0
    interval: Interval | None = None


FORMATS: Mapping[str, Callable[[float], str]] = {
    STEPS: "{:.1f}".format,
    MINUTES: "{:.1f}".format,
    DIFFICULTY: "{:.1f}".format,
    **dict.fromkeys((STEPS_DIFFICULTY, STEPS_SUCCESS, SUCCESS_DIFFICULTY), "{:.2f}".format),
}
"""How measures are printed that are not rates, with the papers' digits."""
TITLES = {
    SHARE: "share of tasks",
    SCORE: "mean score",
    "success_rate": "success rate",
    MINUTES: "minutes",
    NODE_SIZE: "size and price",
    STEPS_DIFFICULTY: "steps and difficulty",
    STEPS_SUCCESS: "steps and success",
    SUCCESS_DIFFICULTY: "success and difficulty",
}
_OF_PEOPLE: Mapping[str, Callable[[DomainRow], PaperFigure]] = {
    DIFFICULTY: lambda row: PaperFigure(row.means.rating, row.tasks),
    STEPS_DIFFICULTY: lambda row: PaperFigure(row.steps_difficulty.value, row.steps_difficulty.n),
    STEPS_SUCCESS: lambda row: PaperFigure(row.steps_success.value, row.steps_success.n),
    SUCCESS_DIFFICULTY: lambda row: PaperFigure(row.success_difficulty.value, row.success_difficulty.n),
}


def figure_text(measure: str, value: float) -> str:
    """A figure as printed: `19.5` for a rate of 0.195."""
    return FORMATS[measure](value) if measure in FORMATS else f"{100 * value:.1f}"


def own_figure(
    column: PaperColumn, measure: str, row: BoardRow, trials: Sequence[HumanTrial], tasks: BoardTasks
) -> PaperFigure:
    """A row's figure in a column. `trials`: those of its person, empty for agents. `tasks`: of the board."""
    if measure in _OF_PEOPLE:
        part = [trial for trial in trials if not column.label or column.value in trial.labels.get(column.label, ())]
        return _OF_PEOPLE[measure](domain_row(column.title, part)) if part else PaperFigure()
    return _minutes(row, tasks) if measure == MINUTES else _of_tasks(column, measure, row)


def _of_tasks(column: PaperColumn, measure: str, row: BoardRow) -> PaperFigure:
    summary = row.by.get(column.label, {}).get(column.value) if column.label else row.summary
    if summary is None:
        return PaperFigure()
    if measure == SCORE:
        return PaperFigure(summary.mean_score, summary.scored_tasks, summary.mean_interval)
    if measure == SHARE:
        return PaperFigure(summary.tasks / row.summary.tasks, summary.tasks)
    if measure == STEPS:
        return PaperFigure(
            summary.steps / summary.counts.scored if summary.counts.scored else None, summary.scored_tasks
        )
    return _mean_of(column, measure, row)


def _mean_of(column: PaperColumn, measure: str, row: BoardRow) -> PaperFigure:
    means = row.measures.get(column.label, {}).get(column.value, {}) if column.label else row.means
    mean = means.get(measure)
    return PaperFigure(mean.mean, mean.tasks, mean.interval) if mean else PaperFigure()


def _minutes(row: BoardRow, tasks: BoardTasks) -> PaperFigure:
    """Of rows that cover the board's tasks only, references too."""
    makespan, _ = pass_times(row)
    if makespan is None or tasks.lack_of(row):
        return PaperFigure()
    return PaperFigure(makespan / 60, row.attempted_tasks)
