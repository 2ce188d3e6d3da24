"""`compare_image_list`: pictures are equal, pixel by pixel."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._pictures import expected_picture, pixels
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.pictures import read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

Paths = str | None | Sequence[str | None]


@register(PluginKind.METRIC, "compare_image_list")
def compare_image_list(result: Paths, expected: Paths, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every picture equals the expected one at its position. Pictures of another size are scaled first.

    Args:
        result: a path or paths of the agent's pictures; None for a missing one.
        expected: as many paths.
        strict_upstream: skip expected pictures without a result at their position, and ignore the colours of pictures
            with transparency.

    Raises:
        EvaluatorFailed: there is no expected picture, or one cannot be read.
    """
    actual, expected_paths = _as_list(result), _as_list(expected)
    if not expected_paths:
        raise EvaluatorFailed("there is no expected picture", code="invalid_reference")
    models = [expected_picture(path, as_stored=strict_upstream) for path in expected_paths]
    if len(actual) != len(models) and not strict_upstream:
        return verdict(met=False, reason=f"{len(actual)} pictures, expected {len(models)}")
    for number, (path, model) in enumerate(zip(actual, models, strict=False), 1):
        picture, reason = read_picture(path, as_stored=strict_upstream)
        if picture is None:
            return verdict(met=False, reason=f"picture {number}: {reason}")
        if reason := _difference(picture, model, colours_of_alpha=not strict_upstream):
            return verdict(met=False, reason=f"picture {number}: {reason}")
    return verdict(met=True, reason=f"{len(actual)} pictures, all equal")


def _as_list(paths: Paths) -> list[str | None]:
    return list(paths) if isinstance(paths, list | tuple) else [paths]  # type: ignore[list-item]


def _difference(first: "Image", second: "Image", *, colours_of_alpha: bool) -> str:
    """Description of the differences; empty if the pictures are equal."""
    from PIL import Image, ImageChops

    resized = f" (scaled from {pixels(first.size)})" if first.size != second.size else ""
    first = first.resize(second.size, Image.Resampling.LANCZOS) if resized else first
    if colours_of_alpha:  # Colours behind full transparency are invisible: premultiplied, they are all 0.
        first, second = _premultiply(first), _premultiply(second)
    try:
        if first.mode != second.mode:
            first = first.convert(second.mode)
        box = ImageChops.difference(first, second).getbbox(alpha_only=not colours_of_alpha)
    except ValueError as error:  # As stored, deep samples cannot be compared; upstream raises, too.
        return f"pixels of {first.mode} and {second.mode} cannot be compared: {error}"
    return f"differs in the area {box}{resized}" if box else ""


def _premultiply(picture: "Image") -> "Image":
    return picture.convert("RGBA").convert("RGBa")
