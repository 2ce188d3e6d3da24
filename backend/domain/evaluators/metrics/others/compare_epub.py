"""`compare_epub`: similarity of two e-books."""

from math import prod

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.others._epub import by_name, by_place, gold, read_book, reasons
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_epub")
def compare_epub(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """The mean similarity of contents, metadata and HTML chapters, which are compared by name."""
    gold_book = gold(expected)
    book, reason = read_book(result)
    if not book:
        return verdict(met=False, reason=reason)
    parts = by_place(book, gold_book) if strict_upstream else by_name(book, gold_book)
    number = len(book) if strict_upstream else len(parts)
    return MetricValue(value=sum(parts.values()) / number, reasons=reasons(parts))


@register(PluginKind.METRIC, "compare_epub", dialect="waa")
def compare_epub_waa(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """`compare_epub` in WAA: the similarities of a book's members are multiplied.

    The product of the similarities of contents, metadata and HTML chapters, which are compared by name.
    """
    gold_book = gold(expected)
    book, reason = read_book(result)
    if not book:
        return verdict(met=strict_upstream and result is not None, reason=reason)
    parts = by_place(book, gold_book) if strict_upstream else by_name(book, gold_book)
    return MetricValue(value=prod(parts.values()), reasons=reasons(parts))
