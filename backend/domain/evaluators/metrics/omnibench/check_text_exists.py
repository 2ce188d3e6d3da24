"""`check_text_exists`: this text is on the screen, as a control's or in the picture."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import says
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_text_exists", dialect=DIALECT)
def check_text_exists(result: Mapping[str, Any]) -> MetricValue:
    """1 if the text is in one of the texts."""
    met = any(says(shown_text, result["text"]) for shown_text in result["shown"])
    return verdict(met, f"{short(result['text'])} is {'' if met else 'not '}on the screen")
