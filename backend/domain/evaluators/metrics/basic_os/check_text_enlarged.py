"""`check_text_enlarged`: whether GNOME's text is larger than the default."""

import math

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import number_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_text_enlarged")
def check_text_enlarged(result: str | None) -> MetricValue:
    """1 if the printed scaling factor is above 1."""
    try:
        factor = number_of(result or "")
    except ValueError:
        return verdict(met=False, reason=f"the scaling factor is not a number: {short(result)}")
    return verdict(
        met=math.isfinite(factor) and factor > 1.0, reason=f"the scaling factor is {factor:g}, the default is 1"
    )
