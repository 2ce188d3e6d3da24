"""`check_qt_video_resize`: whether VLC's window adapts to the video's size."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_qt_video_resize")
def check_qt_video_resize(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if VLC's setting `qt-video-autoresize` is as expected; the default is 1.

    Args:
        result: path of `vlcrc`.
        rules: `qt-video-autoresize`, a number or text.
        strict_upstream: as published, commented lines count and the default is 0.
    """
    return compare_setting(
        result,
        (rules, "qt-video-autoresize"),
        "qt-video-autoresize",
        "0" if strict_upstream else "1",
        strict=strict_upstream,
    )
