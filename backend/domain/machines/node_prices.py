"""Prices of nodes per hour, of the operator's own, with dates. An unknown price stays unknown."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from pydantic import Field

from backend.domain.model.task import Frozen


class NodePrice(Frozen):
    """Price of a node from a date on.

    Attributes:
        provider: of the desktops on it.
        node: instance type of a cluster's node, or a node's name, or the beginning of one followed by `*`.
        cores, memory_gb, disk_gb: its size, for the reader; None = not told.
    """

    provider: str = Field(min_length=1, max_length=100)
    node: str = Field(default="*", min_length=1, max_length=200)
    since: date
    per_hour: float = Field(ge=0)
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")
    cores: float | None = Field(default=None, gt=0)
    memory_gb: float | None = Field(default=None, gt=0)
    disk_gb: float | None = Field(default=None, gt=0)


class NodeHours(Frozen):
    """Hours of a node on a day that episodes took; two desktops side by side take half of it each."""

    provider: str
    node: str
    day: date
    hours: float


class NodesCost(NamedTuple):
    """Cost of nodes.

    Attributes:
        value: in `currency`; None if it is unknown.
        currency: empty if unknown.
        since: dates of the prices.
        missing: why there is no value.
    """

    value: float | None
    currency: str = ""
    since: tuple[date, ...] = ()
    missing: str = ""


def node_price(prices: Iterable[NodePrice], provider: str, node: str, day: date) -> NodePrice | None:
    """The price of a node on a day: the newest one of the most exact name; None if it is unknown."""
    fitting = [
        price for price in prices if price.provider == provider and price.since <= day and _fits(price.node, node)
    ]
    return max(fitting, key=lambda price: (not price.node.endswith("*"), len(price.node), price.since), default=None)


def _fits(pattern: str, node: str) -> bool:
    return node.startswith(pattern[:-1]) if pattern.endswith("*") else node == pattern


def nodes_cost(uses: Sequence[NodeHours], prices: Sequence[NodePrice]) -> NodesCost:
    """The cost of hours of nodes, by the price of each day."""
    if not uses:
        return NodesCost(None, missing="no hours recorded")
    priced = [(use, node_price(prices, use.provider, use.node, use.day)) for use in uses]
    unknown = sorted({f"{use.provider} {use.node}".strip() for use, price in priced if price is None})
    if unknown:
        return NodesCost(None, missing=f"no price of {', '.join(unknown)}")
    rates = [(use.hours, price) for use, price in priced if price is not None]
    currencies = sorted({price.currency for _, price in rates})
    if len(currencies) > 1:
        return NodesCost(None, missing=f"prices in {' and '.join(currencies)}")
    since = tuple(sorted({price.since for _, price in rates}))
    return NodesCost(sum(hours * price.per_hour for hours, price in rates), currencies[0], since)
