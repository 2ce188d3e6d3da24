"""`check_json_keybindings`: VS Code has a key binding."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import among
from backend.domain.formats.jsonc import parse_jsonc
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_json_keybindings")
def check_json_keybindings(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if one of the bindings equals the expected one.

    Args:
        result: path of `keybindings.json`.
        rules: `expected`: the binding.
        strict_upstream: accept comments in the first line only, and no trailing commas; `true` equals 1.
    """
    if not isinstance(rules.get("expected"), Mapping):
        raise EvaluatorFailed("`rules.expected` is not a key binding", code="invalid_rule")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    bindings, reason = parse_jsonc(text, plain=strict_upstream)
    if strict_upstream and not isinstance(bindings, list):
        bindings, reason = parse_jsonc(text.partition("\n")[2], plain=True)
    if not isinstance(bindings, list):
        return verdict(met=False, reason=reason or f"the key bindings are not a list: {short(bindings)}")
    expected = rules["expected"]
    met = expected in bindings if strict_upstream else among(expected, bindings)
    return verdict(met, f"{len(bindings)} bindings, expected {short(expected)} among them")
