"""`check_contrast_increase_and_structure_sim`: a picture has more contrast than another and otherwise equal."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import same_structure
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

_LIKENESS = 0.65
_OF_SAVING = 1.01
"""Saving as JPEG adds up to 0.8 % (measured)."""


@register(PluginKind.METRIC, "check_contrast_increase_and_structure_sim")
def check_contrast_increase_and_structure_sim(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the standard deviation is higher than the original's and the structure is similar.

    Args:
        result: path of the agent's picture.
        expected: path of the original.
        strict_upstream: treat palette indices and opacity as colours; any difference counts.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    picture, original, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    actual, old = (_contrast(image if strict_upstream else image.convert("RGB")) for image in (picture, original))
    text = f"contrast {actual:.3f}, of the original {old:.3f}"
    if not actual > old * (1 if strict_upstream else _OF_SAVING):
        return verdict(met=False, reason=f"{text}, expected more")
    alike, reason = same_structure(picture, original, _LIKENESS, strict=strict_upstream)
    return verdict(alike, f"{text}; {reason}")


def _contrast(picture: "Image") -> float:
    import numpy as np

    return float(np.std(np.asarray(picture, dtype=np.float32)))
