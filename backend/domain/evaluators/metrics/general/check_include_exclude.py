"""`check_include_exclude`: a text contains some parts and not others."""

from collections.abc import Mapping, Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import line_feeds
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MOST_SHOWN = 20


@register(PluginKind.METRIC, "check_include_exclude")
def check_include_exclude(result: str | Sequence[str] | None, rules: Mapping[str, Sequence[str]]) -> MetricValue:
    """1 if every `include` is in the text (or the list) and no `exclude` is; line ends of Windows are line ends."""
    include, exclude = texts(rules.get("include"), "`include`"), texts(rules.get("exclude"), "`exclude`")
    if not include and not exclude:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    if result is None:
        return verdict(met=False, reason="there is no input")
    if not isinstance(result, str | list | tuple):
        return verdict(met=False, reason=f"{short(result)} is neither text nor a list")
    if isinstance(result, str):
        result, include, exclude = line_feeds(result), [*map(line_feeds, include)], [*map(line_feeds, exclude)]
    wrong = [f"lacks {short(part)}" for part in include if part not in result]
    wrong += [f"has {short(part)}" for part in exclude if part in result]
    return verdict(not wrong, "; ".join(wrong[:MOST_SHOWN]) or "has everything in `include` and nothing in `exclude`")
