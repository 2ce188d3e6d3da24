"""Columns of a leaderboard that are numbers: how they are named, read, sorted, and what their cells say besides."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.services.results.costs import StepRatio
from backend.services.results.views.leaderboard_models import LeaderboardRow, PassRate


class NumberKind(StrEnum):
    """How a number is printed."""

    NUMBER = "number"
    COUNT = "count"
    SECONDS = "seconds"
    USD = "usd"
    MONEY = "money"
    RATIO = "ratio"
    RATE = "rate"


def _nothing(_: LeaderboardRow) -> str:
    return ""


@dataclass(frozen=True)
class NumberColumn:
    """One column.

    Attributes:
        name: in addresses.
        hint: what the number is.
        value: of a row; None without one.
        note: shown below the number, such as the date of a price.
        missing: why there is no number.
        ascending: the smallest is the best.
        cost: words for the axis of a chart of scores against it; empty for other numbers.
    """

    name: str
    title: str
    hint: str
    value: Callable[[LeaderboardRow], float | None]
    kind: NumberKind = NumberKind.NUMBER
    note: Callable[[LeaderboardRow], str] = _nothing
    missing: Callable[[LeaderboardRow], str] = lambda row: row.costs.missing
    ascending: bool = True
    cost: str = ""


def _price_dates(row: LeaderboardRow) -> str:
    dates = sorted({price.since for price in row.costs.prices if price.since})
    return f"prices of {', '.join(dates)}" if dates else ""


def _node_dates(row: LeaderboardRow) -> str:
    return f"{row.costs.currency}, prices of {', '.join(map(str, row.costs.node_prices_since))}"


def _losses(row: LeaderboardRow) -> str:
    return ", ".join(f"{name} {number}" for name, number in row.summary.lost.items())


def _step_ratio(
    name: str, title: str, reference: str, missing: str, ratio: Callable[[LeaderboardRow], StepRatio | None]
) -> NumberColumn:
    """Steps of solved episodes over those of a reference."""
    return NumberColumn(
        name,
        title,
        f"steps of solved episodes over {reference}, mean ratio",
        lambda row: rate.mean if (rate := ratio(row)) else None,
        NumberKind.RATIO,
        lambda row: f"n = {rate.episodes:,}" if (rate := ratio(row)) else "",
        lambda _: missing,
    )


NUMBERS: Sequence[NumberColumn] = (
    NumberColumn(
        "steps", "Steps", "mean over scored episodes", lambda row: row.steps, cost="steps per scored episode"
    ),
    _step_ratio(
        "efficiency", "Steps against people", "a person's median steps", "no solved task with a person's steps",
        lambda row: row.step_ratios.people,
    ),
    _step_ratio(
        "oracle_steps", "Steps against the oracle", "the fewest steps of an oracle that solved the task",
        "no solved task that an oracle solved", lambda row: row.step_ratios.oracle,
    ),
    _step_ratio(
        "minimum_steps", "Steps against the minimum", "the minimum that the paper gives for the task's level",
        "no solved task with a published minimum", lambda row: row.step_ratios.minimum,
    ),
    NumberColumn(
        "seconds", "Agent's time", "the agent's own time, mean over scored episodes", lambda row: row.agent_seconds,
        NumberKind.SECONDS, cost="agent's seconds per scored episode",
    ),
    NumberColumn(
        "whole", "Whole time", "from the start of the attempt to the score, mean over scored episodes",
        lambda row: row.costs.seconds, NumberKind.SECONDS, cost="seconds per scored episode, all of it",
    ),
    NumberColumn(
        "tokens_in", "Tokens in", "sent to models, mean over scored episodes", lambda row: row.costs.input_tokens,
        NumberKind.COUNT,
    ),
    NumberColumn(
        "tokens_out", "Tokens out", "answered by models, mean over scored episodes",
        lambda row: row.costs.output_tokens, NumberKind.COUNT,
    ),
    NumberColumn(
        "tokens", "Tokens", "in and out, mean over scored episodes", lambda row: row.costs.tokens, NumberKind.COUNT,
        cost="tokens in and out per scored episode",
    ),
    NumberColumn(
        "usd", "Models", "cost of models by the price table, mean over scored episodes", lambda row: row.costs.usd,
        NumberKind.USD, _price_dates, lambda row: row.costs.usd_missing or row.costs.missing,
        cost="USD for models per scored episode",
    ),
    NumberColumn(
        "nodes", "Nodes", "cost of nodes by the operator's price per hour, mean over scored episodes",
        lambda row: row.costs.nodes, NumberKind.MONEY, _node_dates,
        lambda row: row.costs.nodes_missing or row.costs.missing, cost="cost of nodes per scored episode",
    ),
    NumberColumn(
        "makespan", "Makespan", "time in which a complete pass had an attempt, median over the passes",
        lambda row: row.costs.makespan, NumberKind.SECONDS,
    ),
    NumberColumn(
        "parallelism", "Parallelism", "attempts at the same time during the makespan, mean",
        lambda row: row.costs.parallelism, ascending=False,
    ),
    NumberColumn(
        "lost", "Lost", "lost episodes, by class", lambda row: float(row.summary.counts.lost), NumberKind.COUNT, _losses
    ),
    NumberColumn(
        "n", "n", "scored episodes", lambda row: float(row.summary.counts.scored), NumberKind.COUNT,
        lambda row: f"{row.tasks:,} tasks", ascending=False,
    ),
)  # fmt: skip


def number_columns(rows: Sequence[LeaderboardRow]) -> Sequence[NumberColumn]:
    """All columns of a board with these rows: with pass@k and pass^k for each k from 2 to the most passes."""
    most = max((rate.k for row in rows if row.passes for rate in row.passes.rates), default=1)
    return [*NUMBERS, *(column for k in range(2, most + 1) for column in _pass_columns(k))]


def _pass_columns(k: int) -> Iterator[NumberColumn]:
    def rate_of(row: LeaderboardRow) -> PassRate | None:
        return next((rate for rate in row.passes.rates if rate.k == k), None) if row.passes else None

    for name, title, hint, field in (
        (f"pass_at_{k}", f"pass@{k}", f"at least one of {k} passes solves a task", "at"),
        (f"pass_hat_{k}", f"pass^{k}", f"each of {k} passes solves a task", "hat"),
    ):
        yield NumberColumn(
            name,
            title,
            hint,
            lambda row, field=field: getattr(rate, field) if (rate := rate_of(row)) else None,  # type: ignore[misc]
            NumberKind.RATE,
            lambda row, field=field: _of_passes(rate, field) if (rate := rate_of(row)) else "",  # type: ignore[misc]
            lambda _: f"fewer than {k} passes",
            ascending=False,
        )


def _of_passes(rate: PassRate, field: str) -> str:
    low, high = getattr(rate, f"{field}_interval")
    return f"{100 * low:.1f} to {100 * high:.1f} %, n = {rate.tasks:,}"


COSTS = {column.name: column for column in NUMBERS if column.cost}
"""Measures with which a score may be compared."""
