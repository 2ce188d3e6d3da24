"""`check_image_stretch_and_center`: the first slide's picture fills the slide."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.slides._compare.looks import same_look
from backend.domain.formats.slides import Deck, Shape
from backend.domain.formats.slides_reader import read_deck
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PICTURE = 13
_HALF_INCH = 457_200  # English Metric Units


@register(PluginKind.METRIC, "check_image_stretch_and_center")
def check_image_stretch_and_center(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the original's first picture is as large as the slide and centred, each within half an inch.

    Args:
        result: path of the agent's .pptx file.
        expected: path of the original .pptx, whose first slide has the picture.
        strict_upstream: recognise the picture by its bytes only.

    Raises:
        EvaluatorFailed: the original cannot be read or has no picture there.
    """
    original, reason = read_deck(expected, as_stored=strict_upstream)
    originals = _pictures(original)
    if original is None or not originals:
        raise EvaluatorFailed(
            f"original presentation: {reason or 'no picture on its first slide'}", code="invalid_reference"
        )
    deck, reason = read_deck(result, as_stored=strict_upstream)
    if deck is None:
        return verdict(met=False, reason=reason)
    copies = [shape for shape in _pictures(deck) if _same(shape, originals[0], by_bytes=True)]
    if not copies and not strict_upstream:
        copies = [shape for shape in _pictures(deck) if _same(shape, originals[0], by_bytes=False)]
    if not copies:
        return verdict(met=False, reason="the picture is no longer on the first slide")
    # Of two copies, the last one is on top and visible.
    left, top, width, height = (side or 0 for side in copies[-1].box)
    off = {
        "width": abs(width - original.width),
        "height": abs(height - original.height),
        "left": abs(left - (original.width - width) / 2),
        "top": abs(top - (original.height - height) / 2),
    }
    far = [f"{side} differs by {value / 360_000:.1f} cm" for side, value in off.items() if value > _HALF_INCH]
    return verdict(not far, " and ".join(far) or "the picture fills the slide")


def _pictures(deck: Deck | None) -> list[Shape]:
    if deck is None or not deck.slides:
        return []
    return [shape for shape in deck.slides[0].shapes if shape.type == _PICTURE and shape.picture is not None]


def _same(first: Shape, second: Shape, *, by_bytes: bool) -> bool:
    if first.picture is None or second.picture is None:
        return False
    return (
        first.picture.data == second.picture.data
        if by_bytes
        else same_look(first.picture, second.picture, untold=False)
    )
