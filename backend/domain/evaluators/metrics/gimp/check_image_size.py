"""`check_image_size`: a picture has a certain width or height."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.pictures import has_alpha, read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

_SIDES = ("width", "height")


@register(PluginKind.METRIC, "check_image_size")
def check_image_size(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if the picture has the size.

    Args:
        result: path of the picture.
        rules: `width` and `height` in pixels, or one of them; `ignore_transparent`: ignore a transparent margin.
        strict_upstream: never count the margin of pictures with one transparent colour.

    Raises:
        EvaluatorFailed: the rules have no size.
    """
    expected = {side: rules[side] for side in _SIDES if isinstance(rules, Mapping) and rules.get(side) is not None}
    if not expected or not all(isinstance(value, int) for value in expected.values()):
        raise EvaluatorFailed(f"the rules are {short(rules)}, expected width or height in pixels", code="invalid_rule")
    picture, reason = read_picture(result, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    trim = bool(rules.get("ignore_transparent")) or (strict_upstream and "transparency" in picture.info)
    size = dict(zip(_SIDES, _content(picture) if trim else picture.size, strict=True))
    return verdict(
        all(size[side] == value for side, value in expected.items()), f"{short(size)}, expected {short(expected)}"
    )


def _content(picture: "Image") -> tuple[int, int]:
    if not has_alpha(picture):
        return picture.size
    box = picture.convert("RGBA").getchannel("A").getbbox()
    return (0, 0) if box is None else (box[2] - box[0], box[3] - box[1])
