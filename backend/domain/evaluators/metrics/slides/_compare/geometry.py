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


def near(actual: int | None, gold: int | None, tolerance: float) -> bool:
    """Whether two lengths agree; only 0 is near 0 (upstream's rule)."""
    if actual == gold:
        return True
    if not actual or not gold:
        return False
    return abs(actual - gold) / max(abs(actual), abs(gold)) <= tolerance


def geometry(where: str, actual: Shape, gold: Shape, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    """Differences in position and size of a shape.

    Args:
        where: description of the shape, for the reasons.
        actual: the result's shape.
        gold: the expected shape.
        number: number of the slide, from 1.
        o: the options.
    """
    off = [side for side, a, b in zip(_SIDES, actual.box, gold.box, strict=True) if not near(a, b, o.tolerance)]
    reason = f"{where}: {' and '.join(off)} {_sides_text(actual, off)}, expected {_sides_text(gold, off)}"
    if off and _examined(off, actual, gold, number, o):
        yield reason
    yield from _moved_options(where, actual, gold, number, o)
    if o.image_size and actual.type == PICTURE == gold.type and {"width", "height"} & set(off):
        yield reason
    if o.modify_height and _free(actual, gold) and "height" in off:
        yield reason


def _examined(off: list[str], actual: Shape, gold: Shape, number: int, o: CompareSlidesOptions) -> bool:
    """Whether an active option examines this geometry."""
    textual, same_text = actual.text is not None and gold.text is not None, actual.text == gold.text
    pictures = actual.type == PICTURE == gold.type
    tables = number == 3 and actual.type == TABLE == gold.type  # noqa: PLR2004 - upstream's task has its table there.
    return (
        (o.title_bottom_position and not (textual and same_text))
        or (o.table_bottom_position and not tables)
        or (o.manner.waa and o.top_position and not (number == 2 and pictures))  # noqa: PLR2004 - upstream's slide.
        or (o.shape_for_shift_size and not (textual and same_text and actual.text == _SHIFTED_TEXT))
        or (o.shape and _by_shape(off, actual, gold, o))
        or (o.image_size and not pictures)
        or (o.modify_height and not _free(actual, gold))
    )


def _by_shape(off: list[str], actual: Shape, gold: Shape, o: CompareSlidesOptions) -> bool:
    """Whether to compare this shape: shapes without text move between editor versions; only WAA compares theirs."""
    blank = not (actual.text or "").strip() and not (gold.text or "").strip()
    if blank and not o.manner.waa:
        return False
    return not (o.shape_lenient_height and not o.manner.strict and actual.text is not None and off == ["height"])


def _free(actual: Shape, gold: Shape) -> bool:
    return (actual.text is None and gold.text is None) or (actual.type == FREEFORM == gold.type)


def _moved_options(where: str, actual: Shape, gold: Shape, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    """Options whose expected deck is the original: a shape must have moved in the right direction."""
    left, top = actual.box[0] or 0, actual.box[1] or 0
    old_left, old_top = gold.box[0] or 0, gold.box[1] or 0
    titled = actual.text is not None and actual.text == gold.text == _MOVED_TITLE
    third_table = number == 3 and actual.type == TABLE == gold.type  # noqa: PLR2004
    to_bottom = (o.title_bottom_position and titled) or (o.table_bottom_position and third_table)
    if to_bottom and (top <= old_top or top < _LOWER):
        yield f"{where}: its top is at {top}, expected below {max(old_top, _LOWER)}"
    second = number == 2  # noqa: PLR2004
    if (
        o.right_position
        and second
        and actual.text is None
        and gold.text is None
        and (left <= old_left or left < _RIGHT)
    ):
        yield f"{where}: its left is at {left}, expected right of {max(old_left, _RIGHT)}"
    if o.top_position and second and actual.type == PICTURE == gold.type and (top >= old_top or top > _UPPER):
        yield f"{where}: its top is at {top}, expected above {min(old_top, _UPPER)}"


def _sides_text(shape: Shape, sides: list[str]) -> str:
    return " and ".join(str(value) for side, value in zip(_SIDES, shape.box, strict=True) if side in sides)
