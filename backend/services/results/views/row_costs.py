"""Costs of a leaderboard's row: tokens, models, nodes, time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from pydantic import Field

from backend.domain.machines.node_prices import NodePrice, nodes_cost
from backend.services.read_model import ReadModel
from backend.services.results.board_rows import BoardRow
from backend.services.results.costs import PriceDate


@dataclass(frozen=True)
class NodePriceList:
    """The operator's prices of nodes; `error`: why there are none, if their file cannot be read."""

    prices: Sequence[NodePrice] = ()
    error: str = ""


class RowCosts(ReadModel):
    """Means over the scored episodes of all passes; null where unknown, with the reason."""

    agent_seconds: float | None = None
    seconds: float | None = Field(default=None, description="Whole attempt, from its start to the score.")
    input_tokens: float | None = None
    output_tokens: float | None = None
    usd: float | None = Field(default=None, description="Of models, by the price table of their day.")
    usd_missing: str = Field(default="", description="Why there is none.", examples=["no price of qwen"])
    prices: list[PriceDate] = Field(default=[], description="Dates from which the model prices apply.")
    nodes: float | None = Field(default=None, description="Of nodes, by the operator's price per hour.")
    currency: str = Field(default="", examples=["USD"])
    nodes_missing: str = Field(default="", examples=["no price of local n1"])
    node_prices_since: list[date] = Field(default=[])
    makespan: float | None = Field(
        default=None, description="Seconds in which a complete pass had an attempt: median over the passes."
    )
    parallelism: float | None = Field(default=None, description="Attempts at the same time: mean over these seconds.")
    missing: str = Field(default="", description="Why there is no figure.")

    @property
    def tokens(self) -> float | None:
        """In and out."""
        both = self.input_tokens, self.output_tokens
        return None if both[0] is None or both[1] is None else both[0] + both[1]


def row_costs(row: BoardRow, prices: NodePriceList, *, whole: bool) -> RowCosts:
    """A row's costs. `whole`: the row is of all its tasks, so that the time of its runs is its own."""
    costs = row.costs
    if costs is None:
        return RowCosts(missing="not computed yet")
    nodes = nodes_cost(costs.nodes, prices.prices)
    makespan, parallelism = pass_times(row) if whole else (None, None)
    return RowCosts(
        agent_seconds=costs.agent_seconds,
        seconds=costs.seconds,
        input_tokens=costs.input_tokens,
        output_tokens=costs.output_tokens,
        usd=costs.usd,
        usd_missing=costs.usd_missing,
        prices=costs.prices,
        nodes=None if nodes.value is None else nodes.value / costs.episodes,
        currency=nodes.currency,
        nodes_missing=prices.error or nodes.missing,
        node_prices_since=list(nodes.since),
        makespan=makespan,
        parallelism=parallelism,
    )


def pass_times(row: BoardRow) -> tuple[float | None, float | None]:
    """Median seconds of the runs that cover all the row's tasks, and attempts at the same time in them."""
    runs = [] if row.passes is None else row.passes.runs
    timed = [run for run in runs if run["tasks"] == row.attempted_tasks and run.get("makespan")]
    if not timed:
        return None, None
    at_once = sum(run["desktop_seconds"] for run in timed) / sum(run["makespan"] for run in timed)
    return median(run["makespan"] for run in timed), at_once
