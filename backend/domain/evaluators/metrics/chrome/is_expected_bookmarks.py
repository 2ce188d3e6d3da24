"""`is_expected_bookmarks`: the bookmarks bar has exactly certain folders or pages."""

from typing import Any

from backend.domain.evaluators.metrics.chrome._bookmarks import bookmarks as judged
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_bookmarks")
def is_expected_bookmarks(bookmarks: Any, rule: Any) -> MetricValue:
    """See `_bookmarks.bookmarks`. The bar must have exactly these."""
    return judged(bookmarks, rule, lambda expected, actual: expected == actual)


@register(PluginKind.METRIC, "is_expected_bookmarks", dialect="waa")
def is_expected_bookmarks_waa(bookmarks: Any, rule: Any) -> MetricValue:
    """`is_expected_bookmarks` of WindowsAgentArena, which allows other bookmarks beside the expected ones.

    See `_bookmarks.bookmarks`. The bar must have these and may have others.
    """
    return judged(bookmarks, rule, lambda expected, actual: expected <= actual)
