"""`is_expected_url_pattern_match`: a page's address matches certain patterns."""

import re
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._browser_pages import address_of
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.url_match import LONGEST
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_expected_url_pattern_match")
def is_expected_url_pattern_match(result: Any, rules: Any) -> MetricValue:
    """1 if every regular expression is found in the address.

    Args:
        result: an object with `url`, or the address; None = no page.
        rules: `{"expected": [expression, ...]}`.
    """
    patterns = texts(rule(rules, "expected"), "`expected`")
    address = address_of(result)
    if address is None:
        return verdict(met=False, reason="no visible page was found")
    try:
        missing = [pattern for pattern in patterns if not re.search(pattern, address[:LONGEST])]
    except re.error as error:
        raise EvaluatorFailed(
            f"`expected` has something that is not a regular expression: {error}", code="invalid_rule", hint=HINT
        ) from error
    text = f"the page is {short(address, 300)}"
    return verdict(not missing, f"{text}, which lacks {short(missing, 300)}" if missing else f"{text} and has them all")
