"""`check_keyboard_types`: this text was typed."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.typed import expand_keys
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_keyboard_types", dialect=DIALECT)
def check_keyboard_types(result: Mapping[str, Any]) -> MetricValue:
    """1 if it was typed without interruption, or if it names a key that was pressed (`{ctrl+s}`).

    Text deleted by Backspace does not count; Return and Tab count as line end and tab.
    """
    text = expand_keys(result["text"])
    met = text in result["keys"] or any(text in typed for typed in result["typed"])
    typed = f"typed: {short(result['typed'])}, keys: {short(result['keys'])}"
    return verdict(met, f"{short(text)} was {'' if met else 'not '}typed; {typed}")
