"""Pools the passes of a configuration under equal conditions. Always recomputed completely, with a run's cube."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import costs as cost_repository
from backend.db.repositories.results import pass_rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model.measures import primary
from backend.domain.model.score import SCORE
from backend.domain.model.task import digest
from backend.domain.statistics.passes import over_passes, pass_at_k, pass_hat_k, value_and_ends
from backend.services.attempts.attempts import DESKTOP_END
from backend.services.results import measure_rollups, rollups
from backend.services.results.conditions import conditions_of
from backend.services.results.costs import pass_costs
from backend.services.results.rollups import RollupInputs, RollupRows

SUMS = ("scored", "solved", "score_sum", "score_sq_sum", "cancelled", "not_runnable", "waiting", "running", "steps",
        "human_assisted", "handed_in", "quarantined")  # fmt: skip
MOST_K = 10


@dataclass(frozen=True)
class PassFacts:
    """Facts of a row besides scores: its key, its runs, oldest first, and facts of their episodes.

    `times`: seconds in which a run had an attempt, and the sum over its attempts.
    """

    key: Mapping[str, Any]
    runs: Sequence[UUID]
    facts: Mapping[str, Any]
    times: Mapping[UUID, tuple[float, float]]


@dataclass(frozen=True)
class PassInputs:
    """Inputs of one row: its facts, and the inputs of each of its runs."""

    facts: PassFacts
    runs: Mapping[UUID, RollupInputs]


def passes_of(session: Session, run_id: UUID) -> list[UUID]:
    """The runs that a leaderboard pools with this one, and it itself, oldest first; empty if it enters none."""
    return _alike({row.id: row for row in repository.same_configuration(session, run_id)}, run_id)


def _alike(rows: Mapping[UUID, AnyRow], run_id: UUID) -> list[UUID]:
    if run_id not in rows:
        return []
    key = conditions_of(rows[run_id].config).key
    return [row.id for row in rows.values() if conditions_of(row.config).key == key]


def pass_facts(session: Session, run_id: UUID) -> PassFacts | None:
    """Reads the facts of the row that a run belongs to; None if it enters no leaderboard."""
    rows = {row.id: row for row in repository.same_configuration(session, run_id)}
    if not (alike := _alike(rows, run_id)):
        return None
    key = conditions_of(rows[run_id].config).key
    facts = dict(repository.episode_facts(session, alike, DESKTOP_END)._mapping)  # noqa: SLF001 - its public name.
    spent = pass_costs(session, alike)
    facts |= {"agent_seconds": spent.agent_seconds, "costs": spent.model_dump(mode="json")}
    times = {row.run: (row.makespan, row.desktop_seconds) for row in cost_repository.makespans(session, alike)}
    columns = {"task_set_id": rows[run_id].task_set_id, "agent_configuration_id": rows[run_id].agent_configuration_id}
    return PassFacts({**columns, "conditions_key": key}, alike, facts, times)


def gather(session: Session, run_id: UUID, own: RollupInputs, facts: PassFacts) -> PassInputs:
    """Reads the inputs of a row.

    Args:
        session: the transaction.
        run_id: a run of the row.
        own: its inputs.
        facts: of the row.
    """
    return PassInputs(facts, {run: own if run == run_id else rollups.gather(session, run) for run in facts.runs})


def compute(inputs: PassInputs, own: RollupRows) -> dict[str, Any]:
    """Columns of the row, without a database.

    Args:
        inputs: those of all its runs.
        own: the computed cube of the run that they were gathered for.
    """
    merged = pool(list(inputs.runs.values()))
    repeated = len(inputs.runs) > 1 or any(_results(task) > 1 for task in merged.totals)
    if repeated or not any(run is merged for run in inputs.runs.values()):
        own = rollups.compute(merged, None if repeated else rollups.whole(merged), by_task=True)
    summaries, cells = _split(own.cells)
    measures, means = _split(own.means)
    runs = [_run(run_id, run, inputs.facts.times.get(run_id)) for run_id, run in inputs.runs.items()]
    return {
        **inputs.facts.key,
        **coverage(merged),
        "rates": {**merged.rates, "primary": primary_rates(merged)},
        "pass_rates": pass_rates(merged.totals),
        "runs": runs,
        "summary": summaries[0] if summaries else {},
        "measures": measures,
        "cells": cells if repeated else [],
        "means": means if repeated else [],
        **inputs.facts.facts,
    }


def _split(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Rows of all tasks, and the others."""
    summaries = [row for row in rows if row["dimension"] == Dimension.ALL]
    return summaries, [row for row in rows if row["dimension"] != Dimension.ALL]


def store(session: Session, columns: Mapping[str, Any], as_of: datetime) -> None:
    """Stores a row with the data of this time."""
    repository.replace(session, {**columns, "as_of": as_of})


def pool(runs: Sequence[RollupInputs]) -> RollupInputs:
    """Several runs as one. Losses that another pass made up for are left out; a run without such losses stays as is."""
    if len(runs) == 1 and not any(task.lost for task in runs[0].totals):
        return runs[0]
    by_task: dict[UUID, list[TaskTotals]] = defaultdict(list)
    for run in runs:
        for task in run.totals:
            by_task[task.task_id].append(task)
    totals = [_sum_totals(rows) for rows in by_task.values()]
    passes = number_of_passes(totals)
    remaining = [_without_repeated_losses(task, passes) for task in totals]
    return RollupInputs(remaining, measure_rollups.pooled_sums([run.sums for run in runs]), runs[0].pairs)


def _sum_totals(rows: Sequence[TaskTotals]) -> TaskTotals:
    if len(rows) == 1:
        return rows[0]
    lost: dict[str, int] = defaultdict(int)
    for row in rows:
        for name, number in row.lost.items():
            lost[name] += number
    sums = {name: sum(getattr(row, name) for row in rows) for name in SUMS}
    return rows[0]._replace(lost=dict(sorted(lost.items())), **sums)


def number_of_passes(totals: Sequence[TaskTotals]) -> int:
    """Results of most tasks. A partial run that repeats a few of them does not count as a pass."""
    numbers = [number for task in totals if (number := _results(task))]
    return median_low(numbers) if numbers else 0


def _results(task: TaskTotals) -> int:
    """Scored and lost episodes."""
    return task.scored + sum(task.lost.values()) if task.lost else task.scored


def _without_repeated_losses(task: TaskTotals, passes: int) -> TaskTotals:
    if not task.lost:
        return task
    over = sum(task.lost.values()) - max(0, passes - task.scored)
    if over <= 0:
        return task
    lost = dict(task.lost)
    for name in sorted(lost, key=lambda name: -lost[name]):
        fewer = min(over, lost[name])
        lost[name] -= fewer
        over -= fewer
    return task._replace(lost={name: number for name, number in lost.items() if number})


def coverage(inputs: RollupInputs) -> dict[str, Any]:
    """Number of passes, attempted and not runnable tasks, and the share of lost episodes."""
    totals = inputs.totals
    attempted = [at for at, task in enumerate(totals) if task.scored or task.lost]
    scored = sum(task.scored for task in totals)
    lost = sum(map(_results, totals)) - scored
    return {
        "passes": number_of_passes(totals),
        "attempted_tasks": len(attempted),
        "not_runnable_tasks": sum(map(_is_not_runnable, totals)),
        "tasks_key": digest(sorted(inputs.kinds.ids[attempted].tolist())),
        "lost_share": lost / (lost + scored) if lost else 0.0,
    }


def _is_not_runnable(task: TaskTotals) -> bool:
    """Whether a task that counts could not run in any pass."""
    return task.not_runnable > 0 and task.episodes == task.not_runnable and not task.in_quarantine


def primary_rates(inputs: RollupInputs) -> dict[str, Any] | None:
    """Rates of the measure by which a board ranks, if that is not the score; None without a value."""
    measure = primary({task.protocol for task in inputs.totals})
    pooled_mean = (
        None if measure == SCORE else measure_rollups.over_tasks(measure, inputs.totals, inputs.kinds, inputs.sums)
    )
    if pooled_mean is None:
        return None
    mean, interval, lower = pooled_mean
    return {"measure": measure, "mean": [mean, *interval], "lower": lower}


def pass_rates(totals: Sequence[TaskTotals]) -> list[dict[str, Any]]:
    """pass@k and pass^k for each k up to the number of passes, over tasks with at least k of them."""
    passes = [(task.scored, task.solved) for task in totals if task.scored]
    rows = []
    for k in range(1, min(MOST_K, number_of_passes(totals)) + 1):
        any_, every = over_passes(passes, k, pass_at_k), over_passes(passes, k, pass_hat_k)
        if any_ is not None and every is not None:
            rows.append({"k": k, "tasks": any_.tasks, "at": value_and_ends(any_), "hat": value_and_ends(every)})
    return rows


def _run(run_id: UUID, run: RollupInputs, times: tuple[float, float] | None) -> dict[str, Any]:
    mean, success = run.rates["mean"], run.rates["success"]
    return {
        "run": str(run_id),
        "tasks": sum(bool(task.scored or task.lost) for task in run.totals),
        "mean": mean and mean[0],
        "success": success and success[0],
        "makespan": times and times[0],
        "desktop_seconds": times and times[1],
    }
