"""`increase_saturation`: the second picture has more vivid colours than the first."""

from backend.domain.evaluators.metrics._pictures import clearly_less, pair, saturation
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "increase_saturation")
def increase_saturation(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the mean saturation of `expected` is higher than that of `result` (upstream's order).

    Args:
        result: path of a picture.
        expected: path of the second picture.
        strict_upstream: read the pictures as upstream does, without EXIF orientation and clipped at 255;
            any difference counts.

    Raises:
        EvaluatorFailed: the second picture cannot be read.
    """
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    first, second = saturation(picture), saturation(gold)
    return verdict(
        clearly_less(first, second, strict=strict_upstream),
        f"saturation {first:.3f}, of the other picture {second:.3f}, expected less",
    )
