"""Places as native GUI models write them, and what their numbers run over."""

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from backend.domain.actions._points import PointMap, in_picture, on_grid
from backend.domain.errors import InvalidAction
from backend.domain.ports.agent import CoordinateFrame

FACTOR = 28
"""Sides of pictures for Qwen2-VL and Qwen2.5-VL are multiples of this number of pixels."""
Size = tuple[float, float]
_TAGS = re.compile(r"<\|(?:box|point)_(?:start|end)\|>|</?(?:point|points|bbox|box)>", re.IGNORECASE)
_END_TAG = re.compile(r"<\|\w+_end\|>|</\w+>", re.IGNORECASE)
_PLACE = re.compile(r"[\s\[(]*-?[\d.][\d.,\s\[\]()+e-]*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"-?(?:\d{1,7}(?:\.\d{0,20})?|\.\d{1,20})(?:e-?\d{1,2})?", re.IGNORECASE)
_NAMED = re.compile(r"(?:<\|object_ref_start\|>|<ref>)[^<]{0,300}(?:<\|object_ref_end\|>|</ref>)", re.IGNORECASE)
_LABEL = re.compile(r"\A(?:click|answer|point|position|location|coordinates?)?\s*[:=]?\s*(?=[(\[])", re.IGNORECASE)
_AXES = re.compile(r"\A\(?\s*x\s*[=:]\s*([-\d.e]{1,30})\s*,\s*y\s*[=:]\s*([-\d.e]{1,30})\s*\)?\Z", re.IGNORECASE)
_WIDE = str.maketrans("\uff08\uff09\uff0c\uff1a\u3010\u3011", "(),:[]")
_FENCE = re.compile(r"\A```\w{0,10}\s*(.*?)\s*```\Z", re.DOTALL)
_TWO_POINTS = re.compile(r"\)\s*?\n\s*\(|\A\[[^\[\]]*\]\s*?\n\s*\[")
"""A point a line: two of them are no box."""
_PLACES = ("point_2d", "bbox_2d", "point", "bbox", "coordinate")
_LONGEST = 300
_POINT, _BOX = 2, 4


def numbers_of(value: Any) -> tuple[float, ...]:
    """The numbers of a place: `(x,y)`, `[x1, y1, x2, y2]`, `<point>x y</point>`, `<|box_start|>(x,y)<|box_end|>`.

    None for anything else, and for one that ends in the middle: its last number may lack digits.
    """
    if isinstance(value, str) and len(value) <= _LONGEST:
        plain = _TAGS.sub(" ", value).strip()
        complete = _PLACE.match(plain) and _is_closed(value, plain)
        return tuple(map(float, _NUMBER.findall(plain))) if complete else ()
    if isinstance(value, Mapping) and set(value) == {"x", "y"}:
        value = [value["x"], value["y"]]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) <= _BOX:
        parts = [numbers_of(part) if isinstance(part, list | tuple) else (part,) for part in value]
        flat = [_number(number) for part in parts for number in part]
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in flat):
            return tuple(map(float, flat))
    return ()


def _number(value: Any) -> Any:
    """The number of a text that is nothing else."""
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value


def _is_closed(text: str, plain: str) -> bool:
    """Whether all brackets of a place are closed, or its tags where it has no brackets."""
    if "(" in plain or "[" in plain:
        return plain.count("(") == plain.count(")") and plain.count("[") == plain.count("]")
    tags = _TAGS.findall(text)
    return not tags or bool(_END_TAG.fullmatch(tags[-1]))


def bare_place(text: str) -> tuple[float, float] | None:
    """The place of a text that is nothing else, as grounding models answer; None for any other text."""
    if len(text) > 3 * _LONGEST:
        return None
    plain = _NAMED.sub("", text.translate(_WIDE)).strip()
    plain = (block[1] if (block := _FENCE.match(plain)) else plain).strip("`*").strip()
    if plain.startswith(("{", "[{")):
        numbers = _numbers_of_object(plain)
    else:
        numbers = numbers_of(_AXES.sub(r"(\1, \2)", _LABEL.sub("", plain)))
    two_points = _TWO_POINTS.search(plain) or (len(numbers) == _BOX and not _is_box(*numbers))
    return _place(numbers) if len(numbers) in {_POINT, _BOX} and not two_points else None


def _is_box(left: float, top: float, right: float, bottom: float) -> bool:
    return left <= right and top <= bottom


def _numbers_of_object(text: str) -> tuple[float, ...]:
    """The numbers of `{"point_2d": [x, y], "label": ...}` or `{"x": x, "y": y}`, also as the only one of a list."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return ()
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, Mapping) or "action" in value:
        return ()
    return numbers_of(next((value[name] for name in _PLACES if name in value), value))


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
        if min(extent) > 1.0 and max(x, y) <= 1.0 and not (x.is_integer() and y.is_integer()):
            raise InvalidAction(
                f"the point ({x:g}, {y:g}) is a share of the picture: x is from 0 to {across:g}, y from 0 to {down:g}",
                code="point_out_of_range",
                hint="For a model that answers with shares, set the action space's `coordinates` to `unit`.",
            )
        if sight.view is None:
            return on_grid(x / across, y / down, 1.0, sight)
        return in_picture(x / across * sight.view.width, y / down * sight.view.height, sight)

    return pixel
