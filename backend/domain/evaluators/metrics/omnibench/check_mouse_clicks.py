"""`check_mouse_clicks`: something with this text was clicked."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import says
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_mouse_clicks", dialect=DIALECT)
def check_mouse_clicks(result: Mapping[str, Any]) -> MetricValue:
    """1 if the text is in the name of a clicked control or, for one without a name, in the text read there by OCR."""
    text = result["text"]
    names = [click.get("control") or click.get("read", "") for click in result["clicks"]]
    hit = next((name for name in names if says(name, text)), None)
    reason = f"{short(hit)} was clicked" if hit is not None else f"not clicked: {short(text)}; clicked: {short(names)}"
    return verdict(hit is not None, reason)
