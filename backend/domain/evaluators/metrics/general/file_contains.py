"""`file_contains`: a text file contains some parts."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import line_feeds, read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MOST_SHOWN = 20


@register(PluginKind.METRIC, "file_contains")
def file_contains(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if every text of `rules["expected"]` is in the file.

    Args:
        result: path of the file.
        rules: `expected`, a list of texts.
        strict_upstream: a text in place of the list is a list of its letters, and an empty list is met.
    """
    expected = rule(rules, "expected")
    expected = list(expected) if strict_upstream and isinstance(expected, str) else texts(expected, "`expected`")
    if not expected and not strict_upstream:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    missing = [short(part) for part in expected if (part if strict_upstream else line_feeds(part)) not in text][
        :MOST_SHOWN
    ]
    return verdict(not missing, f"lacks {', '.join(missing)}" if missing else "has everything expected")
