"""Page of a comparison: which of the common tasks it lists, in which order, and the runs that can be compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories import common_queries
from backend.domain.errors import Invalid
from backend.domain.model.task import UNLABELLED
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison import LEAST_RUNS, compare_sides
from backend.services.results.views.comparison_models import ComparedTask, RunComparison, TaskResult
from backend.services.runs.runs import get_run
from backend.services.runs.views.run_list import RunList, run_list

PAGE = 100
"""Tasks on one page."""
Test = Callable[[TaskResult, TaskResult], bool]
SHOWN: Mapping[str, Test] = {
    "better": lambda base, other: other.solve_rate > base.solve_rate,
    "worse": lambda base, other: other.solve_rate < base.solve_rate,
    "both": lambda base, other: base.solve_rate == other.solve_rate == 1,
    "neither": lambda base, other: base.solve_rate == other.solve_rate == 0,
}
"""Groups of tasks by their results in the first run and in another one."""
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
    """The comparison with the tasks of one page.

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
    """The page of 2 to 8 sides. Raises as `comparison_of`, and Invalid for a sort by a run that is not compared."""
    comparison = compare_sides(session, sides, label)
    rows = _sorted(_selected(comparison, selection), selection.sort, len(comparison.runs))
    end = selection.first + PAGE
    return ComparisonPage(comparison, rows[selection.first : end], len(rows), end if end < len(rows) else None)


def _selected(comparison: RunComparison, selection: MatrixFilter) -> list[ComparedTask]:
    rows = comparison.tasks
    if comparison.label and selection.value:
        name, value = comparison.label, selection.value
        rows = [row for row in rows if value in row.labels.get(name, [UNLABELLED])]
    if selection.show == FLIPPED:
        return [row for row in rows if row.flipped]
    test = SHOWN.get(selection.show)
    if test is None:
        return rows
    other = min(selection.other, len(comparison.runs) - 1)
    return [row for row in rows if test(row.results[0], row.results[other])]


def _sorted(rows: list[ComparedTask], sort: str, runs: int) -> list[ComparedTask]:
    if not sort:
        return rows
    if sort == BY_TASK:
        return sorted(rows, key=lambda row: row.task)
    number = int(sort)
    if not 1 <= abs(number) <= runs:
        raise Invalid(f"there is no run {abs(number)} to sort by", code="invalid_comparison", path="sort")
    direction = 1 if number < 0 else -1
    return sorted(rows, key=lambda row: (direction * row.results[abs(number) - 1].score, row.task))


def candidates(session: Session, run_ids: Sequence[UUID], before: UUID | None) -> RunList | None:
    """Runs to choose from, of the first run's benchmark if there is one; None if enough are chosen to compare them."""
    if len(set(run_ids)) >= LEAST_RUNS:
        return None
    for run_id in run_ids:
        get_run(session, run_id)
    benchmarks = [row.benchmark for row in common_queries.named_runs(session, run_ids)]
    return run_list(session, {"benchmark": "".join(benchmarks)}, before)
