"""Files made from a description in words, by rules: the same words, the same bytes.

What the rules read: titles and headings, columns and their values, numbers of rows, values that are named, sizes. What
they do not understand they leave out.
"""

from backend.domain.setup._generated.make import KINDS, Order, age_days, asks_for_today, make

__all__ = ["KINDS", "Order", "age_days", "asks_for_today", "make"]
