"""`check_green_background`: all that was not black became green."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._pictures import pair
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image


@register(Kind.METRIC, "check_green_background")
def check_green_background(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every pixel that is not black in the original is more green than red or blue.

    Args:
        result: path of the picture that was left.
        expected: path of the original, whose black pixels are the object.
        strict_upstream: fail on pictures that are not square, over which upstream breaks.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    picture, original, reason = pair(result, expected)
    if picture is None:
        return verdict(met=False, reason=reason)
    if picture.size != original.size:
        return verdict(met=False, reason=f"size {picture.size}, expected {original.size}")
    if strict_upstream and original.width != original.height:
        return verdict(met=False, reason="upstream breaks over pictures that are not square")
    plane, background = _plane(picture), _plane(original).any(axis=2)
    green = (plane[..., 1] > plane[..., 0]) & (plane[..., 1] > plane[..., 2])
    wrong = int((background & ~green).sum())
    return verdict(wrong == 0, f"{wrong} of {int(background.sum())} pixels of the background are not green")


def _plane(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.asarray(picture.convert("RGB"))
