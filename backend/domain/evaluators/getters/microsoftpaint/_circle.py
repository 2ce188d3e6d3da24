"""Detects one red circle on white, as WAA does: centre of all red pixels, their mean distance, white inside.

Source: WindowsAgentArena, `getters/microsoftpaint.py`: colour limits and share of white.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

WHITE_FROM = 200
RED_FROM, OTHERS_TO = 150, 100
WHITE_SHARE = 0.8


def shows_red_circle(picture: "Image") -> bool:
    """Whether more than four fifths of the square around the centre of the red pixels are white."""
    import numpy as np

    pixels = np.asarray(picture.convert("RGB"))
    red, green, blue = (pixels[..., channel] for channel in range(3))
    mask = (red >= RED_FROM) & (green <= OTHERS_TO) & (blue <= OTHERS_TO)
    count = int(mask.sum())
    if count == 0:
        return False
    y = float(mask.sum(axis=1) @ np.arange(mask.shape[0])) / count
    x = float(mask.sum(axis=0) @ np.arange(mask.shape[1])) / count
    # Row by row, because the coordinates of a large red picture would exceed the child process' memory.
    far = sum(float(np.hypot(np.flatnonzero(row) - x, index - y).sum()) for index, row in enumerate(mask))
    radius = int(far / count)
    # With negative indices, which Python counts from the end, WAA's square is empty and its answer no; so is ours.
    square = pixels[int(y - radius) : int(y + radius), int(x - radius) : int(x + radius)]
    white = (square >= WHITE_FROM).all(axis=-1)
    return bool(white.size) and float(white.mean()) > WHITE_SHARE
