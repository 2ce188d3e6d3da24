"""`check_qt_bgcone`: whether VLC shows its cone in the background."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_qt_bgcone")
def check_qt_bgcone(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if VLC's setting `qt-bgcone` is as expected; the default is 1.

    Args:
        result: path of `vlcrc`.
        rules: `expected_qt_bgcone`, a number or text.
        strict_upstream: as published, commented lines count.
    """
    return compare_setting(result, (rules, "expected_qt_bgcone"), "qt-bgcone", "1", strict=strict_upstream)
