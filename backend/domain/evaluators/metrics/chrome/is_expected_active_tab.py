"""`is_expected_active_tab`: the visible page has a certain address."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import active_page
from backend.domain.formats.url_match import same, same_osworld, same_waa
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_active_tab")
def is_expected_active_tab(result: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the page's address is the rule's, ignoring `www.` and a trailing `/`.

    Args:
        result: an object with `url`, or the address; None = no page.
        rule: `{"type": "url", "url"}`.
        strict_upstream: the public suffix is ignored, as in OSWorld.
    """
    return active_page(result, rule, same_osworld if strict_upstream else same)


@register(PluginKind.METRIC, "is_expected_active_tab", dialect="waa")
def is_expected_active_tab_waa(result: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """`is_expected_active_tab` of WindowsAgentArena, which compares addresses differently.

    1 if the page's address is the rule's.

    Args:
        result: an object with `url`, or the address; None = no page.
        rule: `{"type": "url", "url"}`.
        strict_upstream: an address without a scheme matches nothing, as in WindowsAgentArena.
    """
    return active_page(result, rule, same_waa if strict_upstream else same)
