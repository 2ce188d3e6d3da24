"""Draws marks on a picture of the screen."""

from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from backend.domain.model.trajectory import Mark
from backend.domain.observations._marks import Element

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

COLOURS = MappingProxyType({"tree": (196, 0, 0), "dom": (0, 70, 200), "ocr": (0, 110, 30), "detector": (140, 0, 160)})
"""Box and label by origin; white on each of them has a contrast of at least 4.5 to 1."""
_LETTERS = 11  # pixels
_EVEN = 10
_LOOKS = 40


def draw(picture: "Image", marks: Sequence[Mark]) -> None:
    """Draws each mark's box, then its number in white inside the bottom right corner."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(picture)
    pen.fontmode = "1"  # Hard edges: JPEG blurs them enough.
    for mark in marks:
        right, bottom = mark.x + mark.width - 1, mark.y + mark.height - 1
        pen.rectangle((mark.x, mark.y, right, bottom), outline=COLOURS[mark.origin])
    for mark in marks:
        _label(picture, pen, mark)


def _label(picture: "Image", pen: "ImageDraw", mark: Mark) -> None:
    """The label, moved inside the picture if necessary."""
    stamp = _number(str(mark.id))
    width, height = stamp.size[0] + 3, stamp.size[1] + 3
    left = max(0, min(mark.x + mark.width, picture.width) - width)
    top = max(0, min(mark.y + mark.height, picture.height) - height)
    pen.rectangle((left, top, left + width - 1, top + height - 1), fill=COLOURS[mark.origin])
    pen.bitmap((left + 2, top + 2), stamp, fill=(255, 255, 255))


@lru_cache(maxsize=2048)
def _number(digits: str) -> "Image":
    """A number's letters; drawn once, as setting text costs more than all the rest."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_LETTERS)
    left, top, right, bottom = font.getbbox(digits)
    stamp = Image.new("1", (round(right - left) + 1, round(bottom - top) + 1))
    ImageDraw.Draw(stamp).text((-left, -top), digits, fill=1, font=font)
    return stamp


def uneven(picture: "Image", elements: Sequence[Element]) -> list[Element]:
    """Elements whose area has more than one colour, as plain areas need no mark.

    OSWorld omits plain areas as well. An empty text box stays because of its frame. JPEG noise is ignored.
    """
    import numpy as np

    pixels = np.asarray(picture.convert("L"))
    return [element for element in elements if _shows(pixels, element)]


def _shows(pixels: "NDArray[Any]", element: Element) -> bool:
    """Whether the area has more than one colour. A large one is sampled on a grid first."""
    part = pixels[element.y : element.y + element.height, element.x : element.x + element.width]
    rough = part[:: max(1, element.height // _LOOKS), :: max(1, element.width // _LOOKS)]
    return any(int(some.max()) - int(some.min()) > _EVEN for some in (rough, part))
