"""Page of a benchmark: content and health."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.benchmarks.task_groups import TaskGroup, TaskNeeds, task_groups
from backend.db.repositories.common_queries import AnyRow
from backend.domain.errors import NotFound
from backend.domain.model.label_filter import label_filter
from backend.domain.model.reason import Reason
from backend.domain.model.run import VALIDATION_AGENTS
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import DIFFICULTIES, UNLABELLED
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.benchmarks.task_validation import Validation, wrongs
from backend.services.benchmarks.views.benchmark import (
    BenchmarkDetail,
    BenchmarkView,
    PublishedResults,
    TaskSetRef,
    benchmark_detail,
    benchmark_view,
    by_source,
    reported_results,
)
from backend.services.benchmarks.views.task import TaskView, task_view, validations_of

PAGE = 100
TASK_COLUMNS = frozenset(repository.TASK_ORDER)
"""Columns by which the tasks can be sorted."""
WhyNot = Callable[[TaskNeeds], Reason | None]
"""Why a task cannot run here; None if it can."""


@dataclass(frozen=True)
class TaskCounts:
    """Tasks by domain and difficulty."""

    domains: list[str]
    difficulties: list[str]
    cells: Mapping[tuple[str, str], int]

    @property
    def total(self) -> int:
        """All tasks."""
        return sum(self.cells.values())

    def of_domain(self, domain: str) -> int:
        """Tasks of a domain."""
        return sum(count for (cell_domain, _), count in self.cells.items() if cell_domain == domain)

    def of_difficulty(self, difficulty: str) -> int:
        """Tasks of a difficulty."""
        return sum(count for (_, cell_difficulty), count in self.cells.items() if cell_difficulty == difficulty)


def task_counts(rows: Sequence[AnyRow]) -> TaskCounts:
    """From (domain, difficulty, n)."""
    return _counts({(row.domain, row.difficulty or UNLABELLED): row.n for row in rows})


def group_counts(groups: Iterable[TaskGroup]) -> TaskCounts:
    """From groups of equal tasks."""
    cells: Counter[tuple[str, str]] = Counter()
    for group in groups:
        cells[group.domain, group.difficulty or UNLABELLED] += group.number
    return _counts(cells)


def _counts(cells: Mapping[tuple[str, str], int]) -> TaskCounts:
    present = {difficulty for _, difficulty in cells}
    names = [str(difficulty) for difficulty in DIFFICULTIES if difficulty in present]
    return TaskCounts(sorted({domain for domain, _ in cells}), names, cells)


@dataclass(frozen=True)
class BenchmarkRow:
    """One benchmark in the list; `counted` are its tasks by current labels."""

    benchmark: BenchmarkView
    counted: TaskCounts
    runs: int


def benchmark_list(session: Session) -> list[BenchmarkRow]:
    """Every benchmark at its newest version."""
    return [
        BenchmarkRow(
            benchmark=benchmark_view(row.Benchmark, row.TaskSet, row.versions),
            counted=task_counts(repository.counts(session, row.TaskSet.id) if row.TaskSet else []),
            runs=row.runs,
        )
        for row in repository.benchmarks(session)
    ]


@dataclass(frozen=True)
class TaskRow:
    """One task in a list, with its results in counted runs."""

    task: TaskView
    validation: Validation
    why_not: Reason | None
    scored: int
    solved: int
    lost: int


@dataclass(frozen=True)
class TaskSetHealth:
    """State of a task set's tasks."""

    sound: int
    unsound: int
    unvalidated: int
    quarantined: int
    not_runnable: list[tuple[Reason, int]]


@dataclass(frozen=True)
class VersionRow:
    """One task set of a benchmark."""

    task_set: TaskSetRef
    tasks: int
    created_at: datetime


@dataclass(frozen=True)
class BenchmarkPage:
    """Everything on a benchmark's page."""

    benchmark: BenchmarkDetail
    task_set: TaskSetRef
    created_at: datetime
    counted: TaskCounts
    health: TaskSetHealth
    tasks: list[TaskRow]
    next: tuple[str, str] | None
    versions: list[VersionRow]
    reported: PublishedResults
    labels: LabelCounts


def benchmark_page(  # noqa: PLR0913 - which one, and which of its tasks
    session: Session,
    name: str,
    version: int | None,
    filters: Mapping[str, str],
    after: tuple[str, str] | None,
    *,
    where: Sequence[str] = (),
    why_not: WhyNot,
    order: SortOrder | None = None,
) -> BenchmarkPage:
    """One benchmark; `why_not` says why a task cannot run here. Raises NotFound."""
    row = repository.task_set(session, name, version)
    if row is None:
        raise NotFound(
            f"there is no benchmark {name!r}" + (f" version {version}" if version else ""), code="benchmark_not_found"
        )
    conditions = {**filters, "where": label_filter(where)}
    rows = repository.tasks(session, row.TaskSet.id, conditions, after, PAGE, order)
    versions = repository.versions(session, row.Benchmark.id)
    groups = task_groups(session, row.TaskSet.id)
    last = rows[PAGE - 1].Task if len(rows) > PAGE else None
    return BenchmarkPage(
        benchmark=benchmark_detail(session, row.Benchmark, row.TaskSet, len(versions)),
        task_set=TaskSetRef.model_validate(row.TaskSet),
        created_at=row.TaskSet.created_at,
        counted=group_counts(groups),
        health=_health(session, row.TaskSet.id, groups, why_not),
        tasks=task_rows(session, name, rows[:PAGE], why_not),
        next=(last.domain, last.name) if last else None,
        versions=[
            VersionRow(TaskSetRef.model_validate(item), int(item.counts.get("tasks", 0)), item.created_at)
            for item in versions
        ],
        reported=by_source(reported_results(session, name)),
        labels=label_counts(row.TaskSet),
    )


def _health(session: Session, task_set_id: UUID, groups: Sequence[TaskGroup], why_not: WhyNot) -> TaskSetHealth:
    sound, unsound = 0, 0
    for row in repository.validated_scores(session, task_set_id):
        if wrongs(feasible=row.feasible, scores={agent: getattr(row, agent) for agent in VALIDATION_AGENTS}):
            unsound += row.tasks
        else:
            sound += row.tasks
    blocked: Counter[Reason] = Counter()
    for group in groups:
        if reason := why_not(group):
            blocked[reason] += group.number
    return TaskSetHealth(
        sound=sound,
        unsound=unsound,
        unvalidated=sum(group.number for group in groups) - sound - unsound,
        quarantined=sum(group.number for group in groups if group.quarantined is not None),
        not_runnable=blocked.most_common(),
    )


def task_rows(session: Session, benchmark: str, rows: Sequence[AnyRow], why_not: WhyNot) -> list[TaskRow]:
    """Rows of `repositories.benchmarks.benchmarks_view.tasks`."""
    validations = validations_of(session, [row.Task for row in rows])
    results = repository.results(session, list(validations))
    return [
        TaskRow(
            task=task_view(row.Task, benchmark, row.quarantined or ""),
            validation=validations[row.Task.id],
            why_not=why_not(row.Task),
            scored=getattr(results.get(row.Task.id), "scored", 0),
            solved=getattr(results.get(row.Task.id), "solved", 0),
            lost=getattr(results.get(row.Task.id), "lost", 0),
        )
        for row in rows
    ]
