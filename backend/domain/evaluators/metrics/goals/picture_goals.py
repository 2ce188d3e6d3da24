"""`picture_goals` (ours): size, format and colours of a picture."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._pictures import pixels
from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, verdict
from backend.domain.formats.pictures import on_white, read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_FORMATS = {"JPG": "JPEG", "TIF": "TIFF"}


@register(PluginKind.METRIC, "picture_goals")
def picture_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about a picture.

    Args:
        result: path of the picture.
        rules: any of `size` ([width, height]), `format` (Pillow's name: `PNG`, `JPEG`, ...), `gray` (true: no pixel's
            channels differ by more than 8); `pixels`: a list of `[x, y, [r, g, b]]`, right within 24 per channel, one
            goal together; `partial`: the value is the share of met goals. Transparent parts count as white.
    """
    import numpy as np

    picture, reason = read_picture(result)
    if picture is None:
        return verdict(met=False, reason=reason)
    goals: list[Goal] = []
    if "size" in rules:
        goals.append(
            (
                list(picture.size) == list(rules["size"]),
                f"size {pixels(picture.size)}, expected {pixels(rules['size'])}",
            )
        )
    if "format" in rules:
        expected = str(rules["format"]).upper()
        goals.append(
            (picture.format == _FORMATS.get(expected, expected), f"format {picture.format}, expected {rules['format']}")
        )
    plane = np.asarray(on_white(picture), dtype=np.int16)
    if "gray" in rules:
        spread = int((plane.max(axis=2) - plane.min(axis=2)).max())
        goals.append(((spread <= 8) is bool(rules["gray"]), f"the channels differ by up to {spread}"))  # noqa: PLR2004
    if "pixels" in rules:
        wrong = [[x, y] for x, y, colour in rules["pixels"] if not _has(plane, x, y, colour)]
        goals.append((not wrong, f"pixels with other colours: {wrong}"))
    return share_of_goals(goals, partial=bool(rules.get("partial")))


def _has(plane: Any, x: int, y: int, colour: list[int]) -> bool:
    height, width = plane.shape[:2]
    return x < width and y < height and bool((abs(plane[y, x] - colour) <= 24).all())  # noqa: PLR2004
