"""Encodes screen pictures as JPEG or PNG."""

import io
from pathlib import Path

from PIL import Image, JpegImagePlugin, UnidentifiedImageError

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import ScreenFrame

# The screen's bytes are blue, green, red, unused. Pillow can wrap such memory without a copy only as red, green, blue,
# unused; the JPEG encoder is then told to reverse the colours. This halves the time per picture. Nothing else in this
# process saves images of that mode.
JpegImagePlugin.RAWMODE["RGBX"] = "BGR"


def to_jpeg(shot: ScreenFrame, *, quality: int, scale: float = 1.0) -> tuple[bytes, int, int]:
    """JPEG bytes, width and height."""
    # Any buffer works, whatever the types say.
    image = Image.frombuffer("RGBX", (shot.width, shot.height), shot.pixels, "raw", "RGBX", shot.stride, 1)  # type: ignore[arg-type]
    if scale < 1.0:
        size = (max(1, round(shot.width * scale)), max(1, round(shot.height * scale)))
        image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue(), image.width, image.height


def to_png(shot: ScreenFrame) -> bytes:
    """PNG bytes; fastest compression, because the store compresses again."""
    size, pixels = (shot.width, shot.height), bytes(shot.pixels)
    image = Image.frombuffer("RGB", size, pixels, "raw", "BGRX", shot.stride, 1)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def check_picture(path: Path) -> None:
    """Reads a picture's header.

    Raises:
        GuestError: it is not a picture, or far too large.
    """
    try:
        with Image.open(path) as image:
            image.verify()
    except (UnidentifiedImageError, Image.DecompressionBombError, SyntaxError) as error:
        raise GuestError("bad_request", f"'{path}' is not a supported picture: {error}") from None
