"""Results of compared runs, task by task, with the tasks' labels."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median_low
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import comparisons as repository
from backend.domain.model.score import is_solved
from backend.domain.model.task import UNLABELLED
from backend.domain.statistics.intervals import LEVEL, mean_interval
from backend.domain.statistics.passes import mean_score, pooled
from backend.domain.statistics.task_comparison import TaskComparison, TaskScores
from backend.services.results.views.comparison_models import (
    ComparedTask,
    CostDifference,
    DifferenceView,
    LabelCut,
    TaskResult,
)

COSTS = ("steps", "seconds", "usd")


@dataclass(frozen=True)
class PooledTask:
    """What the passes of one side scored on a task; means are over episodes that count, None without one."""

    task_id: UUID
    content_hash: str
    quarantined: bool
    scores: list[float]
    episodes: list[UUID]
    lost: int
    steps: float | None
    seconds: float | None
    usd: float | None


def pooled_task(rows: Sequence[AnyRow], costs: Mapping[tuple[UUID, UUID], float]) -> PooledTask:
    """The results of a task in the runs of one side.

    Args:
        rows: of `repositories.results.comparisons.task_results`, at least one.
        costs: mean USD by run and task.
    """
    scored = [row for row in rows if row.scores]
    if len(rows) == len(scored) == 1:
        (row,) = rows
        means = row.steps, row.seconds, costs.get((row.run, row.task_id))
        return PooledTask(row.task_id, row.content_hash, row.quarantined, row.scores, row.episodes, row.lost, *means)
    return PooledTask(
        task_id=rows[0].task_id,
        content_hash=rows[0].content_hash,
        quarantined=any(row.quarantined for row in rows),
        scores=[score for row in scored for score in row.scores],
        episodes=[episode for row in scored for episode in row.episodes],
        lost=sum(row.lost for row in rows),
        steps=_weighted([(row.steps, len(row.scores)) for row in scored]),
        seconds=_weighted([(row.seconds, len(row.scores)) for row in scored]),
        usd=_weighted([(costs.get((row.run, row.task_id)), len(row.scores)) for row in scored]),
    )


def _side(tasks: dict[str, PooledTask]) -> dict[str, PooledTask]:
    """The tasks without losses that another run made up for: there, all passes have a score."""
    # The number of passes is that of most tasks, as on a board: a partial run repeats only a few.
    numbers = [number for task in tasks.values() if (number := len(task.scores) + task.lost)]
    passes = median_low(numbers) if numbers else 0
    return {
        key: replace(task, lost=min(task.lost, max(0, passes - len(task.scores))))
        if task.scores and task.lost
        else task
        for key, task in tasks.items()
    }


def _weighted(means: Sequence[tuple[float | None, int]]) -> float | None:
    """The mean over all passes; None if one of them has none."""
    known = [(mean, number) for mean, number in means if mean is not None]
    if not known or len(known) < len(means):
        return None
    return sum(mean * number for mean, number in known) / sum(number for _, number in known)


class ComparedResults:
    """What the runs scored, by the keys of their tasks."""

    def __init__(self, session: Session, groups: Sequence[Sequence[UUID]]) -> None:
        """`groups`: the runs of each side, whose passes are pooled."""
        self._groups = groups
        place = {run_id: at for at, group in enumerate(groups) for run_id in group}
        rows: list[dict[str, list[AnyRow]]] = [defaultdict(list) for _ in groups]
        for row in repository.task_results(session, list(place)):
            rows[place[row.run]][row.key].append(row)
        costs = {(row.run, row.task_id): row.usd for row in repository.task_costs(session, list(place))}
        self._sides = [_side({key: pooled_task(passes, costs) for key, passes in side.items()}) for side in rows]
        reasons = {key: self._why_not(key) for key in sorted({key for side in self._sides for key in side})}
        self.common = [key for key, reason in reasons.items() if not reason]
        self.left_out = dict(Counter(reason for reason in reasons.values() if reason))
        first = [self._sides[0][key].task_id for key in self.common]
        self._tasks = {row.id: row for row in repository.tasks(session, first)}

    def _why_not(self, key: str) -> str:
        """Why a task is not compared; empty if it is."""
        rows = [side.get(key) for side in self._sides]
        if any(row is not None and row.quarantined for row in rows):
            return "quarantined"
        if any(row is None for row in rows):
            return "not in every run"
        if len({row.content_hash for row in rows if row is not None}) > 1:
            return "changed between versions"
        return "" if all(row is not None and row.scores for row in rows) else "not scored in every run"

    def scores(self, base: int, other: int) -> list[TaskScores]:
        """Both runs' passes of the common tasks."""
        one, two = self._sides[base], self._sides[other]
        return [TaskScores(key, one[key].scores, two[key].scores) for key in self.common]

    def run(self, at: int) -> dict[str, Any]:
        """The fields of a `ComparedRun` that are numbers: its rates over the common tasks."""
        side = self._sides[at]
        scores = [side[key].scores for key in self.common]
        mean, success = pooled(scores), pooled([[float(is_solved(score)) for score in each] for each in scores])
        return {
            "success_rate": success.value if success else None,
            "success_interval": success.interval if success else None,
            "mean_score": mean.value if mean else None,
            "mean_interval": mean.interval if mean else None,
            "tasks": len(side),
            "lost": sum(result.lost for result in side.values()),
        }

    def difference(self, at: int, compared: TaskComparison, adjusted: float) -> dict[str, Any]:
        """The fields of a `RunDifference` without a sentence: one run against the first one."""
        passes = [[is_solved(score) for score in (*task.base, *task.other)] for task in self.scores(0, at)]
        return {
            "run": self._groups[at][0],
            "success_rate": DifferenceView.model_validate(compared.success),
            "mean_score": DifferenceView.model_validate(compared.score),
            "better": compared.better,
            "worse": compared.worse,
            "both_solved": sum(map(all, passes)),
            "neither_solved": sum(not any(each) for each in passes),
            "test": compared.test,
            "p_value": compared.p_value,
            "p_adjusted": adjusted,
            "regression_p": compared.regression_p,
            "detectable": compared.detectable,
            "costs": self._cost_differences(at),
        }

    def _cost_differences(self, at: int) -> dict[str, CostDifference]:
        differences = {}
        for name in COSTS:
            sides = [[getattr(self._sides[side][key], name) for key in self.common] for side in (0, at)]
            pairs = [(one, two) for one, two in zip(*sides, strict=True) if one is not None and two is not None]
            if pairs:
                changes = [two - one for one, two in pairs]
                differences[name] = CostDifference(
                    base=fmean(one for one, _ in pairs),
                    other=fmean(two for _, two in pairs),
                    value=fmean(changes),
                    interval=mean_interval(changes),
                    tasks=len(pairs),
                )
        return differences

    def _result(self, at: int, key: str) -> TaskResult:
        row = self._sides[at][key]
        return TaskResult.model_construct(
            score=mean_score(row.scores),
            solve_rate=mean_score([float(is_solved(score)) for score in row.scores]),
            passes=len(row.scores),
            steps=row.steps,
            seconds=row.seconds,
            usd=row.usd,
            episodes=row.episodes,
        )

    def tasks(self) -> list[ComparedTask]:
        """The common tasks, flipped ones first, those with the largest change of score before others."""
        rows = []
        for key in self.common:
            task, results = (
                self._tasks[self._sides[0][key].task_id],
                [self._result(at, key) for at in range(len(self._sides))],
            )
            flipped = len({result.solve_rate for result in results}) > 1
            rows.append(
                ComparedTask.model_construct(  # The database's own values: checking 25,000 takes seconds.
                    task=key,
                    task_id=task.id,
                    instruction=task.instruction,
                    labels=task.labels,
                    flipped=flipped,
                    results=results,
                )
            )
        return sorted(rows, key=lambda row: (not row.flipped, -_range(row.results), row.task))


def _range(results: Sequence[TaskResult]) -> float:
    scores = [result.score for result in results]
    return max(scores) - min(scores)


def varying_labels(tasks: Iterable[Mapping[str, list[str]]]) -> list[str]:
    """Labels with more than one value among the tasks, of which each has its labels."""
    rows = {id(row): row for row in tasks}.values()  # Equal labels are mostly one object.
    values = {name: {tuple(row.get(name, ())) for row in rows} for name in {name for row in rows for name in row}}
    return sorted(name for name, each in values.items() if len(each) > 1)


def label_cuts(tasks: Iterable[ComparedTask], label: str) -> list[LabelCut]:
    """The tasks by the values of a label; a task with several values is in each of them."""
    groups: dict[str, list[ComparedTask]] = defaultdict(list)
    for task in tasks:
        for value in task.labels.get(label, [UNLABELLED]):
            groups[value].append(task)
    return [
        LabelCut(
            value=value,
            tasks=len(rows),
            mean_scores=[
                fmean(side.score for side in sides) for sides in zip(*(row.results for row in rows), strict=True)
            ],
            success_rates=[
                fmean(side.solve_rate for side in sides) for sides in zip(*(row.results for row in rows), strict=True)
            ],
        )
        for value, rows in sorted(groups.items())
    ]


def sentence(base: str, other: str, compared: TaskComparison) -> str:
    """`B solves 6.2 points more than A (95 %: 2.1 to 10.4; exact McNemar test p = 0.004; 154 common tasks)`."""
    whole = compared.success == compared.score
    rate = compared.success if whole else compared.score
    sign = -1 if rate.value < 0 else 1
    low, high = sorted(100 * sign * end for end in rate.interval)
    noun = "common task" if compared.tasks == 1 else "common tasks"
    facts = (
        f"({LEVEL:.0%}: {low:.1f} to {high:.1f}; {compared.test} {p_text(compared.p_value)}; {compared.tasks} {noun})"
    ).replace("%", " %", 1)
    verb = "solves" if whole else "scores"
    if not rate.value:
        return f"{other} {verb} as much as {base} {facts}"
    return f"{other} {verb} {abs(100 * rate.value):.1f} points {'less' if sign < 0 else 'more'} than {base} {facts}"


def p_text(value: float) -> str:
    """`p = 0.004`, or `p < 0.001`."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"  # noqa: PLR2004 - fewer digits say enough.
