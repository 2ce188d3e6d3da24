"""`check_saturation_increase_and_structure_sim`: a picture is more vivid than another and otherwise equal."""

from backend.domain.evaluators.metrics._pictures import clearly_less, pair, saturation
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import LIKENESS, similar
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_saturation_increase_and_structure_sim")
def check_saturation_increase_and_structure_sim(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the mean saturation is higher than the original's and the structure of hue and lightness is unchanged.

    Args:
        result: path of the agent's picture.
        expected: path of the original.
        strict_upstream: read the pictures as upstream does, without EXIF orientation and clipped at 255;
            any difference counts.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    picture, original, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    actual, old = saturation(picture), saturation(original)
    if not clearly_less(old, actual, strict=strict_upstream):
        return verdict(met=False, reason=f"saturation {actual:.3f}, of the original {old:.3f}, expected more")
    for name, band, original_band in zip(
        "HSV", picture.convert("HSV").split(), original.convert("HSV").split(), strict=True
    ):
        alike, reason = (True, "") if name == "S" else similar(band, original_band, LIKENESS)
        if not alike:
            return verdict(met=False, reason=f"{'hue' if name == 'H' else 'lightness'}: {reason}")
    return verdict(met=True, reason=f"saturation {actual:.3f}, of the original {old:.3f}; the structure is the same")
