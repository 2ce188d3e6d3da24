"""Pictures made as small as APIs make them anyway, so that what is written on them is not scaled twice."""

from backend.domain.model.trajectory import Frame
from backend.domain.screen.pictures import decoded, encoded

LONG_SIDE, SHORT_SIDE = 2048, 768
"""What Navi fits pictures into: vendors scale what is larger."""


def fitted(picture: Frame) -> Frame:
    """The picture with its long side at most 2048 and its short side at most 768 pixels; as it is where it fits.

    Raises:
        GuestLost: it is no picture.
    """
    sides = picture.width, picture.height
    factor = min(1.0, LONG_SIDE / max(sides), SHORT_SIDE / min(sides))
    if factor >= 1.0:
        return picture
    from PIL import Image

    size = max(1, int(picture.width * factor)), max(1, int(picture.height * factor))
    return encoded(decoded(picture).resize(size, Image.Resampling.BICUBIC))
