"""`is_extension_installed`: what a command printed has a part, or lacks it."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_extension_installed")
def is_extension_installed(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the part is there, or is not; the tasks use it for lists of extensions, files and registry values alike.

    Args:
        result: what was printed; None, a command that could not be run, has no value in either case.
        rules: `type`: `contain` or `not_contain`; `expected`: the part.
    """
    kind, part = rules.get("type"), rules.get("expected")
    if kind not in {"contain", "not_contain"} or not isinstance(part, str):
        raise EvaluatorFailed(f"a rule of type {kind!r} for {part!r} is not valid", code="invalid_rule")
    if result is None:
        return verdict(met=False, reason="nothing was printed")
    has = part in result
    return verdict(has == (kind == "contain"), f"{short(part)} is {'' if has else 'not '}in {short(result)}")
