"""Prices of models by name and date, from their vendors' public price lists. An unknown price stays unknown.

Sources: the price pages of OpenAI, Anthropic and Google on the given days, read in November 2026, some of them from
    dated summaries. Standard service only, without batch, priority and storage prices. Operators add
their own in models.toml (docs/models.md); those take precedence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from pydantic import Field

from backend.domain.model.task import Frozen

MILLION = 1_000_000
_DATED = re.compile(r"([-@]\d{4}-?\d{2}-?\d{2}|-latest)$")
_PREVIEW = re.compile(r"-preview(-\d{2}-\d{4}|-\d{2}-\d{2})?$")


class Price(Frozen):
    """What a model costs since a date.

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


class _Row(NamedTuple):
    """One line of a price list: USD per million tokens."""

    since: str
    models: str
    input: float
    cached: float | None
    output: float
    written: float | None = None
    most: int | None = None


_ROWS = (
    # OpenAI. Long requests of later models cost twice (output half as much again) above 272,000 tokens; where the list
    # was not seen, the price of those is unknown.
    _Row("2024-10-01", "gpt-4o", 2.5, 1.25, 10),
    _Row("2024-10-01", "gpt-4o-mini", 0.15, 0.075, 0.6),
    _Row("2025-03-11", "computer-use-preview", 3, None, 12),
    _Row("2025-04-14", "gpt-4.1", 2, 0.5, 8),
    _Row("2025-04-14", "gpt-4.1-mini", 0.4, 0.1, 1.6),
    _Row("2025-04-14", "gpt-4.1-nano", 0.1, 0.025, 0.4),
    _Row("2025-04-16", "o4-mini", 1.1, 0.275, 4.4),
    _Row("2025-06-10", "o3", 2, 0.5, 8),
    _Row("2025-08-07", "gpt-5", 1.25, 0.125, 10),
    _Row("2025-08-07", "gpt-5-mini", 0.25, 0.025, 2),
    _Row("2025-08-07", "gpt-5-nano", 0.05, 0.005, 0.4),
    _Row("2025-11-13", "gpt-5.1", 1.25, 0.125, 10),
    _Row("2025-12-11", "gpt-5.2", 1.75, 0.175, 14),
    _Row("2026-03-05", "gpt-5.4", 2.5, 0.25, 15, most=272_000),
    _Row("2026-03-05", "gpt-5.4", 5, 0.5, 22.5),
    _Row("2026-03-17", "gpt-5.4-mini", 0.75, 0.075, 4.5, most=272_000),
    _Row("2026-03-17", "gpt-5.4-nano", 0.2, 0.02, 1.25, most=272_000),
    _Row("2026-05-01", "gpt-5.5", 5, 0.5, 30, most=272_000),
    _Row("2026-07-30", "gpt-5.6-terra", 2, 0.2, 12, most=272_000),
    _Row("2026-07-30", "gpt-5.6-luna", 0.2, 0.02, 1.2, most=272_000),
    _Row("2026-09-03", "gpt-6-astra", 10, 1, 50, 12.5, most=272_000),
    _Row("2026-09-03", "gpt-6-astra", 20, 2, 75, 25),
    _Row("2026-09-22", "gpt-6-sol", 2, 0.2, 10, 2.5, most=272_000),
    _Row("2026-09-22", "gpt-6-luna", 0.1, 0.01, 0.5, 0.125, most=272_000),
    _Row("2026-09-29", "gpt-6.1-sol", 2, 0.1, 10, 2.5, most=272_000),
    _Row("2026-10-26", "gpt-6.1-terra", 1, 0.05, 5, 1.25, most=272_000),
    # Anthropic. Written to the cache for five minutes; for an hour it is twice the input.
    _Row("2024-10-22", "claude-3-5-haiku", 0.8, 0.08, 4, 1),
    _Row("2024-06-20", "claude-3-5-sonnet", 3, 0.3, 15, 3.75),
    _Row("2025-02-24", "claude-3-7-sonnet", 3, 0.3, 15, 3.75),
    _Row("2025-05-22", "claude-opus-4 claude-opus-4-0", 15, 1.5, 75, 18.75),
    _Row("2025-08-05", "claude-opus-4-1", 15, 1.5, 75, 18.75),
    _Row("2025-05-22", "claude-sonnet-4 claude-sonnet-4-0", 3, 0.3, 15, 3.75, most=200_000),
    _Row("2025-08-12", "claude-sonnet-4 claude-sonnet-4-0", 6, 0.6, 22.5, 7.5),
    _Row("2025-09-29", "claude-sonnet-4-5", 3, 0.3, 15, 3.75, most=200_000),
    _Row("2025-09-29", "claude-sonnet-4-5", 6, 0.6, 22.5, 7.5),
    _Row("2025-10-15", "claude-haiku-4-5", 1, 0.1, 5, 1.25),
    _Row("2025-11-24", "claude-opus-4-5", 5, 0.5, 25, 6.25),
    _Row("2026-03-13", "claude-opus-4-6", 5, 0.5, 25, 6.25),
    _Row("2026-03-13", "claude-sonnet-4-6", 3, 0.3, 15, 3.75),
    _Row("2026-04-16", "claude-opus-4-7", 5, 0.5, 25, 6.25),
    _Row("2026-05-28", "claude-opus-4-8", 5, 0.5, 25, 6.25),
    _Row("2026-07-24", "claude-opus-5", 5, 0.5, 25, 6.25),
    _Row("2026-09-01", "claude-fable-5", 10, 1, 50, 12.5),
    _Row("2026-09-01", "claude-fable-5-1", 10, 0.25, 50, 12.5),
    _Row("2026-09-01", "claude-sonnet-5", 2, 0.2, 10, 2.5),
    _Row("2026-09-22", "claude-opus-5-5", 4, 0.2, 20, 5),
    _Row("2026-09-28", "claude-sonnet-5-5", 2, 0.2, 10, 2.5),
    _Row("2026-10-07", "claude-sonnet-5-5", 2, 0.1, 10, 2.5),
    _Row("2026-10-07", "claude-haiku-5-5", 0.1, 0.01, 0.5, 0.125, most=100_000),
    _Row("2026-10-07", "claude-haiku-5-5", 0.5, 0.05, 2.5, 0.625),
    # Google. Thinking counts as output tokens.
    _Row("2025-06-17", "gemini-2.5-pro gemini-2.5-computer-use", 1.25, 0.125, 10, most=200_000),
    _Row("2025-06-17", "gemini-2.5-pro gemini-2.5-computer-use", 2.5, 0.25, 15),
    _Row("2025-06-17", "gemini-2.5-flash", 0.3, 0.03, 2.5),
    _Row("2025-07-22", "gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    _Row("2025-11-18", "gemini-3-pro", 2, 0.2, 12, most=200_000),
    _Row("2025-11-18", "gemini-3-pro", 4, 0.4, 18),
    _Row("2025-12-17", "gemini-3-flash", 0.5, 0.05, 3),
    _Row("2026-02-19", "gemini-3.1-pro", 2, 0.2, 12, most=200_000),
    _Row("2026-02-19", "gemini-3.1-pro", 4, 0.4, 18),
    _Row("2026-03-03", "gemini-3.1-flash-lite", 0.25, 0.025, 1.5),
    _Row("2026-05-20", "gemini-3.5-flash", 1.5, 0.15, 9),
)


def _listed() -> Iterator[Price]:
    for row in _ROWS:
        for model in row.models.split():
            yield Price(
                model=model,
                since=date.fromisoformat(row.since),
                input=row.input,
                cached=row.cached,
                written=row.written,
                output=row.output,
                most=row.most,
            )


PRICES: tuple[Price, ...] = tuple(_listed())


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
