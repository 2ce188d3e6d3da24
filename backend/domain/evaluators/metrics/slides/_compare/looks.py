"""Aspects that upstream does not compare: pictures, transitions, fills, links, slide size."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics.slides._compare.geometry import near
from backend.domain.evaluators.metrics.slides._compare.options import CompareSlidesOptions
from backend.domain.formats.pictures import decode_picture
from backend.domain.formats.slides import Deck, Shape, ShapeFill, Slide, SlidePicture
from backend.domain.formats.slides_text import far

if TYPE_CHECKING:
    import numpy as np

_THUMB = 32
_ALIKE = 10.0  # mean difference per channel of thumbnails; JPEG at low quality stays below 4
_STABLE = frozenset({"none", "solid", "gradient"})
_SIZE_TOLERANCE = 0.005
_KNOWN_TRANSITIONS = frozenset(
    {"blinds", "checker", "circle", "comb", "cover", "diamond", "dissolve", "fade", "newsflash", "plus", "pull", "push"}
    | {"random", "randomBar", "split", "wedge", "wheel", "wipe"}
)
"""Transitions that LibreOffice writes as it reads them; it drops or replaces others."""


def sizes(actual: Deck, gold: Deck, o: CompareSlidesOptions) -> Iterator[str]:
    """The slides' width and height (with `examine_shape`)."""
    same = near(actual.width, gold.width, _SIZE_TOLERANCE) and near(actual.height, gold.height, _SIZE_TOLERANCE)
    if o.shape and not same:
        yield f"slides of {actual.width}x{actual.height}, expected {gold.width}x{gold.height}"


def transitions(actual: Slide, gold: Slide, where: str) -> Iterator[str]:
    """Whether a slide has another transition. A newer effect may have become its fallback on saving."""
    result, expected = set(actual.transitions), set(gold.transitions)
    comparable = all(not names or names & _KNOWN_TRANSITIONS for names in (result, expected))
    if comparable and result != expected and not result & expected:
        yield f"{where}: transition {_names(actual)}, expected {_names(gold)}"


def _names(slide: Slide) -> str:
    return " or ".join(dict.fromkeys(slide.transitions)) or "none"


def fills(actual: ShapeFill, gold: ShapeFill, where: str) -> Iterator[str]:
    """Whether two areas clearly differ in fill; unknown fills are ignored."""
    if {actual.kind, gold.kind} <= _STABLE and (actual.kind != gold.kind or _clearly_differs(actual, gold)):
        yield f"{where}: filled {_words(actual)}, expected {_words(gold)}"


def _clearly_differs(actual: ShapeFill, gold: ShapeFill) -> bool:
    """Whether every colour of one is far from every colour of the other. Writers drop stops of gradients."""
    if not actual.colours or not gold.colours:
        return False
    return all(far(a, b) for a in actual.colours for b in gold.colours)


def _words(fill: ShapeFill) -> str:
    return " ".join([fill.kind, *("#{:02X}{:02X}{:02X}".format(*colour) for colour in fill.colours)])


def links(actual: Shape, gold: Shape, where: str) -> Iterator[str]:
    """Web addresses of a shape's text (with `examine_text`)."""
    for address in sorted(actual.links - gold.links):
        yield f"{where}: unexpected link to {address[:80]!r}"
    for address in sorted(gold.links - actual.links):
        yield f"{where}: no link to {address[:80]!r}"


def pictures(actual: Shape, gold: Shape, where: str) -> Iterator[str]:
    """Whether the same picture is shown; programs may recompress it."""
    if actual.picture is not None and gold.picture is not None:
        if not same_look(actual.picture, gold.picture):
            yield f"{where}: a different picture"
    elif (actual.tag == "pic") != (gold.tag == "pic"):
        other = gold if actual.tag == "pic" else actual
        if other.tag == "sp" and other.fill.kind in _STABLE:
            yield f"{where}: {'a picture' if actual.tag == 'pic' else 'no picture'}, expected the opposite"


def same_look(actual: SlidePicture, gold: SlidePicture, *, untold: bool = True) -> bool:
    """Equal bytes or nearly equal thumbnails; `untold` if one cannot be decoded (vector formats)."""
    if actual.data == gold.data:
        return True
    first, second = _thumb(actual), _thumb(gold)
    return untold if first is None or second is None else float(abs(first - second).mean()) < _ALIKE


def _thumb(picture: SlidePicture) -> "np.ndarray | None":
    import numpy as np
    from PIL import Image

    decoded, _ = decode_picture(io.BytesIO(picture.data))
    if decoded is None:
        return None
    left, top, right, bottom = (max(0.0, side) for side in picture.crop)
    width, height = decoded.size
    box = (width * left, height * top, width * (1 - right), height * (1 - bottom))
    rendered = decoded.convert("RGBA")
    paper = Image.new("RGBA", rendered.size, (255, 255, 255, 255))
    paper.alpha_composite(rendered)
    whole = box if box[2] > box[0] and box[3] > box[1] else None
    small = paper.convert("RGB").resize((_THUMB, _THUMB), Image.Resampling.BOX, box=whole)
    return np.asarray(small, dtype=np.float32)
