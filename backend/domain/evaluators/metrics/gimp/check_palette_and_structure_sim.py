"""`check_palette_and_structure_sim`: a picture has a palette and looks as expected."""

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import LIKENESS, similar
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_palette_and_structure_sim")
def check_palette_and_structure_sim(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the picture is stored with a palette and a structural similarity of at least 0.9.

    Args:
        result: path of the agent's picture.
        expected: path of the original.
        strict_upstream: read the pictures as upstream does, without EXIF orientation and clipped at 255.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    if picture.mode != "P":
        return verdict(met=False, reason=f"the picture has no palette, its pixels are {picture.mode}")
    return verdict(*similar(picture, gold, LIKENESS))
