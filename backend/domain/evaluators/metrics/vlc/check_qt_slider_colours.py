"""`check_qt_slider_colours`: the colours of VLC's volume slider."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.vlc._settings import expected_text, value_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

KEY = "qt-slider-colours"
DEFAULT = "153;210;153;20;210;20;255;199;15;245;39;29"
BLACKISH = 100  # upper bound of every channel
CHANNELS = 12  # that VLC reads; it fills up a shorter list with white


@register(PluginKind.METRIC, "check_qt_slider_colours")
def check_qt_slider_colours(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the colours (`R;G;B;R;G;B;...`) are as expected.

    Args:
        result: path of `vlcrc`.
        rules: `type` `match` with `expected_qt_slider_colours`, or `blackish`: every channel of every colour is
            below 100.
        strict_upstream: as published, commented lines count, and so does a list of fewer than four colours.
    """
    kind = rule(rules, "type")
    if kind not in {"match", "blackish"}:
        raise EvaluatorFailed(
            f"`type` is {short(kind)}, expected `match` or `blackish`", code="invalid_rule", hint=HINT
        )
    expected = expected_text(rules, "expected_qt_slider_colours") if kind == "match" else "blackish"
    value, reason = value_of(result, KEY, DEFAULT, strict=strict_upstream)
    if value is None:
        return verdict(met=False, reason=reason)
    right = value == expected if kind == "match" else _is_blackish(value, strict=strict_upstream)
    return verdict(right, f"{KEY} is {short(value)}, expected {short(expected)}")


def _is_blackish(colours: str, *, strict: bool) -> bool:
    """Four colours are shown; as published, complete colours only: a remainder at the end is ignored."""
    try:
        channels = [int(part) for part in colours.split(";")]
    except ValueError:
        return False
    if strict:
        return all(channel < BLACKISH for channel in channels[: len(channels) // 3 * 3])
    return len(channels) >= CHANNELS and all(0 <= channel < BLACKISH for channel in channels[:CHANNELS])
