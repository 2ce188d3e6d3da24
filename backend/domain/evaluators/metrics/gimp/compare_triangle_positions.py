"""`compare_triangle_positions`: the second picture's triangle lies nearer to the middle than the first's."""

from math import dist
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._pictures import pair
from backend.domain.evaluators.metrics.gimp._triangle import find_triangle
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

if TYPE_CHECKING:
    from PIL.Image import Image


@register(Kind.METRIC, "compare_triangle_positions")
def compare_triangle_positions(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the triangle of `expected` lies nearer to its picture's middle than that of `result` (upstream's order).

    Args:
        result: path of a picture.
        expected: path of the picture to compare with.
        strict_upstream: upstream's search for colours cannot work (four channels, three limits); always 0.

    Raises:
        EvaluatorFailed: the second picture cannot be read or has no triangle.
    """
    picture, other, reason = pair(result, expected)
    far = _from_middle(other)
    if far is None:
        raise EvaluatorFailed("the expected picture has no triangle")
    if picture is None:
        return verdict(met=False, reason=reason)
    mine = _from_middle(picture)
    if mine is None:
        return verdict(met=False, reason="the picture has no triangle")
    words = f"the triangle lies {mine:.1f} pixels from the middle, the other picture's {far:.1f}"
    return verdict(mine > far and not strict_upstream, words)


def _from_middle(picture: "Image") -> float | None:
    found = find_triangle(picture)
    return None if found is None else dist(found.mass, (picture.width / 2, picture.height / 2))
