"""`check_text_under_cursor`: this text is selected, or in the line of the text cursor."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import plain
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_text_under_cursor", dialect=DIALECT)
def check_text_under_cursor(result: Mapping[str, Any]) -> MetricValue:
    """1 if it is in the selection or, without a selection, in the cursor's line."""
    text, selection, line = (plain(str(result[key])) for key in ("text", "selection", "line"))
    met = text in selection if selection else text in line
    context = f"selected: {short(result['selection'])}, line: {short(result['line'])}"
    return verdict(met, f"{short(result['text'])} is {'' if met else 'not '}at the cursor; {context}")
