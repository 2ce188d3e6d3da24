"""Budgets: limits of what a run or project spends, and which of them is reached."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Spending:
    """Money of models in US dollars, input and output tokens, and hours of desktops. As limits, None = none."""

    usd: float | None = None
    tokens: int | None = None
    desktop_hours: float | None = None


def reached(limits: Spending, spent: Spending, whose: str) -> str:
    """The first limit that is reached, as a sentence; empty if there is none.

    Args:
        limits: the budget.
        spent: the amounts.
        whose: of what the budget is, such as `the run`.
    """
    measures = (
        (limits.usd, spent.usd, "${} of ${} spent", 2),
        (limits.tokens, spent.tokens, "{} of {} tokens used", 0),
        (limits.desktop_hours, spent.desktop_hours, "{} of {} desktop hours used", 1),
    )
    for limit, amount, words, decimals in measures:
        if limit is not None and amount is not None and amount >= limit:
            return f"budget of {whose} reached: {words.format(_amount(amount, decimals), _amount(limit, decimals))}"
    return ""


def _amount(number: float, decimals: int) -> str:
    """The number, with two digits where the decimals would show none."""
    if 0 < number < 10**-decimals:
        decimals = 1 - math.floor(math.log10(number))
    return f"{number:,.{decimals}f}"
