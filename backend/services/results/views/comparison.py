"""View of a comparison of runs on their common tasks, and of the test for a regression."""

from collections import Counter
from collections.abc import Iterator, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories import common_queries
from backend.db.repositories.common_queries import AnyRow
from backend.domain.errors import Conflict, Invalid
from backend.domain.model.episode import RunState
from backend.domain.statistics.paired import holm
from backend.domain.statistics.task_comparison import compare_tasks
from backend.services.results.configuration_differences import condition_differences, configuration_differences
from backend.services.results.views.compared_results import ComparedResults, label_cuts, p_text, varying_labels
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison_models import ComparedRun, RegressionReport, RunComparison, RunDifference
from backend.services.runs.runs import get_run

LEAST_RUNS, MOST_RUNS = 2, 8
ALPHA = 0.05


def comparison_of(session: Session, run_ids: Sequence[UUID], label: str | None = None) -> RunComparison:
    """Compares runs on their common tasks.

    Args:
        session: the transaction.
        run_ids: the first one is the base.
        label: of the tasks, for the cut.

    Raises:
        NotFound: there is no such run.
        Invalid: fewer than 2 or more than 8 different runs.
        Conflict: they are of different benchmarks.
    """
    return compare_sides(session, ComparedSides(runs=run_ids), label)


def compare_sides(session: Session, sides: ComparedSides, label: str | None = None) -> RunComparison:
    """Compares runs, or configurations with all their passes, on their common tasks. Raises as `comparison_of`."""
    groups = sides.run_ids(session)
    rows = comparable_runs(session, [runs[0] for runs in groups])
    results = ComparedResults(session, groups)
    titles = run_titles(rows) if sides.kind == "run" else [row.AgentConfiguration.title for row in rows]
    compared = [
        compare_tasks(results.scores(0, at), seed=rows[0].Run.config.get("seed", 0)) for at in range(1, len(rows))
    ]
    adjusted = holm([each.p_value for each in compared if each is not None])
    tasks = results.tasks()
    conditions = condition_differences(rows)
    return RunComparison(
        benchmark=rows[0].benchmark,
        runs=[results.run(at, row, titles[at]) for at, row in enumerate(rows)],
        alike=not conditions,
        conditions=conditions,
        configurations=configuration_differences(rows),
        common_tasks=len(results.common),
        left_out=results.left_out,
        differences=[
            results.difference(at, each, adjusted[at - 1], titles)
            for at, each in enumerate(compared, 1)
            if each is not None
        ],
        tasks=tasks,
        label=label,
        labels=varying_labels(task.labels for task in tasks),
        cuts=label_cuts(tasks, label) if label else [],
    )


def regression_of(session: Session, run_id: UUID, baseline: UUID, alpha: float = ALPHA) -> RegressionReport:
    """Tests whether a run scores lower than a baseline on their common tasks. Raises as `comparison_of`."""
    comparison = comparison_of(session, [baseline, run_id])
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
        sentence=" ".join([_verdict(result, alpha), *_incomplete(comparison.runs)]),
    )


def _verdict(result: RunDifference | None, alpha: float) -> str:
    if result is None:
        return "No task is scored in both runs: nothing can be compared with the baseline."
    word = "No regression" if result.regression_p > alpha else "Regression"
    return f"{word} (one-sided {p_text(result.regression_p)}, alpha {alpha:g}): {result.sentence}."


def _incomplete(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """A sentence about the baseline and one about the run, where some of its results are missing."""
    for name, run in zip(("baseline", "run"), runs, strict=True):
        if not run.ended:
            yield f"The {name} has not ended ({run.status}): the result may change."
        elif run.status is RunState.CANCELLED:
            yield f"The {name} was cancelled: only the tasks that it had scored are compared."


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
