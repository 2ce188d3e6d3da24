"""`same_picture` (ours): two pictures are equal, pixel by pixel."""

from backend.domain.evaluators.metrics._pictures import pair, pixels
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.pictures import on_white
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "same_picture")
def same_picture(result: str | None, expected: str | None, *, tolerance: int = 16, share: float = 0.99) -> MetricValue:
    """1 if the sizes are equal and at least `share` of the pixels differ by `tolerance` of 255 or less.

    Transparent parts count as white; the file format does not matter.
    """
    import numpy as np

    actual, gold, reason = pair(result, expected)
    if actual is None:
        return verdict(met=False, reason=reason)
    if actual.size != gold.size:
        return verdict(met=False, reason=f"its size is {pixels(actual.size)}, expected {pixels(gold.size)}")
    planes = [np.asarray(on_white(picture), dtype=np.int16) for picture in (actual, gold)]
    close = float((np.abs(planes[0] - planes[1]).max(axis=2) <= tolerance).mean())
    return verdict(close >= share, f"{close:.2%} of the pixels match, expected at least {share:.0%}")
