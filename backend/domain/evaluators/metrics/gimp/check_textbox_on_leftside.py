"""`check_textbox_on_leftside`: dark text begins at the left edge of a picture."""

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.pictures import on_white, read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_DARK = 128
_EDGE = 0.05


@register(PluginKind.METRIC, "check_textbox_on_leftside")
def check_textbox_on_leftside(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the leftmost dark pixel is in the left 5 %.

    Args:
        result: path of the picture.
        strict_upstream: count pixels hidden behind transparency as dark.
    """
    import numpy as np

    picture, reason = read_picture(result, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    grey = (picture if strict_upstream else on_white(picture)).convert("L")
    columns = np.nonzero((np.asarray(grey) < _DARK).any(axis=0))[0]
    if not len(columns):
        return verdict(met=False, reason="the picture has no dark pixels")
    left = int(columns[0])
    return verdict(left < picture.width * _EDGE, f"the leftmost dark pixel is in column {left} of {picture.width}")
