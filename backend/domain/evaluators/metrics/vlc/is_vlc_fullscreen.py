"""`is_vlc_fullscreen`: the window is as large as the screen."""

from collections.abc import Mapping

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

Size = Mapping[str, int]


@register(PluginKind.METRIC, "is_vlc_fullscreen")
def is_vlc_fullscreen(window: Size | None, screen: Size | None) -> MetricValue:
    """1 if both sizes `{width, height}` are known and equal. The order of the arguments does not matter."""
    if window is None or screen is None:
        return verdict(met=False, reason="the window or the screen is missing")
    sizes = [(size.get("width"), size.get("height")) for size in (window, screen)]
    if None in sizes[0] or None in sizes[1]:
        return verdict(met=False, reason=f"a size is unknown: {short(sizes)}")
    return verdict(sizes[0] == sizes[1], "the sizes are {}x{} and {}x{}".format(*sizes[0], *sizes[1]))
