"""How a submission may be displayed. Its files come from guests: only their first bytes decide."""

import struct
from enum import StrEnum

MOST_PICTURE_BYTES = 30 * 2**20
MOST_PIXELS = 50_000_000
MOST_TEXT = 20_000
"""Characters of a text that are shown."""
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers of segments that give the picture's size."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers without a length."""


class DisplayForm(StrEnum):
    """How a file is displayed."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    TEXT = "text/plain"
    OTHER = "application/octet-stream"

    @property
    def picture(self) -> bool:
        """A picture that a browser may decode."""
        return self in {DisplayForm.PNG, DisplayForm.JPEG}


def form_of(data: bytes) -> DisplayForm:
    """The display form of a file by its bytes. A picture of unreasonable or unreadable size is only a file."""
    if data.startswith(_PNG):
        return DisplayForm.PNG if _fits(data, _png_size(data)) else DisplayForm.OTHER
    if data.startswith(_JPEG):
        return DisplayForm.JPEG if _fits(data, _jpeg_size(data)) else DisplayForm.OTHER
    return DisplayForm.TEXT if _is_text(data) else DisplayForm.OTHER


def text_of(data: bytes) -> str:
    """The beginning of a text file."""
    text = data[: 4 * MOST_TEXT].decode("utf-8", "replace")
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ..."


def _fits(data: bytes, size: tuple[int, int] | None) -> bool:
    return size is not None and len(data) <= MOST_PICTURE_BYTES and 0 < size[0] * size[1] <= MOST_PIXELS


def _png_size(data: bytes) -> tuple[int, int] | None:
    head = data[8:24]
    if len(head) < 16 or head[4:8] != b"IHDR":  # noqa: PLR2004 - length and name of the chunk, width, height
        return None
    width, height = struct.unpack(">II", head[8:16])
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height from the first frame's header."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:  # noqa: PLR2004 - every marker begins with it
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 if marker in _BARE else 2 + int.from_bytes(data[at + 2 : at + 4])
    return None


def _is_text(data: bytes) -> bool:
    try:
        text = data[: 4 * MOST_TEXT].decode("utf-8")
    except UnicodeDecodeError as error:
        return bool(data) and error.start >= len(data[: 4 * MOST_TEXT]) - 3 and error.start > 0
    return bool(data) and "\x00" not in text
