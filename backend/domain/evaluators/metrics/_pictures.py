"""Loads the pictures of metrics that compare two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.formats.pictures import read_picture

if TYPE_CHECKING:
    from PIL.Image import Image

_OF_SAVING = 0.1


def expected_picture(path: str | None, *, as_stored: bool = False) -> "Image":
    """A picture of the task. Raises EvaluatorFailed if it cannot be read."""
    picture, reason = read_picture(path, as_stored=as_stored)
    if picture is None:
        raise EvaluatorFailed(f"expected picture: {reason}", code="invalid_reference")
    return picture


def pair(result: str | None, expected: str | None, *, as_stored: bool = False) -> tuple["Image | None", "Image", str]:
    """The agent's picture (or None and the reason) and the expected one; see `read_picture`."""
    gold = expected_picture(expected, as_stored=as_stored)
    picture, reason = read_picture(result, as_stored=as_stored)
    return picture, gold, reason


def pixels(size: Sequence[int]) -> str:
    """A size as text: `1920x1080`."""
    return "x".join(map(str, size))


def clearly_less(value: float, other: float, *, strict: bool) -> bool:
    """Whether a mean of 0 to 255 is less than another by more than what saving as JPEG changes (0.06, measured).

    Args:
        value: the mean that should be less.
        other: that of the other picture.
        strict: as published, any difference counts.
    """
    return value < other if strict else value < other - _OF_SAVING


def brightness(picture: "Image") -> float:
    """The mean of the grey values, 0 to 255."""
    from PIL import ImageStat

    return float(ImageStat.Stat(picture.convert("L")).mean[0])


def saturation(picture: "Image") -> float:
    """The mean saturation, 0 to 255."""
    from PIL import ImageStat

    return float(ImageStat.Stat(picture.convert("HSV").split()[1]).mean[0])
