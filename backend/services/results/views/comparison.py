"""View of a comparison of runs on their common tasks, and of the test for a regression."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories import common_queries
from backend.db.repositories.common_queries import AnyRow
from backend.domain.errors import Conflict, Invalid
from backend.domain.model.episode import RunState
from backend.domain.statistics.paired import holm
from backend.domain.statistics.task_comparison import TaskComparison, compare_columns
from backend.services.configurations.configuration_ref import configuration_ref
from backend.services.lru_cache import LruCache
from backend.services.results.configuration_differences import condition_differences, configuration_differences
from backend.services.results.views.compared_results import ComparedResults, p_text, sentence
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison_models import (
    ComparedRun,
    RegressionReport,
    RunComparison,
    RunDifference,
)
from backend.services.runs.runs import get_run
from backend.services.runs.views.run_rows import ResultsKey, results_key

LEAST_RUNS, MOST_RUNS = 2, 8
ALPHA = 0.05


def compare_sides(session: Session, sides: ComparedSides, label: str | None = None) -> RunComparison:
    """Compares runs, or configurations with all their passes, on their common tasks. Raises as `compared`."""
    comparison, results = compared(session, sides, label)
    return comparison.model_copy(update={"tasks": results.tasks(session, results.order())})


def compared(session: Session, sides: ComparedSides, label: str | None = None) -> tuple[RunComparison, ComparedResults]:
    """A comparison without its tasks, of which there may be 25,000, and the results of the sides.

    Args:
        session: the transaction.
        sides: the first one is the base.
        label: of the tasks, for the cut.

    Raises:
        NotFound: there is no such run.
        Invalid: fewer than 2 or more than 8 different runs.
        Conflict: they are of different benchmarks.
    """
    groups = sides.run_ids(session)
    rows = comparable_runs(session, [runs[0] for runs in groups])
    titles = run_titles(rows) if sides.kind == "run" else [row.AgentConfiguration.title for row in rows]
    results = _results_of(session, groups, rows[0].Run.config.get("seed", 0))
    conditions = condition_differences(rows)
    comparison = RunComparison(
        benchmark=rows[0].benchmark,
        runs=[
            _run(row, title, runs, numbers)
            for row, title, runs, numbers in zip(rows, titles, groups, results.runs, strict=True)
        ],
        alike=not conditions,
        conditions=conditions,
        configurations=configuration_differences(rows),
        common_tasks=len(results.tasks.common),
        left_out=results.tasks.left_out,
        differences=[
            RunDifference(sentence=sentence(titles[0], titles[at], result), **numbers)
            for at, (result, numbers) in results.differences.items()
        ],
        tasks=[],
        label=label,
        labels=results.tasks.labels,
        cuts=results.tasks.cuts(label) if label else [],
    )
    return comparison, results.tasks


@dataclass(frozen=True)
class _Results:
    """Data computed from the results of the compared runs alone; independent of names.

    Attributes:
        runs: fields of each `ComparedRun`.
        differences: by position of a further run, how it compares with the first one, and fields of a `RunDifference`.
    """

    runs: list[dict[str, Any]]
    differences: Mapping[int, tuple[TaskComparison, dict[str, Any]]]
    tasks: ComparedResults


_RESULTS: LruCache[tuple[tuple[ResultsKey, ...], ...], _Results] = LruCache(8)
"""Few: a comparison of 25,000 tasks takes some 15 MB."""


def _results_of(session: Session, groups: Sequence[Sequence[UUID]], seed: int) -> _Results:
    """The results, remembered while none of the runs changes."""
    keys = [[results_key(get_run(session, run_id)) for run_id in runs] for runs in groups]
    keys_of_sides = tuple(tuple(key for key in runs if key is not None) for runs in keys)
    if sum(map(len, keys_of_sides)) < sum(map(len, keys)):
        return _results(session, groups, seed)
    return _RESULTS.get_or_make(keys_of_sides, lambda: _results(session, groups, seed))


def _results(session: Session, groups: Sequence[Sequence[UUID]], seed: int) -> _Results:
    results = ComparedResults(session, groups)
    tests = {at: compare_columns(results.pair(at), seed=seed) for at in range(1, len(groups))}
    defined = {at: test for at, test in tests.items() if test is not None}
    adjusted = holm([test.p_value for test in defined.values()])
    return _Results(
        runs=[results.run(at) for at in range(len(groups))],
        differences={
            at: (test, results.difference(at, test, p_value))
            for (at, test), p_value in zip(defined.items(), adjusted, strict=True)
        },
        tasks=results,
    )


def _run(row: AnyRow, title: str, runs: Sequence[UUID], numbers: Mapping[str, Any]) -> ComparedRun:
    return ComparedRun(
        id=row.Run.id,
        runs=list(runs),
        title=title,
        agent=row.AgentConfiguration.name,
        configuration=configuration_ref(row.AgentConfiguration),
        origin=row.Run.origin,
        version=row.version,
        status=row.Run.state,
        **numbers,
    )


def regression_of(session: Session, run_id: UUID, baseline: UUID, alpha: float = ALPHA) -> RegressionReport:
    """Tests whether a run scores lower than a baseline on their common tasks. Raises as `compared`."""
    comparison, _ = compared(session, ComparedSides(runs=[baseline, run_id]))
    result = comparison.differences[0] if comparison.differences else None
    passed = None if result is None else result.regression_p > alpha
    return RegressionReport(
        run=run_id,
        run_status=comparison.runs[1].status,
        baseline=baseline,
        baseline_status=comparison.runs[0].status,
        alpha=alpha,
        passed=passed,
        p_value=None if result is None else result.regression_p,
        test="" if result is None else result.test,
        difference=None if result is None else result.mean_score,
        common_tasks=comparison.common_tasks,
        alike=comparison.alike,
        conditions=comparison.conditions,
        sentence=" ".join([_verdict(result, alpha), *_caveats(comparison)]),
    )


def _verdict(result: RunDifference | None, alpha: float) -> str:
    if result is None:
        return "No task is scored in both runs: nothing can be compared with the baseline."
    word = "No regression" if result.regression_p > alpha else "Regression"
    return f"{word} (one-sided {p_text(result.regression_p, alpha)}, alpha {alpha:g}): {result.sentence}."


def _caveats(comparison: RunComparison) -> Iterator[str]:
    """Sentences about what a reader must know: conditions that differ, results that are missing."""
    if comparison.conditions:
        names = ", ".join(condition.name for condition in comparison.conditions)
        yield f"The runs had different conditions ({names}): the difference may be due to them."
    for name, run in zip(("baseline", "run"), comparison.runs, strict=True):
        if not run.ended:
            yield f"The {name} has not ended ({run.status}): the result may change."
        elif run.status is RunState.CANCELLED:
            yield f"The {name} was cancelled: only the tasks that it had scored are compared."
        if run.lost:
            episodes = "episode" if run.lost == 1 else "episodes"
            yield f"The {name} lost {run.lost} {episodes}, which are not compared."


def comparable_runs(session: Session, run_ids: Sequence[UUID], least: int = LEAST_RUNS) -> list[AnyRow]:
    """`least` to 8 runs of one benchmark, with the names of that and of their agents, in order.

    Raises:
        NotFound: there is no such run.
        Invalid: too few or too many different ones.
        Conflict: they are of different benchmarks.
    """
    distinct = list(dict.fromkeys(run_ids))
    if not least <= len(distinct) <= MOST_RUNS:
        raise Invalid(
            f"{len(distinct)} different runs",
            code="invalid_comparison",
            path="run",
            hint=f"Name {least} to {MOST_RUNS} runs, as in ?run=A&run=B.",
        )
    for run_id in distinct:
        get_run(session, run_id)
    by_id = {row.Run.id: row for row in common_queries.named_runs(session, distinct)}
    benchmarks = sorted({row.benchmark for row in by_id.values()})
    if len(benchmarks) > 1:
        raise Conflict(
            f"The runs are of different benchmarks: {', '.join(benchmarks)}.",
            code="benchmarks_differ",
            hint="Compare runs of one benchmark.",
        )
    return [by_id[run_id] for run_id in distinct]


def run_titles(rows: Sequence[AnyRow]) -> list[str]:
    """Names of the runs; equal ones with the end of their id."""
    titles = [row.Run.name or f"{row.AgentConfiguration.title} on {row.benchmark}" for row in rows]
    numbers = Counter(titles)
    return [
        f"{title} ({row.Run.id.hex[-6:]})" if numbers[title] > 1 else title
        for title, row in zip(titles, rows, strict=True)
    ]
