"""`check_triangle_position`: the yellow triangle is in the middle of the picture."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._triangle import find_triangle, pack_channels
from backend.domain.formats.pictures import read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

_TOLERANCE = 0.05  # of width and height


@register(PluginKind.METRIC, "check_triangle_position")
def check_triangle_position(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the triangle's centre of mass, or the middle of its box, is within 5 % of the picture's middle.

    Args:
        result: path of the picture.
        strict_upstream: use the second rarest colour as the triangle.
    """
    picture, reason = read_picture(result, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    if strict_upstream:
        return verdict(_is_second_rarest(picture), "judged by the second rarest colour")
    triangle = find_triangle(picture)
    if triangle is None:
        return verdict(met=False, reason="the picture has a single colour")
    met = _is_near(triangle.mass, picture) or _is_near(triangle.middle, picture)
    text = (
        f"the triangle is around ({triangle.mass[0]:.0f}, {triangle.mass[1]:.0f}) of {picture.width}x{picture.height}"
    )
    return verdict(met, text)


def _is_near(point: tuple[float, float], picture: "Image") -> bool:
    return all(abs(at - side / 2) < _TOLERANCE * side for at, side in zip(point, picture.size, strict=True))


def _is_second_rarest(picture: "Image") -> bool:
    import numpy as np

    plane = np.asarray(picture)
    if plane.ndim != 3:  # noqa: PLR2004 - rows, columns, channels.
        return False
    numbers = pack_channels(plane)
    colours, counts = np.unique(numbers, return_counts=True)
    if len(colours) <= 1:
        return False
    points = np.argwhere(numbers == colours[np.argsort(counts)][1])
    sides = np.array(plane.shape[:2])
    return bool((abs(points.mean(axis=0) - sides / 2) < _TOLERANCE * sides).all())
