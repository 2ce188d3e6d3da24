"""Draws the pointer into a screen picture, which the X server leaves out."""

from typing import Any

from PIL import Image


class PointerPicture:
    """Caches the pointer's image, and draws it."""

    def __init__(self) -> None:
        self._serial = -1
        self._colours = Image.new("RGB", (1, 1))
        self._cover = Image.new("L", (1, 1))

    def draw(self, pixels: bytearray, size: tuple[int, int], cursor: Any) -> None:
        """Draws it.

        Args:
            pixels: of the screen: 4 bytes a pixel (blue, green, red, unused), rows one after the other.
            size: width and height of the screen in pixels.
            cursor: the X server's answer to XFixes' GetCursorImage.
        """
        if cursor.cursor_serial != self._serial:
            self._remember(cursor)
        left, top = cursor.x - cursor.xhot, cursor.y - cursor.yhot
        box = (max(0, left), max(0, top), min(size[0], left + cursor.width), min(size[1], top + cursor.height))
        if box[0] >= box[2] or box[1] >= box[3]:
            return
        cut = (box[0] - left, box[1] - top, box[2] - left, box[3] - top)
        below = _cut(pixels, size[0], box)
        below.paste(self._colours.crop(cut), mask=self._cover.crop(cut))
        _put(pixels, size[0], box, below)

    def _remember(self, cursor: Any) -> None:
        """Its colours are premultiplied ARGB integers."""
        size = (cursor.width, cursor.height)
        data = b"".join(value.to_bytes(4, "little") for value in cursor.cursor_image)
        picture = Image.frombytes("RGBa", size, data, "raw", "BGRa").convert("RGBA")
        self._colours, self._cover = picture.convert("RGB"), picture.getchannel("A")
        self._serial = cursor.cursor_serial


def _cut(pixels: bytearray, width: int, box: tuple[int, int, int, int]) -> Image.Image:
    left, top, right, bottom = box
    rows = [bytes(pixels[4 * (y * width + left) : 4 * (y * width + right)]) for y in range(top, bottom)]
    return Image.frombytes("RGB", (right - left, bottom - top), b"".join(rows), "raw", "BGRX")


def _put(pixels: bytearray, width: int, box: tuple[int, int, int, int], part: Image.Image) -> None:
    left, top, right, _ = box
    data, stride = part.tobytes("raw", "BGRX"), 4 * (right - left)
    for row in range(part.height):
        start = 4 * ((top + row) * width + left)
        pixels[start : start + stride] = data[row * stride : (row + 1) * stride]
