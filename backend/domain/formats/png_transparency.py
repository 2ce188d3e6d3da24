"""The one transparent colour of a PNG where Pillow does not find it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

_GRAY, _RGB = 0, 2
_DEEP = 16


class PngHeader(NamedTuple):
    """The bits of a sample, and the kind of colour: 0 is grey, 2 is RGB."""

    bits: int
    kind: int


def read_png_header(data: bytes) -> PngHeader | None:
    """From the first bytes of a file; None if they are not those of a PNG (PNG 3, 11.2.1)."""
    return PngHeader(data[24], data[25]) if data.startswith(b"\x89PNG\r\n\x1a\n") and data[25:] else None


def resolve_transparency(picture: "Image", data: bytes) -> "Image":
    """The picture with the transparency of its file.

    Pillow scales samples of fewer than 8 bits, but not the transparent value, and keeps 8 of 16 bits, in which further
    colours look like the transparent one.
    """
    header, transparent = read_png_header(data), picture.info.get("transparency")
    if header is None or transparent is None:
        return picture
    if header.kind == _GRAY and picture.mode == "L":
        picture.info["transparency"] = transparent * 255 // (2**header.bits - 1)
    if header == (_DEEP, _RGB):
        return _with_alpha(picture, data)
    return picture


def _with_alpha(picture: "Image", data: bytes) -> "Image":
    import cv2
    import numpy as np
    from PIL import Image as Pictures

    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if decoded is None or decoded.shape != (picture.height, picture.width, 4):
        return picture
    file_format = picture.format
    del picture.info["transparency"]
    picture.putalpha(Pictures.fromarray(np.where(decoded[..., 3] > 0, 255, 0).astype(np.uint8)))
    picture.format = file_format
    return picture
