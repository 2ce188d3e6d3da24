"""`check_global_key_play_pause`: whether VLC has a global play/pause key."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.vlc._settings import expected_text, value_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

KEY = "global-key-play-pause"


@register(PluginKind.METRIC, "check_global_key_play_pause")
def check_global_key_play_pause(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if a global key is set (`expected_global_key_play_pause` 1) or not (0).

    Args:
        result: path of `vlcrc`.
        rules: `expected_global_key_play_pause`.
        strict_upstream: as published, commented lines count.
    """
    expected = expected_text(rules, "expected_global_key_play_pause")
    value, reason = value_of(result, KEY, "", strict=strict_upstream)
    if value is None:
        return verdict(met=False, reason=reason)
    return verdict(expected == ("1" if value else "0"), f"{KEY} is {short(value)}, it should be set: {expected}")
