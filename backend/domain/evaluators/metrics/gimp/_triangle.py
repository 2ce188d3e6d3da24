"""Locates the yellow triangle in a picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

_YELLOW = (28, 50)  # Pillow's hue: 360 degrees are 256
_VIVID = 90


@dataclass(frozen=True)
class TrianglePosition:
    """Position in pixels: centre of mass and middle of the bounding box, each (x, y)."""

    mass: tuple[float, float]
    middle: tuple[float, float]


def find_triangle(picture: "Image") -> TrianglePosition | None:
    """The yellow pixels, or without any those not of the commonest colour; None for a plain picture."""
    import numpy as np

    plane = np.asarray(picture.convert("RGBA"))
    opaque = plane[..., 3] > 127  # noqa: PLR2004 - half.
    if not opaque.any():
        return None
    numbers = pack_channels(plane[..., :3])
    front = opaque & (numbers != np.bincount(numbers[opaque]).argmax())
    yellow = front & _yellow(picture)
    rows, columns = np.nonzero(yellow if yellow.any() else front)
    if not len(rows):
        return None
    return TrianglePosition(
        mass=(float(columns.mean()) + 0.5, float(rows.mean()) + 0.5),
        middle=((int(columns.min()) + int(columns.max()) + 1) / 2, (int(rows.min()) + int(rows.max()) + 1) / 2),
    )


def pack_channels(plane: "np.ndarray") -> "np.ndarray":
    """One number per pixel for its channels (four at most), in the order in which rows of channels sort."""
    import numpy as np

    numbers = np.zeros(plane.shape[:2], dtype=np.int64)
    for channel in range(plane.shape[2]):
        numbers = numbers * 256 + plane[..., channel]
    return numbers


def _yellow(picture: "Image") -> "np.ndarray":
    import numpy as np

    hsv = np.asarray(picture.convert("RGB").convert("HSV"))
    hue = (hsv[..., 0] >= _YELLOW[0]) & (hsv[..., 0] <= _YELLOW[1])
    return hue & (hsv[..., 1] >= _VIVID) & (hsv[..., 2] >= _VIVID)
