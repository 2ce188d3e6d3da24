"""Reads dumps of an X window (`xwd`), sometimes named .png. Source: XWDFile.h of the X Window System."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.formats.pictures import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

_FIELDS = 25
_VERSION = 7
_DEPTHS = {24, 32}
_BITS = 32
"""Bits per pixel: current servers store 24 bits of colour in 32."""


def is_xwd(path: str) -> bool:
    """Whether the file begins like such a dump."""
    with Path(path).open("rb") as file:
        head = file.read(8)
    return len(head) == 8 and struct.unpack(">II", head)[1] == _VERSION and not head.startswith(b"\x00\x00\x00\x00")  # noqa: PLR2004 - two numbers.


def read_xwd(path: str | None) -> tuple["Image | None", str]:
    """The picture in RGB, or the reason why there is none."""
    import numpy as np
    from PIL import Image as Pictures

    data = Path(str(path)).read_bytes()
    if len(data) < 4 * _FIELDS:
        return None, "the window dump is damaged"
    fields = struct.unpack(f">{_FIELDS}I", data[: 4 * _FIELDS])
    header, depth, width, height = fields[0], fields[3], fields[4], fields[5]
    order, bits, line, colors = fields[7], fields[11], fields[12], fields[19]
    if depth not in _DEPTHS or bits != _BITS or width * height > MAX_PIXELS or line < 4 * width:
        return None, f"a window dump of {width}x{height} with {depth} bits cannot be read"
    start = header + 12 * colors
    if len(data) < start + line * height or not width * height:
        return None, "the window dump is damaged"
    rows = np.frombuffer(data, np.uint8, line * height, start).reshape(height, line)[:, : 4 * width]
    pixels = rows.reshape(height, width, 4)
    channels = [1, 2, 3] if order else [2, 1, 0]
    return Pictures.fromarray(np.ascontiguousarray(pixels[:, :, channels])), ""
