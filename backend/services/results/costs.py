"""Cost per scored episode of a configuration's passes. Computed by workers, with the roll-up of passes."""

from collections.abc import Collection, Sequence
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import costs as repository
from backend.domain.benchmarks import published_minimum_steps
from backend.domain.machines.node_prices import NodeHours
from backend.services.read_model import ReadModel


class PriceDate(ReadModel):
    """A model, and since when its price of the runs' submission holds; null without a price."""

    model: str = Field(examples=["gpt-5-mini"])
    since: str | None = Field(examples=["2026-11-01"])


class StepRatio(ReadModel):
    """Steps of solved episodes over those of a reference."""

    mean: float = Field(examples=[1.4], description="Of the ratios.")
    episodes: int


class StepRatios(ReadModel):
    """Step ratios by reference; null without a solved task whose reference is known."""

    people: StepRatio | None = Field(default=None, description="A person's median steps.")
    oracle: StepRatio | None = Field(default=None, description="The fewest steps of an oracle that solved the task.")
    minimum: StepRatio | None = Field(default=None, description="The minimum that the benchmark's paper gives.")


class PassCosts(ReadModel):
    """Means over the scored episodes that count; null where unknown, never 0 instead.

    `usd_missing` says why there is no `usd`. `nodes` are sums over these episodes.
    """

    episodes: int = 0
    agent_seconds: float | None = None
    seconds: float | None = Field(default=None, description="Of the whole attempt, from its start to the score.")
    input_tokens: float | None = None
    output_tokens: float | None = None
    usd: float | None = None
    usd_missing: str = ""
    prices: list[PriceDate] = Field(default=[])
    nodes: list[NodeHours] = Field(default=[])
    step_ratios: StepRatios = StepRatios()


def pass_costs(session: Session, run_ids: Sequence[UUID], tasks: Collection[UUID] | None = None) -> PassCosts:
    """Cost of these runs on one version of the tasks; `tasks`: on these only."""
    row = repository.episode_costs(session, run_ids, tasks)
    prices = [PriceDate(model=price.model, since=price.since) for price in repository.pinned_prices(session, run_ids)]
    recorded = row.recorded == row.episodes and bool(row.calls or row.input_tokens or row.output_tokens)
    missing = _usd_missing(row, prices)
    return PassCosts(
        episodes=row.episodes,
        agent_seconds=row.agent_seconds,
        seconds=row.seconds,
        input_tokens=row.input_tokens / row.episodes if recorded else None,
        output_tokens=row.output_tokens / row.episodes if recorded else None,
        usd=None if missing else row.usd / row.episodes,
        usd_missing=missing,
        prices=prices,
        nodes=[
            NodeHours(provider=use.provider, node=use.node, day=use.day, hours=use.hours)
            for use in repository.node_hours(session, run_ids, tasks)
        ],
        step_ratios=_step_ratios(session, run_ids, tasks),
    )


def _step_ratios(session: Session, run_ids: Sequence[UUID], tasks: Collection[UUID] | None) -> StepRatios:
    minimum = published_minimum_steps(repository.kind_of_tasks(session, run_ids))
    row = repository.step_ratios(session, run_ids, minimum, tasks)
    numbers = {"people": row.people_n, "oracle": row.oracle_n, "minimum": row.minimum_n}
    return StepRatios(
        **{name: StepRatio(mean=getattr(row, name), episodes=number) for name, number in numbers.items() if number}
    )


def _usd_missing(row: AnyRow, prices: Sequence[PriceDate]) -> str:
    """Why the cost of models is unknown; empty if it is known."""
    if not row.episodes:
        return "not recorded"
    if row.recorded < row.episodes:
        return f"not recorded for {row.episodes - row.recorded:,} episodes"
    if not (row.calls or row.input_tokens or row.output_tokens):
        return "no model calls"
    # Programs outside report tokens, but no price.
    if row.unpriced or not (row.calls or row.usd):
        return " ".join(["no price", *(f"of {price.model}" for price in prices if price.since is None)])
    return ""
