"""Turns a picture of the screen into JPEG or PNG."""

import io
from typing import TYPE_CHECKING

from .machine import Shot

if TYPE_CHECKING:
    from PIL import Image


def _image(shot: Shot) -> "Image.Image":
    from PIL import Image

    size = (shot.width, shot.height)
    # Pillow's decoder takes no view of mapped memory, so this is where the one copy is made.
    return Image.frombytes("RGB", size, bytes(shot.pixels), "raw", "BGRX", shot.stride, 1)


def to_jpeg(shot: Shot, *, quality: int, scale: float = 1.0) -> tuple[bytes, int, int]:
    """JPEG bytes, width and height."""
    image = _image(shot)
    if scale < 1.0:
        from PIL import Image

        size = (max(1, round(shot.width * scale)), max(1, round(shot.height * scale)))
        image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue(), image.width, image.height


def to_png(shot: Shot) -> bytes:
    """PNG bytes; the fastest compression, because the store compresses again."""
    buffer = io.BytesIO()
    _image(shot).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
