"""Results of compared runs, task by task, with the tasks' labels. By columns: a comparison may have 25,000 tasks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import comparisons as repository
from backend.domain.model.score import SOLVED_TOLERANCE
from backend.domain.model.task import UNLABELLED
from backend.domain.statistics.intervals import LEVEL, mean_interval
from backend.domain.statistics.paired import difference_of_columns
from backend.domain.statistics.passes import over_tasks
from backend.domain.statistics.task_comparison import PairedColumns, TaskComparison
from backend.services.results.views.comparison_models import (
    ComparedTask,
    CostDifference,
    DifferenceView,
    LabelCut,
    TaskResult,
)

COSTS = ("steps", "seconds", "usd")
Positions = NDArray[np.intp]
"""Positions of tasks in the order of their keys."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TaskList:
    """The tasks of all sides by key: one of several versions has several ids.

    Attributes:
        keys: sorted.
        places: position of each task by its id.
        hashes: content by id, as small numbers.
    """

    keys: Sequence[str]
    places: Mapping[str, int]
    hashes: Mapping[str, int]

    @classmethod
    def from_row(cls, row: AnyRow) -> Self:
        """From a row of `repositories.results.comparisons.task_columns`."""
        keys = sorted(set(row.keys))
        at = {key: index for index, key in enumerate(keys)}
        numbers: dict[str, int] = {}
        hashes = [numbers.setdefault(digest, len(numbers)) for digest in row.hashes]
        places = [at[key] for key in row.keys]
        return cls(keys, dict(zip(row.ids, places, strict=True)), dict(zip(row.ids, hashes, strict=True)))


@dataclass(frozen=True)
class SideColumns:
    """Results of one side's passes by task; means are over episodes that count, nan without one.

    Attributes:
        tasks: ids of its tasks; empty where it has none.
        hashes: their content.
        passes, lost: episodes that count, and lost ones that no other pass made up for.
        scores, rates: mean score, and share of passes that solved the task.
        steps, seconds, usd: nan, too, where one of the passes has none; `usd` is nan everywhere without a model call.
        episodes: ids of those that count, by task and then repeat.
        first: position of each task's first one.
    """

    tasks: Sequence[str]
    hashes: NDArray[np.intp]
    passes: NDArray[np.intp]
    lost: NDArray[np.intp]
    scores: Floats
    rates: Floats
    steps: Floats
    seconds: Floats
    usd: Floats
    episodes: Sequence[str]
    first: NDArray[np.intp]

    @classmethod
    def from_rows(cls, rows: Sequence[AnyRow], tasks: TaskList) -> Self:
        """From rows of `repositories.results.comparisons.episode_columns`, one per run."""
        number, ids = len(tasks.keys), [task for row in rows for task in row.tasks]
        at = np.fromiter(map(tasks.places.__getitem__, ids), dtype=np.intp, count=len(ids))
        column = partial(_column, rows)
        own, hashes = [""] * number, np.full(number, -1, dtype=np.intp)
        for index, task in dict(zip(at.tolist(), ids, strict=True)).items():
            own[index], hashes[index] = task, tasks.hashes[task]
        lost = np.bincount(at[column("lost", bool)], minlength=number)
        # By task and repeat, those of one repeat in the order of their runs.
        order = np.lexsort((column("repeats", np.intp), at))
        order = order[column("counted", bool)[order]]
        at, scores = at[order], column("scores")[order]
        passes = np.bincount(at, minlength=number)
        mean = partial(_means, at, passes)
        episodes = [episode for row in rows for episode in row.ids]
        return cls(
            tasks=own,
            hashes=hashes,
            passes=passes,
            lost=_remaining_losses(passes, lost),
            scores=mean(scores),
            rates=mean((scores >= 1.0 - SOLVED_TOLERANCE).astype(float)),
            steps=mean(column("steps")[order]),
            seconds=mean(column("seconds")[order]),
            usd=mean(column("usd")[order]) if any(row.paid for row in rows) else np.full(number, np.nan),
            episodes=[episodes[index] for index in order.tolist()],
            first=np.cumsum(passes) - passes,
        )

    @property
    def costs(self) -> tuple[Floats, Floats, Floats]:
        return self.steps, self.seconds, self.usd

    def episodes_of(self, index: int) -> list[UUID]:
        first = int(self.first[index])
        return [UUID(episode) for episode in self.episodes[first : first + int(self.passes[index])]]


def _column(rows: Sequence[AnyRow], name: str, kind: type = float) -> NDArray[Any]:
    """The values of all runs; nan for None."""
    parts: list[NDArray[Any]] = [np.array(getattr(row, name), dtype=kind) for row in rows]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def _means(at: Positions, passes: NDArray[np.intp], values: Floats) -> Floats:
    """The mean of each task's values, which are sorted by task; several are added without loss, in whatever order."""
    means = np.full(len(passes), np.nan)
    single = passes[at] == 1
    means[at[single]] = values[single]
    ends = np.cumsum(passes)
    for index in np.flatnonzero(passes > 1).tolist():
        means[index] = fmean(values[ends[index] - passes[index] : ends[index]].tolist())
    return means


def _remaining_losses(passes: NDArray[np.intp], lost: NDArray[np.intp]) -> NDArray[np.intp]:
    """The losses that no other run made up for: a task that all passes scored has none."""
    # The number of passes is that of most tasks, as on a board: a partial run repeats only a few.
    numbers = np.sort((passes + lost)[passes + lost > 0])
    most = int(numbers[(len(numbers) - 1) // 2]) if len(numbers) else 0
    return np.minimum(lost, np.maximum(0, most - passes))


class ComparedResults:
    """Scores of the runs by the keys of their tasks."""

    def __init__(self, session: Session, groups: Sequence[Sequence[UUID]]) -> None:
        """`groups`: the runs of each side, whose passes are pooled."""
        self._groups, runs = groups, [run_id for group in groups for run_id in group]
        tasks = TaskList.from_row(repository.task_columns(session, runs))
        rows = {row.run: row for row in repository.episode_columns(session, runs)}
        self._keys = tasks.keys
        self._sides = [SideColumns.from_rows([rows[run] for run in group if run in rows], tasks) for group in groups]
        quarantined = {tasks.places[task] for task in repository.quarantined_tasks(session) if task in tasks.places}
        self._choose(list(quarantined))
        labels = repository.task_labels(session, groups[0])
        self._labels = [labels[self._sides[0].tasks[index]] for index in self.common.tolist()]
        self.labels = varying_labels(self._labels)

    def _choose(self, quarantined: list[int]) -> None:
        """Which tasks are compared, and why the others are not: the first reason that holds."""
        present = np.array([side.hashes >= 0 for side in self._sides])
        hashes = np.array([side.hashes for side in self._sides])
        scored = np.array([side.passes > 0 for side in self._sides])
        self._in_quarantine = np.zeros(len(self._keys), dtype=bool)
        self._in_quarantine[quarantined] = True
        remaining = present.any(axis=0)
        self.left_out: dict[str, int] = {}
        for reason, excluded in (
            ("quarantined", self._in_quarantine),
            ("not in every run", ~present.all(axis=0)),
            ("changed between versions", (hashes != hashes[0]).any(axis=0)),
            ("not scored in every run", ~scored.all(axis=0)),
        ):
            if number := int(np.count_nonzero(excluded & remaining)):
                self.left_out[reason] = number
            remaining &= ~excluded
        self.common: Positions = np.flatnonzero(remaining)

    def columns(self, name: str) -> list[Floats]:
        """A column of each side, of the common tasks."""
        return [getattr(side, name)[self.common] for side in self._sides]

    def pair(self, at: int) -> PairedColumns:
        """The first side and another one, on the common tasks."""
        (base, *others), (solved, *others_solved) = self.columns("scores"), self.columns("rates")
        single = all(bool((passes == 1).all()) for passes in (self.columns("passes")[0], self.columns("passes")[at]))
        return PairedColumns(base, others[at - 1], solved, others_solved[at - 1], single)

    def run(self, at: int) -> dict[str, Any]:
        """The fields of a `ComparedRun` that are numbers: its rates over the common tasks."""
        side = self._sides[at]
        mean, success = (over_tasks(self.columns(name)[at].tolist()) for name in ("scores", "rates"))
        return {
            "success_rate": success.value if success else None,
            "success_interval": success.interval if success else None,
            "mean_score": mean.value if mean else None,
            "mean_interval": mean.interval if mean else None,
            "tasks": int(np.count_nonzero(side.hashes >= 0)),
            "lost": int(side.lost[~self._in_quarantine].sum()),
        }

    def difference(self, at: int, compared: TaskComparison, adjusted: float) -> dict[str, Any]:
        """The fields of a `RunDifference` without a sentence: one run against the first one."""
        pair = self.pair(at)
        both, neither = ((pair.base_solved == share) & (pair.other_solved == share) for share in (1, 0))
        return {
            "run": self._groups[at][0],
            "success_rate": DifferenceView.model_validate(compared.success),
            "mean_score": DifferenceView.model_validate(compared.score),
            "better": compared.better,
            "worse": compared.worse,
            "both_solved": int(np.count_nonzero(both)),
            "neither_solved": int(np.count_nonzero(neither)),
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
            columns = self.columns(name)
            known = ~np.isnan(columns[0]) & ~np.isnan(columns[at])
            if known.any():
                base, other = columns[0][known], columns[at][known]
                differences[name] = CostDifference(
                    base=float(base.mean()),
                    other=float(other.mean()),
                    value=float((other - base).mean()),
                    interval=mean_interval(other - base),
                    tasks=len(base),
                )
        return differences

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Of each common task, whether solve rates differ."""
        rates = np.array(self.columns("rates"))
        flipped: NDArray[np.bool_] = (rates != rates[0]).any(axis=0)
        return flipped

    def order(self) -> Positions:
        """Places among the common tasks: flipped ones first, those with the largest change of score before others."""
        scores = np.array(self.columns("scores"))
        ranges = scores.max(axis=0) - scores.min(axis=0)
        return np.lexsort((np.arange(len(self.common)), -ranges, ~self.flipped))

    def has_label(self, label: str, value: str) -> NDArray[np.bool_]:
        """Of each common task, whether it has this value of the label."""
        known: dict[int, bool] = {}
        for labels in self._labels:
            if id(labels) not in known:  # Equal labels are mostly one object.
                known[id(labels)] = value in labels.get(label, [UNLABELLED])
        return np.array([known[id(labels)] for labels in self._labels], dtype=bool)

    def cuts(self, label: str) -> list[LabelCut]:
        """The common tasks by the values of a label; a task with several values is in each of them."""
        alike: dict[int, list[int]] = defaultdict(list)
        for index, labels in enumerate(self._labels):
            alike[id(labels)].append(index)
        groups: dict[str, list[int]] = defaultdict(list)
        for places in alike.values():
            for value in self._labels[places[0]].get(label, [UNLABELLED]):
                groups[value] += places
        scores, rates = self.columns("scores"), self.columns("rates")
        return [
            LabelCut(
                value=value,
                tasks=len(places),
                mean_scores=[fmean(column[places].tolist()) for column in scores],
                success_rates=[fmean(column[places].tolist()) for column in rates],
                differences=[
                    DifferenceView.model_validate(difference_of_columns(scores[0][places], column[places]))
                    for column in scores[1:]
                ],
            )
            for value, places in sorted(groups.items())
        ]

    def tasks(self, session: Session, places: Positions) -> list[ComparedTask]:
        """The common tasks at these places."""
        ids = [UUID(self._sides[0].tasks[self.common[index]]) for index in places.tolist()]
        instructions = repository.instructions(session, ids)
        flipped = self.flipped
        return [
            ComparedTask.model_construct(  # The database's own values: checking 25,000 takes seconds.
                task=self._keys[self.common[index]],
                task_id=task_id,
                instruction=instructions[task_id],
                labels=self._labels[index],
                flipped=bool(flipped[index]),
                results=[_result(side, int(self.common[index])) for side in self._sides],
            )
            for index, task_id in zip(places.tolist(), ids, strict=True)
        ]


def _result(side: SideColumns, at: int) -> TaskResult:
    steps, seconds, usd = (None if np.isnan(column[at]) else float(column[at]) for column in side.costs)
    return TaskResult.model_construct(
        score=float(side.scores[at]),
        solve_rate=float(side.rates[at]),
        passes=int(side.passes[at]),
        steps=steps,
        seconds=seconds,
        usd=usd,
        episodes=side.episodes_of(at),
    )


def varying_labels(tasks: Iterable[Mapping[str, list[str]]]) -> list[str]:
    """Labels with more than one value among the tasks, of which each has its labels."""
    rows = {id(row): row for row in tasks}.values()  # Equal labels are mostly one object.
    values = {name: {tuple(row.get(name, ())) for row in rows} for name in {name for row in rows for name in row}}
    return sorted(name for name, distinct in values.items() if len(distinct) > 1)


def sentence(base: str, other: str, compared: TaskComparison) -> str:
    """`B solves 6.2 points more than A (95 %: 2.1 to 10.4; exact McNemar test p = 0.004; 154 common tasks)`."""
    same_rates = compared.success == compared.score
    rate = compared.success if same_rates else compared.score
    sign = -1 if rate.value < 0 else 1
    low, high = sorted(100 * sign * end for end in rate.interval)
    noun = "common task" if compared.tasks == 1 else "common tasks"
    facts = (
        f"({LEVEL:.0%}: {low:.1f} to {high:.1f}; {compared.test} {p_text(compared.p_value)}; {compared.tasks} {noun})"
    ).replace("%", " %", 1)
    verb = "solves" if same_rates else "scores"
    if not rate.value:
        return f"{other} {verb} as much as {base} {facts}"
    points = f"{abs(100 * rate.value):.1f}"
    points = points if float(points) else "less than 0.1"
    return f"{other} {verb} {points} points {'less' if sign < 0 else 'more'} than {base} {facts}"


def p_text(value: float, alpha: float | None = None) -> str:
    """`p = 0.004`, or `p < 0.001`; with more digits where two would make it equal to alpha."""
    if alpha is not None and f"{value:.2g}" == f"{alpha:.2g}":
        return f"p = {value:.6g}"
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"  # noqa: PLR2004 - fewer digits say enough.
