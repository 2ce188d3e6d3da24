"""`is_expected_active_tab_approximate`: the page that shows has a certain address, whatever its query."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from backend.domain.evaluators.metrics._browser_pages import active_page
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_active_tab_approximate")
def is_expected_active_tab_approximate(result: Any, rule: Any) -> MetricValue:
    """1 if the addresses are letter by letter the same once their queries (`?a=b`) are taken out.

    Args:
        result: an object with `url`, or the address; None = no page.
        rule: `{"type": "url", "url"}`.
    """
    return active_page(result, rule, lambda one, other: _bare(one) == _bare(other))


def _bare(url: str) -> str:
    try:
        return urlunsplit(urlsplit(url)._replace(query=""))
    except ValueError:
        return url
