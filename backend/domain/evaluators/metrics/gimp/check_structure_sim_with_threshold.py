"""`check_structure_sim_with_threshold`: two pictures have the same structure, by the task's threshold."""

from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import pair, pixels
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.gimp._structure import same_structure, ssim
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

_WINDOW = 7


@register(PluginKind.METRIC, "check_structure_sim_with_threshold")
def check_structure_sim_with_threshold(
    result: str | None, expected: str | None, *, ssim_threshold: float = 0.85, strict_upstream: bool = False
) -> MetricValue:
    """1 if the structural similarity is high enough; a picture of another size is scaled first.

    Args:
        result: path of the agent's picture.
        expected: path of the expected picture. Its transparent areas must be transparent in the result.
        ssim_threshold: minimum similarity, 0 to 1.
        strict_upstream: ignore transparency and EXIF orientation.

    Raises:
        EvaluatorFailed: the expected picture cannot be read, or the threshold is invalid.
    """
    from PIL import Image

    if not isinstance(ssim_threshold, int | float) or not 0 <= ssim_threshold <= 1:
        raise EvaluatorFailed(
            f"ssim_threshold is {short(ssim_threshold)}, expected a number from 0 to 1", code="invalid_rule"
        )
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    scaled = picture.resize(gold.size, Image.Resampling.LANCZOS) if picture.size != gold.size else picture
    if min(gold.size) < _WINDOW:
        return verdict(*_tiny(scaled, gold, ssim_threshold))
    return verdict(*same_structure(scaled, gold, ssim_threshold, strict=strict_upstream))


def _tiny(first: "Image", second: "Image", threshold: float) -> tuple[bool, str]:
    """Pictures smaller than the usual window get a smaller window of odd size."""
    window = (min(second.size) - 1) // 2 * 2 + 1
    if window == 1:
        return False, f"a picture of {pixels(second.size)} is too small for a comparison"
    value = ssim(first.convert("RGB"), second.convert("RGB"), window)
    return value >= threshold, f"structural similarity {value:.4f}, expected {threshold:g}"
