"""What the passes of a configuration cost, per scored episode. Computed by workers, with the roll-up of passes."""

from collections.abc import Collection, Sequence
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import costs as repository
from backend.domain.machines.node_prices import NodeHours
from backend.services.read_model import ReadModel


class PriceDate(ReadModel):
    """A model, and since when its price of the runs' submission holds; null without a price."""

    model: str = Field(examples=["gpt-5-mini"])
    since: str | None = Field(examples=["2026-11-01"])


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


def pass_costs(session: Session, run_ids: Sequence[UUID], tasks: Collection[UUID] | None = None) -> PassCosts:
    """What these runs cost; `tasks`: on these only."""
    row = repository.episode_costs(session, run_ids, tasks)
    prices = [PriceDate(model=each.model, since=each.since) for each in repository.pinned_prices(session, run_ids)]
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
    )


def _usd_missing(row: AnyRow, prices: Sequence[PriceDate]) -> str:
    """Why the cost of models is unknown; empty if it is known."""
    if not row.episodes:
        return "no scored episode"
    if row.recorded < row.episodes:
        return f"not recorded for {row.episodes - row.recorded:,} episodes"
    if not (row.calls or row.input_tokens or row.output_tokens):
        return "no model calls"
    # Programs outside report tokens, but no price.
    if row.unpriced or not (row.calls or row.usd):
        return " ".join(["no price", *(f"of {price.model}" for price in prices if price.since is None)])
    return ""
