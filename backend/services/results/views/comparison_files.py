"""A comparison as tables that can be downloaded."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backend.services.read_model import value_text
from backend.services.results.views.comparison_models import RunComparison

RESULTS = ("score", "solve_rate", "passes", "steps", "seconds", "usd")
Rows = tuple[list[str], Iterator[list[Any]]]
LETTERS = "ABCDEFGH"
_COSTS = ("steps", "seconds", "usd")


def task_rows(comparison: RunComparison) -> Rows:
    """The results of every common task in every run."""
    head = ["task", "flipped", *(f"{run.title}: {name}" for run in comparison.runs for name in RESULTS)]
    return head, (
        [row.task, row.flipped, *(getattr(result, name) for result in row.results for name in RESULTS)]
        for row in comparison.tasks
    )


def rate_rows(comparison: RunComparison) -> Rows:
    """Rates of each run over the common tasks."""
    head = ["run", "title", "success_rate", "success_low", "success_high", "mean_score", "mean_low", "mean_high"]
    return [*head, "common_tasks", "tasks", "lost"], (
        [
            *(str(run.id), run.title, run.success_rate, *(run.success_interval or (None, None))),
            *(run.mean_score, *(run.mean_interval or (None, None)), comparison.common_tasks, run.tasks, run.lost),
        ]
        for run in comparison.runs
    )


def difference_rows(comparison: RunComparison) -> Rows:
    """Each run against the first one: rates, test, discordant tasks, costs."""
    head = ["run", "title", "base"]
    head += [f"{rate}_{name}" for rate in ("success", "mean") for name in ("difference", "low", "high")]
    head += ["better", "worse", "both_solved", "neither_solved"]
    head += ["test", "p_value", "p_adjusted", "regression_p", "detectable"]
    head += [f"{cost}_{name}" for cost in _COSTS for name in ("base", "other", "difference", "low", "high", "tasks")]
    return head, _differences(comparison)


def _differences(comparison: RunComparison) -> Iterator[list[Any]]:
    titles = {run.id: run.title for run in comparison.runs}
    for row in comparison.differences:
        costs: list[Any] = []
        for name in _COSTS:
            cost = row.costs.get(name)
            known = cost and [cost.base, cost.other, cost.value, *(cost.interval or (None, None)), cost.tasks]
            costs += known or [None] * 6
        yield [
            *(str(row.run), titles[row.run], comparison.runs[0].title),
            *(row.success_rate.value, *row.success_rate.interval, row.mean_score.value, *row.mean_score.interval),
            *(row.better, row.worse, row.both_solved, row.neither_solved),
            *(row.test, row.p_value, row.p_adjusted, row.regression_p, row.detectable, *costs),
        ]


def label_rows(comparison: RunComparison) -> Rows:
    """Means of each run by the values of the label; no row without one."""
    head = ["label", "value", "tasks", "run", "title", "mean_score", "success_rate", "difference", "low", "high"]
    return head, (
        [comparison.label, cut.value, cut.tasks, str(run.id), run.title, mean, rate, *difference]
        for cut in comparison.cuts
        for run, mean, rate, difference in zip(
            comparison.runs,
            cut.mean_scores,
            cut.success_rates,
            [(None, None, None), *((difference.value, *difference.interval) for difference in cut.differences)],
            strict=True,
        )
    )


def field_rows(comparison: RunComparison) -> Rows:
    """Differing conditions and configuration fields; each value as text."""
    head = ["kind", "field", *(f"{letter} {run.title}" for letter, run in zip(LETTERS, comparison.runs, strict=False))]
    return head, (
        [kind, row.name, *map(value_text, row.values)]
        for kind, rows in (("condition", comparison.conditions), ("configuration", comparison.configurations))
        for row in rows
    )


TABLES: Mapping[str, Callable[[RunComparison], Rows]] = {
    "tasks": task_rows,
    "rates": rate_rows,
    "differences": difference_rows,
    "labels": label_rows,
    "fields": field_rows,
}
