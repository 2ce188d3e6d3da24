"""`is_expected_search_query`: the visible page is a certain search."""

import re
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._browser_pages import address_of
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.url_match import LONGEST
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_search_query")
def is_expected_search_query(active_tab_info: Any, rules: Any) -> MetricValue:
    """1 if the pattern is found in the page's address.

    Args:
        active_tab_info: an object with `url`; None = no page.
        rules: `{"expect": {"pattern": expression}}`.
    """
    (pattern,) = texts([rule(rule(rules, "expect"), "pattern")], "`pattern`")
    address = address_of(active_tab_info)
    if address is None:
        return verdict(met=False, reason="no visible page was found")
    try:
        met = re.search(pattern, address[:LONGEST])
    except re.error as error:
        raise EvaluatorFailed(
            f"`pattern` is not a regular expression: {error}", code="invalid_rule", hint=HINT
        ) from error
    return verdict(met, f"the page is {short(address, 300)}, expected {short(pattern, 300)}")
