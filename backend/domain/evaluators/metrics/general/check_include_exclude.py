"""`check_include_exclude`: a text has some parts and lacks others."""

from collections.abc import Mapping, Sequence

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue


@register(Kind.METRIC, "check_include_exclude")
def check_include_exclude(result: str | None, rules: Mapping[str, Sequence[str]]) -> MetricValue:
    """1 if every `include` is in the text and no `exclude` is."""
    if result is None:
        return verdict(met=False, reason="there is nothing to look into")
    wrong = [f"lacks {short(part)}" for part in rules.get("include", ()) if part not in result]
    wrong += [f"has {short(part)}" for part in rules.get("exclude", ()) if part in result]
    return verdict(not wrong, "; ".join(wrong) or "has all that it should and nothing that it should not")
