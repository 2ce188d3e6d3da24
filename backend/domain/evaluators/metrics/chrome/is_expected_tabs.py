"""`is_expected_tabs`: certain pages are open, and no others."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import open_pages
from backend.domain.formats.url_match import same_osworld, same_waa
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_tabs")
def is_expected_tabs(open_tabs: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """1 if each page of the rule is open, as often as in the rule, and no other page is.

    Args:
        open_tabs: a list of objects with `url`.
        rule: `{"type": "url", "urls": [...]}`.
        strict_upstream: as OSWorld: the public suffix and repetitions are ignored.
    """
    return open_pages(open_tabs, rule, same_osworld if strict_upstream else None)


@register(PluginKind.METRIC, "is_expected_tabs", dialect="waa")
def is_expected_tabs_waa(open_tabs: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """`is_expected_tabs` of WindowsAgentArena, which compares addresses differently.

    1 if each page of the rule is open, as often as in the rule, and no other page is.

    Args:
        open_tabs: a list of objects with `url`.
        rule: `{"type": "url", "urls": [...]}`.
        strict_upstream: as WindowsAgentArena: repetitions are ignored, and addresses need a scheme.
    """
    return open_pages(open_tabs, rule, same_waa if strict_upstream else None)
