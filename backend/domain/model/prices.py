"""Prices of models by name and date, from their vendors' public price lists. An unknown price stays unknown.

Sources: the price pages of OpenAI, Anthropic and Google on the given days, read in November 2026, some of them from
    dated summaries. Standard service only, without batch, priority and storage prices. Operators add
their own in models.toml (docs/models.md); those take precedence.

The list is `prices.csv`: USD per million tokens. OpenAI: long requests of later models cost twice (output half as much
again) above 272,000 tokens; where the list was not seen, the price of those is unknown. Anthropic: `written` is for
five minutes; for an hour it is twice the input. Google: thinking counts as output.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from importlib import resources
from typing import NamedTuple

from pydantic import Field

from backend.domain.model.task import Frozen

MILLION = 1_000_000
_DATED = re.compile(r"([-@]\d{4}-?\d{2}-?\d{2}|-latest)$")
_PREVIEW = re.compile(r"-preview(-\d{2}-\d{4}|-\d{2}-\d{2})?$")


class Price(Frozen):
    """Price of a model from a date on.

    Attributes:
        model: name, or its beginning followed by `*`.
        input, cached, written, output: USD per million tokens: sent, of them found in the API's cache, of them written
            to it, answered. None = as `input`.
        most: tokens of a request up to which it holds; None = any number.
    """

    model: str = Field(min_length=1, max_length=200)
    since: date
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    written: float | None = Field(default=None, ge=0)
    most: int | None = Field(default=None, ge=1)


class Tokens(NamedTuple):
    """The quantities that determine a call's price.

    Attributes:
        sent: all input, what was cached or written to the cache included.
        cached, written: of them, found in the API's cache and newly put there.
        hour: of those that were written, for an hour and not for some minutes.
    """

    sent: int
    answered: int
    cached: int = 0
    written: int = 0
    hour: int = 0


def _read_prices() -> Iterator[Price]:
    text = resources.files(__package__).joinpath("prices.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        facts = {name: value for name, value in row.items() if value and name != "models"}
        yield from (Price.model_validate({**facts, "model": model}) for model in row["models"].split())


PRICES: tuple[Price, ...] = tuple(_read_prices())


def price_of(model: str, day: date, sent: int, own: Sequence[Price] = ()) -> Price | None:
    """The price of a call, None if it is unknown.

    Args:
        model: its requested name. A suffix such as a date, `-latest` or `-preview` is ignored unless the list has it.
        day: of the call.
        sent: its input tokens; long requests may cost more.
        own: the operator's prices; one that fits counts before the public lists.
    """
    names = list(_names(model.removeprefix("models/")))
    return _fitting(own, names, day, sent) or _fitting(PRICES, names, day, sent)


def usd(price: Price, tokens: Tokens) -> float:
    """Cost of a call. Cache writes for an hour cost twice the input (Anthropic's list)."""
    fresh = max(0, tokens.sent - tokens.cached - tokens.written)
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.written is None else price.written
    write_cost = (tokens.written - tokens.hour) * written + tokens.hour * 2 * price.input
    sent = fresh * price.input + tokens.cached * cached + write_cost
    return (sent + tokens.answered * price.output) / MILLION


def _names(model: str) -> Iterator[str]:
    """The name, then without its date, then without `-preview`."""
    yield model
    if (plain := _DATED.sub("", model)) != model:
        yield plain
    if (final := _PREVIEW.sub("", plain)) != plain:
        yield final


def _fitting(prices: Iterable[Price], names: Sequence[str], day: date, sent: int) -> Price | None:
    """The newest price of the most exact name; among prices of one day, the one with the nearest bound."""
    valid_prices = [price for price in prices if price.since <= day]
    for name in names:
        exact = [price for price in valid_prices if price.model == name]
        if exact:
            return _by_size(exact, sent)
    for length in sorted({len(price.model) for price in valid_prices if price.model.endswith("*")}, reverse=True):
        starts = [
            p
            for p in valid_prices
            if p.model.endswith("*") and len(p.model) == length and names[0].startswith(p.model[:-1])
        ]
        if starts:
            return _by_size(starts, sent)
    return None


def _by_size(prices: Sequence[Price], sent: int) -> Price | None:
    newest = max(price.since for price in prices)
    bounds = [price for price in prices if price.since == newest and (price.most is None or sent <= price.most)]
    return min(bounds, key=lambda price: price.most or float("inf"), default=None)
