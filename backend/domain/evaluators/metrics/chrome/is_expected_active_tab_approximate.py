"""`is_expected_active_tab_approximate`: the visible page has a certain address, ignoring its query."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from backend.domain.evaluators.metrics._browser_pages import active_page
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_active_tab_approximate")
def is_expected_active_tab_approximate(result: Any, rule: Any) -> MetricValue:
    """1 if the addresses are equal without their queries (`?a=b`).

    Args:
        result: an object with `url`, or the address; None = no page.
        rule: `{"type": "url", "url"}`.
    """
    return active_page(result, rule, lambda first, second: _bare(first) == _bare(second))


def _bare(url: str) -> str:
    try:
        return urlunsplit(urlsplit(url)._replace(query=""))
    except ValueError:
        return url
