"""Maps a model's coordinates to screen pixels."""

import math
from collections.abc import Callable
from typing import Literal

from pydantic import Field

from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Mark
from backend.domain.ports.agent import CoordinateFrame

PointMap = Callable[[float, float], tuple[int, int]]
"""Screen pixel of a model's point. Raises InvalidAction."""

_FAR = 1_000_000


class Coordinates(Parameters):
    """Options of every action space that is written as text."""

    coordinates: Literal["screen", "picture", "unit"] = Field(
        default="screen",
        description=(
            "What coordinates refer to: pixels of the screen, pixels of the picture shown, or 0 to 1 over "
            "the screen's width and height."
        ),
    )


def place(coordinates: str, sight: CoordinateFrame) -> PointMap:
    """The function that maps points to the screen under this option."""
    if coordinates == "unit":
        return lambda x, y: on_grid(x, y, 1.0, sight)
    if coordinates == "picture":
        return lambda x, y: in_picture(x, y, sight)
    return pixel


def pixel(x: float, y: float) -> tuple[int, int]:
    """The pixel that contains a point. The loop checks whether it lies on the screen.

    Raises:
        InvalidAction: the numbers are far beyond any screen.
    """
    if not (abs(x) < _FAR and abs(y) < _FAR):
        raise InvalidAction(f"the point ({x:g}, {y:g}) is not on any screen", code="point_out_of_range")
    return math.floor(x), math.floor(y)


def in_picture(x: float, y: float, sight: CoordinateFrame) -> tuple[int, int]:
    """The screen pixel for a point of the picture that the model was shown."""
    point = pixel(x, y)
    return sight.view.to_screen(x, y) if sight.view else point


def on_grid(x: float, y: float, size: float, sight: CoordinateFrame) -> tuple[int, int]:
    """The screen pixel for a position on a grid over the screen; both edges are included.

    Args:
        x: 0 to `size`.
        y: likewise.
        size: the grid's extent along each axis.
        sight: the picture that the model was shown, with its screen.

    Raises:
        InvalidAction: a number lies outside 0 to `size`.
    """
    if not (0 <= x <= size and 0 <= y <= size):
        raise InvalidAction(f"expected coordinates from 0 to {size:g}, got ({x:g}, {y:g})", code="point_out_of_range")
    width, height = sight.screen.width, sight.screen.height
    # 1e-9 keeps a fraction that was computed from a pixel out of the pixel before it.
    across, down = math.floor(x / size * width + 1e-9), math.floor(y / size * height + 1e-9)
    return min(across, width - 1), min(down, height - 1)


def explain(coordinates: str, sight: CoordinateFrame) -> str:
    """The sentence of a prompt that explains the coordinates."""
    if coordinates == "unit":
        return "Coordinates are from 0 to 1 of the screen's width and height; the top left corner is (0, 0)."
    if coordinates == "picture" and sight.view:
        size = f"{sight.view.width}x{sight.view.height}"
        return f"Coordinates are pixels of the picture that you are shown, {size}, from its top left corner."
    return f"Coordinates are pixels of a screen of {sight.screen.width}x{sight.screen.height}, from the top left."


def mark_of(number: int, sight: CoordinateFrame, path: str = "") -> Mark:
    """The numbered element.

    Raises:
        InvalidAction: no element has that number.
    """
    for mark in sight.marks:
        if mark.id == number:
            return mark
    numbers = f"There are {len(sight.marks)} elements." if sight.marks else "No element is numbered in this picture."
    raise InvalidAction(f"there is no element {number}", code="unknown_element", path=path, hint=numbers)
