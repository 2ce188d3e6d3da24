"""Position and size of shapes."""

from collections.abc import Iterator

from backend.domain.evaluators.metrics.slides._compare.options import CompareSlidesOptions
from backend.domain.formats.slides import Shape

PICTURE, TABLE, FREEFORM = 13, 19, 5
_LOWER = 3_600_000  # English Metric Units: 10 cm from the top, upstream's idea of the bottom.
_RIGHT = 4_320_000
_UPPER = 1_980_000
_MOVED_TITLE = "Product Comparison"
_SHIFTED_TEXT = "Elaborate on what you want to discuss."
_SIDES = ("left", "top", "width", "height")


def near(one: int | None, other: int | None, tolerance: float) -> bool:
    """Whether two lengths agree; only 0 is near 0 (upstream's rule)."""
    if one == other:
        return True
    if not one or not other:
        return False
    return abs(one - other) / max(abs(one), abs(other)) <= tolerance


def geometry(where: str, one: Shape, other: Shape, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    """Differences in position and size of a shape.

    Args:
        where: description of the shape, for the reasons.
        one: the result's shape.
        other: the expected shape.
        number: number of the slide, from 1.
        o: the options.
    """
    off = [side for side, a, b in zip(_SIDES, one.box, other.box, strict=True) if not near(a, b, o.tolerance)]
    words = f"{where}: {' and '.join(off)} {_sides_text(one, off)}, expected {_sides_text(other, off)}"
    if off and _examined(off, one, other, number, o):
        yield words
    yield from _moved_options(where, one, other, number, o)
    if o.image_size and one.type == PICTURE == other.type and {"width", "height"} & set(off):
        yield words
    if o.modify_height and _free(one, other) and "height" in off:
        yield words


def _examined(off: list[str], one: Shape, other: Shape, number: int, o: CompareSlidesOptions) -> bool:
    """Whether an active option examines this geometry."""
    textual, same_text = one.text is not None and other.text is not None, one.text == other.text
    pictures = one.type == PICTURE == other.type
    tables = number == 3 and one.type == TABLE == other.type  # noqa: PLR2004 - upstream's task has its table there.
    return (
        (o.title_bottom_position and not (textual and same_text))
        or (o.table_bottom_position and not tables)
        or (o.manner.waa and o.top_position and not (number == 2 and pictures))  # noqa: PLR2004 - upstream's slide.
        or (o.shape_for_shift_size and not (textual and same_text and one.text == _SHIFTED_TEXT))
        or (o.shape and _by_shape(off, one, other, o))
        or (o.image_size and not pictures)
        or (o.modify_height and not _free(one, other))
    )


def _by_shape(off: list[str], one: Shape, other: Shape, o: CompareSlidesOptions) -> bool:
    """Whether to compare this shape: shapes without text move between editor versions; only WAA compares theirs."""
    blank = not (one.text or "").strip() and not (other.text or "").strip()
    if blank and not o.manner.waa:
        return False
    return not (o.shape_lenient_height and not o.manner.strict and one.text is not None and off == ["height"])


def _free(one: Shape, other: Shape) -> bool:
    return (one.text is None and other.text is None) or (one.type == FREEFORM == other.type)


def _moved_options(where: str, one: Shape, other: Shape, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    """Options whose expected deck is the original: a shape must have moved in the right direction."""
    left, top = one.box[0] or 0, one.box[1] or 0
    old_left, old_top = other.box[0] or 0, other.box[1] or 0
    titled = one.text is not None and one.text == other.text == _MOVED_TITLE
    third_table = number == 3 and one.type == TABLE == other.type  # noqa: PLR2004
    to_bottom = (o.title_bottom_position and titled) or (o.table_bottom_position and third_table)
    if to_bottom and (top <= old_top or top < _LOWER):
        yield f"{where}: its top is at {top}, expected below {max(old_top, _LOWER)}"
    second = number == 2  # noqa: PLR2004
    if o.right_position and second and one.text is None and other.text is None and (left <= old_left or left < _RIGHT):
        yield f"{where}: its left is at {left}, expected right of {max(old_left, _RIGHT)}"
    if o.top_position and second and one.type == PICTURE == other.type and (top >= old_top or top > _UPPER):
        yield f"{where}: its top is at {top}, expected above {min(old_top, _UPPER)}"


def _sides_text(shape: Shape, sides: list[str]) -> str:
    return " and ".join(str(value) for side, value in zip(_SIDES, shape.box, strict=True) if side in sides)
