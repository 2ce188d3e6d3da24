"""Encoded pictures in and out (PIL, imported when it is needed)."""

import io
from typing import TYPE_CHECKING

from backend.domain.errors import GuestLost
from backend.domain.model.trajectory import Frame

if TYPE_CHECKING:
    from PIL.Image import Image

QUALITY = 90
"""Of the JPEG that agents are shown: letters of 12 pixels stay sharp; encoding 1920x1080 takes about 15 ms."""

_THUMBNAIL_QUALITY = 72

_HASHED_AT = 64
"""Pixels to each side from which on a JPEG is decoded for its hash: a fifth of the time of the whole picture."""


def decode(frame: Frame) -> "Image":
    """The picture as RGB.

    Raises:
        GuestLost: it is damaged, or its size is not as announced.
    """
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(frame.data), formats=("JPEG", "PNG"))
        if picture.size != (frame.width, frame.height):
            raise GuestLost(
                f"the desktop's picture is {picture.size}, not {frame.width}x{frame.height}", code="observation_damaged"
            )
        return picture.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise GuestLost(f"the desktop's picture is damaged: {error}", code="observation_damaged") from error


def enlarge(frame: Frame, box: tuple[int, int, int, int], width: int, height: int) -> Frame:
    """A part of the picture, as large as fits.

    Args:
        frame: the picture.
        box: left, top, right, bottom of the part in its pixels, right and bottom excluded.
        width: of the space, in pixels.
        height: likewise.
    """
    from PIL import Image

    left, top, right, bottom = box
    factor = min(width / (right - left), height / (bottom - top))
    size = max(1, round((right - left) * factor)), max(1, round((bottom - top) * factor))
    return encode(decode(frame).resize(size, Image.Resampling.LANCZOS, box=(left, top, right, bottom)))


def perceptual_hash(frame: Frame) -> int | None:
    """64 bits, most of them equal for pictures that look alike: which of two neighbours is lighter, of 9x8 points.

    Source: N. Krawetz, "Kind of like that" (2013), as the difference hash of imagehash. None for a damaged picture.
    """
    import imagehash
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(frame.data), formats=("JPEG", "PNG"))
        picture.draft("L", (_HASHED_AT, _HASHED_AT))
        return int(str(imagehash.dhash(picture)), 16)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def thumbnail(data: bytes, width: int) -> bytes | None:
    """The picture as a small JPEG, `width` pixels wide; None for a damaged one. Narrower pictures are not enlarged."""
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(data), formats=("JPEG", "PNG"))
        height = max(1, round(picture.height * width / picture.width))
        picture.draft("RGB", (width, height))
        small = picture.convert("RGB")
        small.thumbnail((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0)
        out = io.BytesIO()
        small.save(out, "JPEG", quality=_THUMBNAIL_QUALITY, optimize=True)
        return out.getvalue()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def encode(picture: "Image") -> Frame:
    """The picture as JPEG."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    return Frame(data=out.getvalue(), media_type="image/jpeg", width=picture.width, height=picture.height)
