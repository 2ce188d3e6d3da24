"""`check_config_status`: a setting of GIMP has a certain value."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.gimp_config import read_entries
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_config_status")
def check_config_status(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if the last list that begins with the key ends with the value.

    Args:
        result: path of `gimprc`, `sessionrc` or `action-history`.
        rules: `key`, the list's first word or its first two, and `value`, its last word as written (texts in quotes).
        strict_upstream: any line with this beginning and end passes.

    Raises:
        EvaluatorFailed: the rules have no key of one or two words, or no value.
    """
    key, value = rule(rules, "key"), rule(rules, "value")
    words = [key] if isinstance(key, str) else key
    if not isinstance(words, list) or len(words) not in {1, 2} or not all(isinstance(w, str) for w in [*words, value]):
        raise EvaluatorFailed(f"key {short(key)} and value {short(value)} are not a valid setting", code="invalid_rule")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    name = " ".join(words)
    if strict_upstream:
        return verdict(_any_line(text, words, value), f"judged by a line of {name} that ends with {value}")
    entries = [entry for entry in read_entries(text) if entry.words[: len(words)] == words]
    if not entries:
        return verdict(met=False, reason=f"{name} is not set")
    return verdict(entries[-1].last == value, f"{name} is {short(entries[-1].last)}, expected {short(value)}")


def _any_line(text: str, words: list[str], value: str) -> bool:
    lines = (line.strip().lstrip("(").rstrip(")").split() for line in text.split("\n") if not line.startswith("#"))
    return any(line[: len(words)] == words and line[-1] == value for line in lines if line)
