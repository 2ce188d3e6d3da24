"""`check_brightness_decrease_and_structure_sim`: a picture is darker than another and otherwise equal."""

from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import brightness, clearly_less, expected_picture
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.pictures import read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

_TARGET = 128.0


@register(PluginKind.METRIC, "check_brightness_decrease_and_structure_sim")
def check_brightness_decrease_and_structure_sim(
    result: str | None, expected: str | None, *, threshold: float = 0.03, strict_upstream: bool = False
) -> MetricValue:
    """1 if `result` is darker than `expected` and nearly equal after normalising the brightness.

    One published task passes the original as `result` and the agent's picture as `expected`, so a missing second
    picture (None) gives a verdict as well.

    Args:
        result: path of the darker picture.
        expected: path of the brighter one.
        threshold: the mean squared difference (of values from 0 to 1) from which pictures differ.
        strict_upstream: scale palette indices, which are not colours; any difference counts.

    Raises:
        EvaluatorFailed: the threshold is not a number, or the second picture cannot be read.
    """
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise EvaluatorFailed(f"threshold is {short(threshold)}, expected a number", code="invalid_rule")
    picture, reason = read_picture(result, as_stored=strict_upstream)
    if expected is None or picture is None:
        return verdict(met=False, reason=reason or "the expected picture does not exist")
    gold_picture = expected_picture(expected, as_stored=strict_upstream)
    dark, bright = brightness(picture), brightness(gold_picture)
    text = f"brightness {dark:.2f}, of the other picture {bright:.2f}"
    if not clearly_less(dark, bright, strict=strict_upstream):
        return verdict(met=False, reason=f"{text}, expected less")
    if dark == 0:
        return verdict(met=False, reason="the picture is black")
    # Pillow does not scale deep pixels (modes I, I;16, F).
    picture_rgb, other_rgb = (
        p if strict_upstream and p.mode[0] not in "IF" else p.convert("RGB") for p in (picture, gold_picture)
    )
    error = _error(_scale(picture_rgb, dark), _scale(other_rgb, bright))
    return verdict(error < threshold, f"{text}; mean squared difference {error:.5f}, expected below {threshold:g}")


def _scale(picture: "Image", value: float) -> "Image":
    factor = _TARGET / value
    return picture.point(lambda channel: min(255, max(0, int(channel * factor))))


def _error(first: "Image", second: "Image") -> float:
    from PIL import Image

    if first.size != second.size:
        first = first.resize(second.size, Image.Resampling.LANCZOS)
    return float(((_plane(first) - _plane(second)) ** 2).mean())


def _plane(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.array(picture.convert("RGB"), dtype=np.float32) / 255
