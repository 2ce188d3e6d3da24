"""`check_play_and_exit`: whether VLC closes after playing."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_play_and_exit")
def check_play_and_exit(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if VLC's setting `play-and-exit` is as expected; the default is 0.

    Args:
        result: path of `vlcrc`.
        rules: `expected_play_and_exit`, a number or text.
        strict_upstream: as published, commented lines count.
    """
    return compare_setting(result, (rules, "expected_play_and_exit"), "play-and-exit", "0", strict=strict_upstream)
