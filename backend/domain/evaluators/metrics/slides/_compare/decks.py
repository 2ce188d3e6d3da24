"""Compares two decks slide by slide."""

from collections.abc import Iterator, Sequence
from itertools import chain

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.slides._compare.geometry import geometry
from backend.domain.evaluators.metrics.slides._compare.looks import fills, links, pictures, sizes, transitions
from backend.domain.evaluators.metrics.slides._compare.options import CompareMode, CompareSlidesOptions
from backend.domain.evaluators.metrics.slides._compare.tables import tables
from backend.domain.evaluators.metrics.slides._compare.text import TextRules, bullets, texts
from backend.domain.formats.slides import Deck, OwnFill, Shape, Slide, SlideParagraph

_BROKEN = "upstream fails on a theme colour"


def differences(one: Deck, other: Deck, o: CompareSlidesOptions) -> Iterator[str]:
    """Descriptions of all examined differences between the result and the expected deck."""
    if o.number_of_slides and len(one.slides) != len(other.slides):
        yield f"{len(one.slides)} slides, expected {len(other.slides)}"
        return
    if not o.manner.strict:
        yield from sizes(one, other, o)
    for number, (slide, model) in enumerate(zip(one.slides, other.slides, strict=False), 1):
        yield from _slide(slide, model, number, o)


def _slide(one: Slide, other: Slide, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    where = f"slide {number}"
    yield from _background(one, other, where, o)
    if o.note and one.notes.strip() != other.notes.strip():
        yield f"{where}: notes {short(one.notes.strip(), 60)}, expected {short(other.notes.strip(), 60)}"
    if len(one.shapes) != len(other.shapes) and not o.manner.blind:
        yield f"{where}: {len(one.shapes)} shapes, expected {len(other.shapes)}"
        return
    if not o.manner.strict:
        yield from transitions(one, other, where)
    for index, (shape, model) in enumerate(zip(one.shapes, other.shapes, strict=False), 1):
        yield from _shape(shape, model, f"{where}, shape {index}", number, o)
    if o.bullets and _bullets_seen(one, other, o.manner):
        yield from bullets(one, other, where, o.manner)
    if o.manner.strict and not o.manner.waa:
        yield from _groups_of_upstream(one, other, where, o)


def _background(one: Slide, other: Slide, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    if not o.background_color:
        # Upstream reads the colours anyway, and crashes on those that it cannot read.
        if o.manner.strict and not o.manner.waa and _BROKEN in {_solid(one), _solid(other)}:
            yield f"{where}: {_BROKEN}"
        return
    if not o.manner.strict:
        yield from fills(one.background, other.background, f"{where}: background")
        mine, expected = one.own_background.rgb, other.own_background.rgb
        if mine is not None and expected is not None and mine != expected:
            yield f"{where}: background #{mine}, expected #{expected}"
    elif not o.manner.waa:
        mine, expected = _solid(one), _solid(other)
        if mine != expected or mine == _BROKEN:
            yield f"{where}: background {mine}, expected {expected}"


def _solid(slide: Slide) -> str | None:
    """The single colour that upstream reads: the slide's own, or else its master's."""

    def colour_of(fill: OwnFill) -> str | None:
        return (fill.rgb or _BROKEN) if fill.kind == "solid" else None

    return colour_of(slide.master_background if slide.own_background.kind == "none" else slide.own_background)


def _shape(one: Shape, other: Shape, where: str, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    yield from geometry(where, one, other, number, o)
    if not o.manner.blind:
        yield from tables(one, other, where, o)
    yield from _content(one, other, TextRules(where, o))
    if not o.manner.strict:
        yield from _group(one, other, where, o)


def _content(one: Shape, other: Shape, rules: TextRules) -> Iterator[str]:
    """Text and look of one shape."""
    where, o = rules.place, rules.o
    if one.paragraphs is not None and other.paragraphs is not None:
        if o.text and (one.text or "").strip() != (other.text or "").strip():
            yield f"{where}: text {short(one.text, 60)}, expected {short(other.text, 60)}"
        if not rules.inherits or o.text or len(one.paragraphs) == len(other.paragraphs):
            yield from texts(one.paragraphs, other.paragraphs, rules)
    if o.manner.strict:
        return
    if o.text:
        yield from _lost_text(one, other, where)
        yield from links(one, other, where)
    if o.color_rgb:
        yield from fills(one.fill, other.fill, where)
    yield from pictures(one, other, where)


def _lost_text(one: Shape, other: Shape, where: str) -> Iterator[str]:
    if (one.paragraphs is None) != (other.paragraphs is None) and (one.text or other.text or "").strip():
        yield f"{where}: text {short(one.text or '', 60)}, expected {short(other.text or '', 60)}"


def _group(one: Shape, other: Shape, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    """Compares the members of groups, except positions: each writer has its own units inside a group."""
    mine, expected = (list(members(shape)) for shape in (one, other))
    if len(mine) != len(expected):
        yield f"{where}: a group of {len(mine)} shapes, expected {len(expected)}"
        return
    for number, (shape, model) in enumerate(zip(mine, expected, strict=True), 1):
        yield from _content(shape, model, TextRules(f"{where}, member {number}", o, inherits=True))


def members(shape: Shape) -> Iterator[Shape]:
    """The single shapes of a group, recursively; empty for other shapes."""
    for child in shape.children:
        if child.tag == "grpSp":
            yield from members(child)
        else:
            yield child


def _bullets_seen(one: Slide, other: Slide, m: CompareMode) -> bool:
    """Upstream compares bullets while it compares runs, and skips them if a run is empty."""
    if not m.strict:
        return True
    if (one.has_empty_run or other.has_empty_run) and not m.waa:
        return False
    pairs = zip(one.shapes, other.shapes, strict=False)
    return any(_run_pairs(a.paragraphs or (), b.paragraphs or (), m) for a, b in pairs)


def _run_pairs(one: Sequence[SlideParagraph], other: Sequence[SlideParagraph], m: CompareMode) -> bool:
    return any(
        a.runs and b.runs and (m.waa or a.text.strip() or b.text.strip()) for a, b in zip(one, other, strict=False)
    )


def _groups_of_upstream(one: Slide, other: Slide, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    """Upstream's second pass over all texts, including groups: their number, text and alignment."""
    mine, expected = ([shape for shape in _all(slide) if shape.paragraphs is not None] for slide in (one, other))
    if len(mine) != len(expected):
        yield f"{where}: {len(mine)} shapes with text, expected {len(expected)}"
        return
    for shape, model in zip(mine, expected, strict=True) if o.alignment else ():
        if o.text and (shape.text or "").strip() != (model.text or "").strip():
            yield f"{where}: text {short(shape.text, 60)}, expected {short(model.text, 60)}"
        if len(shape.paragraphs or ()) != len(model.paragraphs or ()):
            yield f"{where}: {len(shape.paragraphs or ())} paragraphs, expected {len(model.paragraphs or ())}"
        pairs = zip(shape.paragraphs or (), model.paragraphs or (), strict=False)
        if any((a.align or "l") != (b.align or "l") for a, b in pairs):
            yield f"{where}: alignment of {short(shape.text, 40)}"


def _all(slide: Slide) -> list[Shape]:
    return list(chain.from_iterable([shape, *members(shape)] for shape in slide.shapes))
