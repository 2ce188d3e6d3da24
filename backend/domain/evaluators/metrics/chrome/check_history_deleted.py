"""`check_history_deleted`: the browser's history contains none of the keywords."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_history_deleted")
def check_history_deleted(history_data: Any, rule: Any) -> MetricValue:
    """1 if no address in the history contains one of the keywords.

    Args:
        history_data: rows of (url, title, last visit); None = no file.
        rule: `{"type": "keywords", "keywords": [...]}`.
    """
    kind_of(rule, "keywords")
    keywords = texts(rule_of(rule, "keywords"), "`keywords`")
    if history_data is None:
        return verdict(met=False, reason="the browser has no history")
    urls = [str(row[0]) for row in history_data if row]
    remaining = [url for url in urls if any(keyword in url for keyword in keywords)]
    text = f"{len(remaining)} of {len(urls)} addresses are left, among them {short(remaining[:3], 300)}"
    return verdict(not remaining, text if remaining else f"none of {len(urls)} addresses contains a keyword")
