"""`compare_triangle_positions`: the second picture's triangle is nearer to the middle than the first's."""

from math import dist
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._triangle import find_triangle
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image


@register(PluginKind.METRIC, "compare_triangle_positions")
def compare_triangle_positions(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the triangle of `expected` is nearer to its picture's middle than that of `result` (upstream's order).

    Args:
        result: path of a picture.
        expected: path of the second picture.
        strict_upstream: use the whole picture as the triangle, as upstream does (its limits accept every colour); then
            only even or odd sides decide.

    Raises:
        EvaluatorFailed: the second picture cannot be read or has no triangle.
    """
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    if strict_upstream:
        return verdict(_even_sides(picture) > _even_sides(gold), "judged by the pictures' middles")
    far = _from_middle(gold)
    if far is None:
        raise EvaluatorFailed("the expected picture has no triangle", code="invalid_reference")
    actual = _from_middle(picture)
    if actual is None:
        return verdict(met=False, reason="the picture has no triangle")
    text = f"the triangle is {actual:.1f} pixels from the middle, the other picture's {far:.1f}"
    return verdict(actual > far, text)


def _from_middle(picture: "Image") -> float | None:
    triangle = find_triangle(picture)
    return None if triangle is None else dist(triangle.mass, (picture.width / 2, picture.height / 2))


def _even_sides(picture: "Image") -> int:
    """A whole picture's centre of mass, rounded down, is half a pixel off the middle of an even side."""
    return sum(side % 2 == 0 for side in picture.size)
