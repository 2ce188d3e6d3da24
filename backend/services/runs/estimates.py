"""Estimates for a run before it is submitted, from earlier runs: time, tokens, money, detectable difference."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from statistics import fmean, median
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.runs import run_history as repository
from backend.domain.model.prices import Tokens, price_of, usd
from backend.domain.statistics.intervals import total_interval
from backend.domain.statistics.paired import detectable_difference
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.capacity.run_request import RunRequest
from backend.services.read_model import ReadModel
from backend.services.runs.forecast import FEW, Forecast, forecast

HOUR = 3600.0
LEAST_TASKS = 10
"""Common tasks from which on a pair of runs says how much tasks differ."""


class EstimatedTotal(ReadModel):
    """A sum over the run's episodes, with its 95 % prediction interval."""

    expected: float
    low: float
    high: float

    def times(self, factor: float) -> "EstimatedTotal":
        """This total in another unit."""
        return EstimatedTotal(expected=self.expected * factor, low=self.low * factor, high=self.high * factor)


class PairedDifference(ReadModel):
    """Smallest difference of two success rates on the same tasks that would show (80 % power, 5 % level)."""

    expected: float = Field(description="Median over the pairs of earlier configurations.", examples=[0.08])
    low: float = Field(description="Where tasks differ as little as in the most alike pair.")
    high: float
    pairs: int = Field(description="Pairs of earlier configurations that it is estimated from.")


class RunEstimate(ReadModel):
    """Estimate of a run from earlier episodes of the agent on the benchmark; null where too few are known."""

    forecast: Forecast
    sample: int = Field(description="Earlier episodes that time, desktops and tokens are estimated from.")
    same_model: bool = Field(description="They used the same model.")
    same_provider: bool = Field(description="They ran on the same kind of desktops.")
    seconds: EstimatedTotal | None = Field(description="Wall time.")
    desktop_hours: EstimatedTotal | None = Field(description="Hours in which desktops are used.")
    calls: EstimatedTotal | None = Field(description="Calls of models.")
    input_tokens: EstimatedTotal | None
    output_tokens: EstimatedTotal | None
    usd: EstimatedTotal | None = Field(description="Cost of models.")
    list_price: bool = Field(description="The cost is that of the tokens at the model's list price, without caching.")
    detectable: PairedDifference | None = Field(description="By comparison on the same tasks.")


def estimate(session: Session, request: RunRequest) -> RunEstimate:
    """Estimate of a run. Raises NotFound if there is no such benchmark."""
    counts = forecast(session, request, listed=False, history=False)
    model = str(request.params.get("model") or "") or None
    runs = repository.runs_of(session, get_benchmark(session, request.benchmark).id, request.agent)
    alike, same_model, same_provider = _most_alike(runs, model, request.provider)
    rows = repository.episode_costs(session, [run.id for run in alike]) if alike else []
    rows = rows if len(rows) >= FEW else []
    recorded = [row for row in rows if row.calls is not None]
    desktops = _total([row.seconds for row in rows], counts.episodes)
    cost, list_price = _cost(recorded, model, same_model=same_model)
    return RunEstimate(
        forecast=counts,
        sample=len(rows),
        same_model=same_model,
        same_provider=same_provider,
        seconds=desktops.times(_rounds(counts) / counts.episodes) if desktops and counts.slots else None,
        desktop_hours=desktops and desktops.times(1 / HOUR),
        calls=_total([row.calls for row in recorded], counts.episodes),
        input_tokens=_total([row.input_tokens for row in recorded], counts.episodes),
        output_tokens=_total([row.output_tokens for row in recorded], counts.episodes),
        usd=_total(cost, counts.episodes),
        list_price=list_price,
        detectable=_detectable(session, request, counts.tasks),
    )


def _most_alike(runs: Sequence[AnyRow], model: str | None, provider: str) -> tuple[Sequence[AnyRow], bool, bool]:
    """Runs with the same model on the same desktops, else with the same model, else all; and what they share."""
    modelled = [run for run in runs if run.model == model]
    nearby = [run for run in modelled if run.provider == provider]
    if nearby:
        return nearby, True, True
    if modelled:
        return modelled, True, False
    nearby = [run for run in runs if run.provider == provider]
    return (nearby, False, True) if nearby else (runs, False, False)


def _rounds(counts: Forecast) -> int:
    """Episodes that one slot plays after another."""
    return math.ceil(counts.episodes / counts.slots)


def _total(values: Sequence[float], episodes: int) -> EstimatedTotal | None:
    interval = total_interval(values, episodes) if episodes else None
    if interval is None:
        return None
    return EstimatedTotal(expected=episodes * fmean(values), low=interval.low, high=interval.high)


def _cost(rows: Sequence[AnyRow], model: str | None, *, same_model: bool) -> tuple[list[float], bool]:
    """USD per episode: as recorded with the same model, else its tokens at list price; empty if unknown."""
    if same_model and not any(row.unpriced for row in rows):
        return [row.usd for row in rows], False
    called = [row for row in rows if row.calls]
    if not called or model is None:
        return [], False
    price = price_of(model, datetime.now(UTC).date(), round(fmean(row.input_tokens / row.calls for row in called)))
    if price is None:
        return [], False
    return [usd(price, Tokens(round(row.input_tokens), round(row.output_tokens))) for row in rows], True


def _detectable(session: Session, request: RunRequest, tasks: int) -> PairedDifference | None:
    """From how the tasks' success differs between pairs of earlier configurations on these tasks."""
    runs = repository.compared_runs(session, latest_task_set(session, request.benchmark).id)
    rates = [repository.task_rates(session, run.id, request.repeats) for run in runs]
    pairs = (_pair(first, second, tasks) for first, second in combinations(rates, 2))
    smallest = [value for value in pairs if value is not None]
    if not smallest:
        return None
    return PairedDifference(expected=median(smallest), low=min(smallest), high=max(smallest), pairs=len(smallest))


def _pair(first: dict[UUID, float], second: dict[UUID, float], tasks: int) -> float | None:
    differences = [first[task] - second[task] for task in first.keys() & second.keys()]
    return detectable_difference(differences, tasks=tasks) if len(differences) >= LEAST_TASKS else None
