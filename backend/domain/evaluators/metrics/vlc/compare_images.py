"""`compare_images`: similarity of two pictures."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import pair, pixels
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.structural_similarity import structural_similarity
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

BETTER = 0.01  # required improvement over the reference


@register(PluginKind.METRIC, "compare_images")
def compare_images(
    result: str | None,
    expected: str | None,
    *,
    reference_base_result: float | None = None,
    strict_upstream: bool = False,
) -> MetricValue:
    """The structural similarity of the grey pictures, scaled to the smaller one.

    Args:
        result: path of the picture to judge.
        expected: path of the expected picture.
        reference_base_result: the similarity at the start. Below 0.01 above it the value is 0, else the fraction of the
            range up to 1.
        strict_upstream: read the pictures as upstream does, without EXIF orientation and clipped at 255.
    """
    import numpy as np
    from PIL import Image

    base = reference_base_result
    if base is not None and (isinstance(base, bool) or not isinstance(base, int | float) or base >= 1):
        raise EvaluatorFailed(
            f"option `reference_base_result` is {short(base)}, expected a number below 1", code="invalid_rule"
        )
    actual, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if actual is None:
        return verdict(met=False, reason=reason)
    size = min(actual.size, gold.size)
    own, gold_pixels = (
        np.asarray(image.convert("L").resize(size, Image.Resampling.LANCZOS)) for image in (actual, gold)
    )
    similarity = structural_similarity(own, gold_pixels)
    text = f"the pictures of {pixels(actual.size)} and {pixels(gold.size)} pixels are {similarity:.4f} alike"
    if base is None:
        return MetricValue(value=max(0.0, min(1.0, similarity)), reasons=(text,))
    value = (similarity - base) / (1 - base) if similarity >= base + BETTER else 0.0
    return MetricValue(value=max(0.0, min(1.0, value)), reasons=(f"{text}, doing nothing is {base:g}",))
