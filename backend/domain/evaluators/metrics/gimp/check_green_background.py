"""`check_green_background`: everything but the black object became green."""

from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import pair, pixels
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image


@register(PluginKind.METRIC, "check_green_background")
def check_green_background(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every pixel that is not black in the original is more green than red or blue.

    Args:
        result: path of the agent's picture.
        expected: path of the original, whose black pixels are the object.
        strict_upstream: fail on pictures that are not square, on which upstream crashes, and ignore the area of a
            larger result beyond the original.

    Raises:
        EvaluatorFailed: the original cannot be read, or has no background.
    """
    picture, original, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    if strict_upstream:
        if original.width != original.height or min(picture.size) < original.width:
            return verdict(met=False, reason="upstream fails on pictures that are not square or too small")
        picture = picture.crop((0, 0, *original.size))
    if picture.size != original.size:
        return verdict(met=False, reason=f"size {pixels(picture.size)}, expected {pixels(original.size)}")
    plane, background = _plane(picture), _plane(original).any(axis=2)
    if not background.any() and not strict_upstream:
        raise EvaluatorFailed("the original is entirely black and has no background", code="invalid_reference")
    green = (plane[..., 1] > plane[..., 0]) & (plane[..., 1] > plane[..., 2])
    wrong = int((background & ~green).sum())
    return verdict(wrong == 0, f"{wrong} of {int(background.sum())} pixels of the background are not green")


def _plane(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.asarray(picture.convert("RGB"))
