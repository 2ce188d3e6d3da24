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


def differences(actual: Deck, gold: Deck, o: CompareSlidesOptions) -> Iterator[str]:
    """Descriptions of all examined differences between the result and the expected deck."""
    if o.number_of_slides and len(actual.slides) != len(gold.slides):
        yield f"{len(actual.slides)} slides, expected {len(gold.slides)}"
        return
    if not o.manner.strict:
        yield from sizes(actual, gold, o)
    for number, (slide, model) in enumerate(zip(actual.slides, gold.slides, strict=False), 1):
        yield from _slide(slide, model, number, o)


def _slide(actual: Slide, gold: Slide, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    where = f"slide {number}"
    yield from _background(actual, gold, where, o)
    if o.note and actual.notes.strip() != gold.notes.strip():
        yield f"{where}: notes {short(actual.notes.strip(), 60)}, expected {short(gold.notes.strip(), 60)}"
    if len(actual.shapes) != len(gold.shapes) and not o.manner.blind:
        yield f"{where}: {len(actual.shapes)} shapes, expected {len(gold.shapes)}"
        return
    if not o.manner.strict:
        yield from transitions(actual, gold, where)
    for index, (shape, model) in enumerate(zip(actual.shapes, gold.shapes, strict=False), 1):
        yield from _shape(shape, model, f"{where}, shape {index}", number, o)
    if o.bullets and _bullets_seen(actual, gold, o.manner):
        yield from bullets(actual, gold, where, o.manner)
    if o.manner.strict and not o.manner.waa:
        yield from _groups_of_upstream(actual, gold, where, o)


def _background(actual: Slide, gold: Slide, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    if not o.background_color:
        # Upstream reads the colours anyway, and crashes on those that it cannot read.
        if o.manner.strict and not o.manner.waa and _BROKEN in {_solid(actual), _solid(gold)}:
            yield f"{where}: {_BROKEN}"
        return
    if not o.manner.strict:
        yield from fills(actual.background, gold.background, f"{where}: background")
        result, expected = actual.own_background.rgb, gold.own_background.rgb
        if result is not None and expected is not None and result != expected:
            yield f"{where}: background #{result}, expected #{expected}"
    elif not o.manner.waa:
        result, expected = _solid(actual), _solid(gold)
        if result != expected or result == _BROKEN:
            yield f"{where}: background {result}, expected {expected}"


def _solid(slide: Slide) -> str | None:
    """The single colour that upstream reads: the slide's own, or else its master's."""

    def colour_of(fill: OwnFill) -> str | None:
        return (fill.rgb or _BROKEN) if fill.kind == "solid" else None

    return colour_of(slide.master_background if slide.own_background.kind == "none" else slide.own_background)


def _shape(actual: Shape, gold: Shape, where: str, number: int, o: CompareSlidesOptions) -> Iterator[str]:
    yield from geometry(where, actual, gold, number, o)
    if not o.manner.blind:
        yield from tables(actual, gold, where, o)
    yield from _content(actual, gold, TextRules(where, o))
    if not o.manner.strict:
        yield from _group(actual, gold, where, o)


def _content(actual: Shape, gold: Shape, rules: TextRules) -> Iterator[str]:
    """Text and look of one shape."""
    where, o = rules.place, rules.o
    if actual.paragraphs is not None and gold.paragraphs is not None:
        if o.text and (actual.text or "").strip() != (gold.text or "").strip():
            yield f"{where}: text {short(actual.text, 60)}, expected {short(gold.text, 60)}"
        if not rules.inherits or o.text or len(actual.paragraphs) == len(gold.paragraphs):
            yield from texts(actual.paragraphs, gold.paragraphs, rules)
    if o.manner.strict:
        return
    if o.text:
        yield from _lost_text(actual, gold, where)
        yield from links(actual, gold, where)
    if o.color_rgb:
        yield from fills(actual.fill, gold.fill, where)
    yield from pictures(actual, gold, where)


def _lost_text(actual: Shape, gold: Shape, where: str) -> Iterator[str]:
    if (actual.paragraphs is None) != (gold.paragraphs is None) and (actual.text or gold.text or "").strip():
        yield f"{where}: text {short(actual.text or '', 60)}, expected {short(gold.text or '', 60)}"


def _group(actual: Shape, gold: Shape, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    """Compares the members of groups, except positions: each writer has its own units inside a group."""
    result, expected = (list(members(shape)) for shape in (actual, gold))
    if len(result) != len(expected):
        yield f"{where}: a group of {len(result)} shapes, expected {len(expected)}"
        return
    for number, (shape, model) in enumerate(zip(result, expected, strict=True), 1):
        yield from _content(shape, model, TextRules(f"{where}, member {number}", o, inherits=True))


def members(shape: Shape) -> Iterator[Shape]:
    """The single shapes of a group, recursively; empty for other shapes."""
    for child in shape.children:
        if child.tag == "grpSp":
            yield from members(child)
        else:
            yield child


def _bullets_seen(actual: Slide, gold: Slide, m: CompareMode) -> bool:
    """Upstream compares bullets while it compares runs, and skips them if a run is empty."""
    if not m.strict:
        return True
    if (actual.has_empty_run or gold.has_empty_run) and not m.waa:
        return False
    pairs = zip(actual.shapes, gold.shapes, strict=False)
    return any(_run_pairs(a.paragraphs or (), b.paragraphs or (), m) for a, b in pairs)


def _run_pairs(actual: Sequence[SlideParagraph], gold: Sequence[SlideParagraph], m: CompareMode) -> bool:
    return any(
        a.runs and b.runs and (m.waa or a.text.strip() or b.text.strip()) for a, b in zip(actual, gold, strict=False)
    )


def _groups_of_upstream(actual: Slide, gold: Slide, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    """Upstream's second pass over all texts, including groups: their number, text and alignment."""
    result, expected = ([shape for shape in _all(slide) if shape.paragraphs is not None] for slide in (actual, gold))
    if len(result) != len(expected):
        yield f"{where}: {len(result)} shapes with text, expected {len(expected)}"
        return
    for shape, model in zip(result, expected, strict=True) if o.alignment else ():
        if o.text and (shape.text or "").strip() != (model.text or "").strip():
            yield f"{where}: text {short(shape.text, 60)}, expected {short(model.text, 60)}"
        if len(shape.paragraphs or ()) != len(model.paragraphs or ()):
            yield f"{where}: {len(shape.paragraphs or ())} paragraphs, expected {len(model.paragraphs or ())}"
        pairs = zip(shape.paragraphs or (), model.paragraphs or (), strict=False)
        if any((a.align or "l") != (b.align or "l") for a, b in pairs):
            yield f"{where}: alignment of {short(shape.text, 40)}"


def _all(slide: Slide) -> list[Shape]:
    return list(chain.from_iterable([shape, *members(shape)] for shape in slide.shapes))
