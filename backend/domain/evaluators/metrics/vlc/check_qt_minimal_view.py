"""`check_qt_minimal_view`: whether VLC starts without its menus."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_qt_minimal_view")
def check_qt_minimal_view(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if VLC's setting `qt-minimal-view` is as expected; the default is 0.

    Args:
        result: path of `vlcrc`.
        rules: `expected_qt_minimal_view`, a number or text.
        strict_upstream: as published, commented lines count.
    """
    return compare_setting(result, (rules, "expected_qt_minimal_view"), "qt-minimal-view", "0", strict=strict_upstream)
