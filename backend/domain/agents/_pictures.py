"""Scales pictures down to what model APIs accept, so that labels on them are not scaled again."""

from backend.domain.model.trajectory import Frame
from backend.domain.screen.pictures import decode, encode

LONG_SIDE, SHORT_SIDE = 2048, 768
"""The size that Navi fits pictures into; vendors scale down larger ones."""


def fit(picture: Frame) -> Frame:
    """The picture with its long side at most 2048 and its short side at most 768 pixels; unchanged if it fits.

    Raises:
        GuestLost: the data is not a picture.
    """
    sides = picture.width, picture.height
    factor = min(1.0, LONG_SIDE / max(sides), SHORT_SIDE / min(sides))
    if factor >= 1.0:
        return picture
    from PIL import Image

    size = max(1, int(picture.width * factor)), max(1, int(picture.height * factor))
    return encode(decode(picture).resize(size, Image.Resampling.BICUBIC))
