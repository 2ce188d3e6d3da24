"""`is_added_to_steam_cart`: a page's document contains certain items."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_added_to_steam_cart")
def is_added_to_steam_cart(active_tab_info: Any, rule: Any) -> MetricValue:
    """1 if every item is somewhere in the page's HTML.

    Args:
        active_tab_info: an object with `content`; None = no page.
        rule: `{"items": [...]}`.
    """
    items = texts(rule_of(rule, "items"), "`items`")
    content = active_tab_info.get("content") if isinstance(active_tab_info, Mapping) else None
    if not isinstance(content, str):
        return verdict(met=False, reason="no page was found")
    missing = [item for item in items if item not in content]
    text = f"the page {short(active_tab_info.get('title', ''))} lacks {short(missing, 300)}"
    return verdict(not missing, text if missing else f"the page names all of {short(items, 300)}")
