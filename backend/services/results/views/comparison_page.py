"""Page of a comparison: which of the common tasks it lists, in which order, and the runs that can be compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from backend.db.repositories import common_queries
from backend.domain.errors import Invalid
from backend.services.results.views.compared_results import ComparedResults, Positions
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison import LEAST_RUNS, compared
from backend.services.results.views.comparison_models import ComparedTask, RunComparison
from backend.services.runs.runs import get_run
from backend.services.runs.views.run_list import RunList, run_list

PAGE = 100
"""Tasks on one page."""
Floats = NDArray[np.float64]
SHOWN: Mapping[str, Callable[[Floats, Floats], NDArray[np.bool_]]] = {
    "better": lambda base, other: other > base,
    "worse": lambda base, other: other < base,
    "both": lambda base, other: (base == 1) & (other == 1),
    "neither": lambda base, other: (base == 0) & (other == 0),
}
"""Groups of tasks by their solve rates in the first run and in another one."""
FLIPPED, BY_TASK = "flipped", "task"


@dataclass(frozen=True, kw_only=True)
class MatrixFilter:
    """Which tasks the matrix shows.

    Attributes:
        show: `flipped`, or one of `SHOWN` for the run `other` against the first one; empty: every task.
        other: position of a further run, from 1.
        value: of the label that the comparison is cut by; empty: any.
        sort: `task`, or a run's position from 1, highest score first, negative: lowest first; empty: flipped first.
        first: position of the first task on the page.
    """

    show: str = ""
    other: int = 1
    value: str = ""
    sort: str = ""
    first: int = 0


@dataclass(frozen=True)
class ComparisonPage:
    """The comparison, which lists no tasks, with those of one page.

    Attributes:
        total: tasks of the selection.
        next: position of the first task on the next page; None if there is none.
    """

    comparison: RunComparison
    tasks: Sequence[ComparedTask]
    total: int
    next: int | None

    @property
    def prompts_differ(self) -> bool:
        """Whether the templates of prompts do, by their hashes."""
        return any(row.name.startswith("prompts.") for row in self.comparison.configurations)


def comparison_page(
    session: Session, sides: ComparedSides, label: str | None, selection: MatrixFilter
) -> ComparisonPage:
    """The page of 2 to 8 sides. Raises as `compared`, and Invalid for a sort by a run that is not compared."""
    comparison, results = compared(session, sides, label)
    places = _sort(results, _selection_mask(results, label, selection), selection.sort)
    end = selection.first + PAGE
    tasks = results.tasks(session, places[selection.first : end])
    return ComparisonPage(comparison, tasks, len(places), end if end < len(places) else None)


def _selection_mask(results: ComparedResults, label: str | None, selection: MatrixFilter) -> NDArray[np.bool_]:
    """Of each common task, whether it is in the selection."""
    selected = np.ones(len(results.common), dtype=bool)
    if label and selection.value:
        selected &= results.has_label(label, selection.value)
    if selection.show == FLIPPED:
        selected &= results.flipped
    elif test := SHOWN.get(selection.show):
        rates = results.columns("rates")
        selected &= test(rates[0], rates[min(selection.other, len(rates) - 1)])
    return selected


def _sort(results: ComparedResults, selected: NDArray[np.bool_], sort: str) -> Positions:
    """Places of the selected tasks, which are sorted by their keys."""
    places = np.flatnonzero(selected)
    if not sort:
        order = results.order()
        return order[selected[order]]
    if sort == BY_TASK:
        return places
    number, scores = int(sort), results.columns("scores")
    if not 1 <= abs(number) <= len(scores):
        raise Invalid(f"there is no run {abs(number)} to sort by", code="invalid_comparison", path="sort")
    column = scores[abs(number) - 1][places]
    return places[np.argsort(column if number < 0 else -column, kind="stable")]


def candidates(session: Session, run_ids: Sequence[UUID], before: UUID | None) -> RunList | None:
    """Runs to choose from, of the first run's benchmark if there is one; None if enough are chosen to compare them."""
    if len(set(run_ids)) >= LEAST_RUNS:
        return None
    for run_id in run_ids:
        get_run(session, run_id)
    benchmarks = [row.benchmark for row in common_queries.named_runs(session, run_ids)]
    return run_list(session, {"benchmark": "".join(benchmarks)}, before)
