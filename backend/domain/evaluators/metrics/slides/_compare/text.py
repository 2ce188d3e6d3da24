"""Compares paragraphs, runs and bullets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.slides._compare.options import CompareMode, CompareSlidesOptions
from backend.domain.formats.slides import Bullet, Slide, SlideParagraph, TextRun
from backend.domain.formats.slides_text import far

_FIRST_LEVELS = {0, 1}
_NO_BULLET = "No Bullet"


@dataclass(frozen=True, slots=True)
class TextRules:
    """How to compare a text, and its place.

    Attributes:
        place: description of the shape or cell, for the reasons.
        inherits: treat a run without properties like one that repeats its inherited properties: writers do either (in
            groups).
        in_table: upstream compares less of a cell.
    """

    place: str
    o: CompareSlidesOptions
    inherits: bool = False
    in_table: bool = False

    @property
    def m(self) -> CompareMode:
        """The suite whose verdict is reproduced."""
        return self.o.manner


def texts(one: Sequence[SlideParagraph], other: Sequence[SlideParagraph], rules: TextRules) -> Iterator[str]:
    """Differences of two texts."""
    if len(one) != len(other) and not rules.m.blind:
        yield f"{rules.place}: {len(one)} paragraphs, expected {len(other)}"
        return
    for number, (mine, expected) in enumerate(zip(one, other, strict=False), 1):
        yield from _paragraph(mine, expected, rules, f"{rules.place}, paragraph {number}")


def _paragraph(one: SlideParagraph, other: SlideParagraph, rules: TextRules, where: str) -> Iterator[str]:
    o, m = rules.o, rules.m
    if not (rules.in_table and m.strict):
        if o.text and one.text != other.text:
            yield f"{where}: text {short(one.text, 60)}, expected {short(other.text, 60)}"
        if not rules.in_table:
            yield from _placing(one, other, rules, where)
        if o.bullets and not m.strict:
            yield from _bullet_colour(one, other, where)
    mine, expected = _runs(one, other, m)
    if len(mine) != len(expected) and o.run_count and not m.waa and not rules.inherits:
        yield f"{where}: {len(mine)} pieces of formatting, expected {len(expected)}"
        return
    for run, model in zip(mine, expected, strict=False):
        yield from (f"{where}, {short(run.text, 30)}: {words}" for words in _run(run, model, rules))


def _placing(one: SlideParagraph, other: SlideParagraph, rules: TextRules, where: str) -> Iterator[str]:
    if rules.o.alignment and _align(one, rules.m) != _align(other, rules.m):
        yield f"{where}: alignment {one.align or 'l'}, expected {other.align or 'l'}"
    # Levels 0 and 1 count as equal: an indented line may be written as either.
    first = {one.level, other.level} <= _FIRST_LEVELS and not rules.m.waa
    if rules.o.indent and one.level != other.level and not first:
        yield f"{where}: level {one.level}, expected {other.level}"


def _align(paragraph: SlideParagraph, m: CompareMode) -> str | None:
    return paragraph.align if m.waa else paragraph.align or "l"


def _runs(one: SlideParagraph, other: SlideParagraph, m: CompareMode) -> tuple[Sequence[TextRun], Sequence[TextRun]]:
    """The runs to compare; an empty paragraph may have one empty run or none."""
    if m.waa or one.text.strip() or other.text.strip():
        return (one.runs, other.runs) if m.strict else (_merge_runs(one.runs), _merge_runs(other.runs))
    return [run for run in one.runs if run.text.strip()], [run for run in other.runs if run.text.strip()]


def _merge_runs(runs: Sequence[TextRun]) -> list[TextRun]:
    """Merges adjacent runs of equal looks: PowerPoint splits them for spelling and languages, and leaves empty ones."""
    groups = [list(group) for _, group in groupby((run for run in runs if run.text), key=lambda run: run.look)]
    return [replace(group[0], text="".join(run.text for run in group)) for group in groups]


def _run(one: TextRun, other: TextRun, rules: TextRules) -> Iterator[str]:
    o, m = rules.o, rules.m
    always = rules.in_table and m.strict  # Upstream's options do not apply to tables.
    if not always:
        if o.font_name and _differ(one.font, other.font, rules):
            yield f"font {short(one.font)}, expected {short(other.font)}"
        if o.font_size and _differ(one.size, other.size, rules):
            yield f"size {_points(one.size)}, expected {_points(other.size)}"
        if o.strike_through and one.strike != other.strike:
            yield f"strike-through {short(one.strike)}, expected {short(other.strike)}"
    if (o.font_bold or always) and _flags_differ(one.bold, other.bold, m):
        yield f"bold {short(one.bold)}, expected {short(other.bold)}"
    if (o.font_italic or always) and _flags_differ(one.italic, other.italic, m):
        yield f"italic {short(one.italic)}, expected {short(other.italic)}"
    if (o.font_underline or always) and _underlines_differ(one.underline, other.underline, m):
        yield f"underline {one.underline or 'none'}, expected {other.underline or 'none'}"
    if o.color_rgb and _colours_differ(one, other, m):
        yield f"colour {_colour(one)}, expected {_colour(other)}"


def _differ(one: object, other: object, rules: TextRules) -> bool:
    """Whether properties differ; cells and groups inherit from styles that each writer stores elsewhere."""
    if (rules.inherits or rules.in_table) and (one is None or other is None):
        return False
    return one != other


def _flags_differ(one: bool | None, other: bool | None, m: CompareMode) -> bool:  # noqa: FBT001 - three values.
    return one != other if m.waa else bool(one) != bool(other)


def _underlines_differ(one: str | None, other: str | None, m: CompareMode) -> bool:
    if m.waa:
        return one != other
    if m.strict and (one is None or other is None):
        return "sng" in {one, other}  # A new double line is ignored.
    return (one or "none") != (other or "none")


def _colours_differ(one: TextRun, other: TextRun, m: CompareMode) -> bool:
    if one.rgb is not None and other.rgb is not None:
        return one.rgb != other.rgb
    if m.strict or not (one.own_colour or other.own_colour):
        return False
    if one.linked or other.linked or not one.text.strip() or one.colour is None or other.colour is None:
        return False
    return far(one.colour, other.colour)


def _bullet_colour(one: SlideParagraph, other: SlideParagraph, where: str) -> Iterator[str]:
    mine, expected = one.bullet_colour, other.bullet_colour
    if (mine is None) != (expected is None) or (mine is not None and expected is not None and far(mine, expected)):
        yield f"{where}: bullet colour {mine or 'as usual'}, expected {expected or 'as usual'}"


def bullets(one: Slide, other: Slide, where: str, m: CompareMode) -> Iterator[str]:
    """Bullets, levels and texts of all paragraphs of a slide, including tables and groups."""
    mine, expected = ([bullet for bullet in slide.bullets if m.waa or bullet.text.strip()] for slide in (one, other))
    if len(mine) != len(expected):
        yield f"{where}: {len(mine)} paragraphs with text, expected {len(expected)}"
        return
    for bullet, model in zip(mine, expected, strict=True):
        sign, model_sign = _signs(bullet, m), _signs(model, m)
        if sign != model_sign:
            words = f"bullet {short(sign)}, expected {short(model_sign)} for {short(model.text, 30)}"
            yield f"{where}, {short(bullet.text, 30)}: {words}"


def _signs(bullet: Bullet, m: CompareMode) -> tuple[str | None, ...]:
    """Properties that must be equal; the level matters only with a bullet."""
    if m.waa:
        return bullet.level, bullet.char, bullet.text, bullet.colour
    level = (bullet.level or "0") if bullet.char != _NO_BULLET else ""
    return bullet.char, "" if m.strict else bullet.number, level, bullet.text


def _points(size: int | None) -> str:
    return "inherited" if size is None else f"{size / 100:g} pt"


def _colour(run: TextRun) -> str:
    return run.rgb or ("inherited" if run.colour is None else "#{:02X}{:02X}{:02X}".format(*run.colour))
