"""`check_qt_max_volume`: VLC's maximum volume."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_qt_max_volume")
def check_qt_max_volume(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if VLC's setting `qt-max-volume` is as expected; the default is 125.

    Args:
        result: path of `vlcrc`.
        rules: `expected_qt_max_volume`, a number or text.
        strict_upstream: as published, commented lines count.
    """
    return compare_setting(result, (rules, "expected_qt_max_volume"), "qt-max-volume", "125", strict=strict_upstream)
