"""Places as native GUI models write them, and what their numbers run over."""

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from backend.domain.actions._points import PointMap, in_picture, on_grid
from backend.domain.errors import InvalidAction
from backend.domain.ports.agent import CoordinateFrame

FACTOR = 28
"""Sides of pictures for Qwen2-VL and Qwen2.5-VL are multiples of this number of pixels."""
Size = tuple[float, float]
_TAGS = re.compile(r"<\|(?:box|point)_(?:start|end)\|>|</?(?:point|points|bbox|box)>", re.IGNORECASE)
_PLACE = re.compile(r"[\s\[(]*-?[\d.][\d.,\s\[\]()+e-]*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"-?(?:\d{1,7}(?:\.\d{0,20})?|\.\d{1,20})(?:e-?\d{1,2})?", re.IGNORECASE)
_NAMED = re.compile(r"<\|object_ref_start\|>[^<]{0,300}<\|object_ref_end\|>", re.IGNORECASE)
_LONGEST = 300
_POINT, _BOX = 2, 4


def numbers_of(value: Any) -> tuple[float, ...]:
    """The numbers of a place: `(x,y)`, `[x1, y1, x2, y2]`, `<point>x y</point>`, `<|box_start|>(x,y)<|box_end|>`.

    None for anything else.
    """
    if isinstance(value, str) and len(value) <= _LONGEST:
        plain = _TAGS.sub(" ", value).strip()
        return tuple(map(float, _NUMBER.findall(plain))) if _PLACE.match(plain) else ()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) <= _BOX:
        parts = [numbers_of(part) if isinstance(part, list | tuple) else (part,) for part in value]
        flat = [number for part in parts for number in part]
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in flat):
            return tuple(map(float, flat))
    return ()


def bare_place(text: str) -> tuple[float, float] | None:
    """The place of a text that is nothing else, as grounding models answer; None for any other text."""
    if len(text) > 3 * _LONGEST:
        return None
    numbers = numbers_of(_NAMED.sub("", text).strip().strip("`").strip())
    return _place(numbers) if len(numbers) in {_POINT, _BOX} else None


def _place(value: Any) -> tuple[float, float]:
    """The point, or the middle of the box."""
    numbers = numbers_of(value)
    if len(numbers) not in {_POINT, _BOX} or not all(map(math.isfinite, numbers)):
        raise ValueError("expected x and y, or the two corners of a box")
    return (numbers[0] + numbers[-2]) / 2, (numbers[1] + numbers[-1]) / 2


def _path(value: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Two points."""
    numbers = numbers_of(value)
    if len(numbers) != _BOX:
        raise ValueError("expected two points")
    return (numbers[0], numbers[1]), (numbers[2], numbers[3])


Place = Annotated[tuple[float, float], BeforeValidator(_place)]
Path = Annotated[tuple[tuple[float, float], tuple[float, float]], BeforeValidator(_path)]


def smart_resize(width: int, height: int, least: int, most: int, factor: int = FACTOR) -> tuple[int, int]:
    """Size to which servers of Qwen2-VL and Qwen2.5-VL scale a picture, in pixels.

    Args:
        width: of the picture that is sent, in pixels.
        height: likewise.
        least: fewest pixels of the scaled picture.
        most: most pixels of it.
        factor: of which both sides are multiples.

    Source: qwen_vl_utils, `smart_resize`.
    """
    across, down = (max(factor, round(side / factor) * factor) for side in (width, height))
    if across * down > most:
        share = math.sqrt(width * height / most)
        across, down = (max(factor, math.floor(side / share / factor) * factor) for side in (width, height))
    elif across * down < least:
        share = math.sqrt(least / (width * height))
        across, down = (math.ceil(side * share / factor) * factor for side in (width, height))
    return across, down


def over_picture(extent: Size, sight: CoordinateFrame) -> PointMap:
    """The function from a place of a picture whose coordinates run from 0 to `extent` to the screen's pixel."""

    def pixel(x: float, y: float) -> tuple[int, int]:
        across, down = extent
        if not (0 <= x <= across and 0 <= y <= down):
            raise InvalidAction(
                f"the point ({x:g}, {y:g}) lies outside the picture: x is from 0 to {across:g}, y from 0 to {down:g}",
                code="point_out_of_range",
            )
        if sight.view is None:
            return on_grid(x / across, y / down, 1.0, sight)
        return in_picture(x / across * sight.view.width, y / down * sight.view.height, sight)

    return pixel
