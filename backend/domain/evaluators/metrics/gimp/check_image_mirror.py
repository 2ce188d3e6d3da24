"""`check_image_mirror`: a picture is another's mirror image."""

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import same_structure
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_LIKENESS = 0.99


@register(PluginKind.METRIC, "check_image_mirror")
def check_image_mirror(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the picture, mirrored left to right, has a structural similarity of at least 0.99 with the original.

    Args:
        result: path of the agent's picture.
        expected: path of the original.
        strict_upstream: ignore transparency.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    from PIL import ImageOps

    picture, original, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    return verdict(*same_structure(ImageOps.mirror(picture), original, _LIKENESS, strict=strict_upstream))
