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


def texts(actual: Sequence[SlideParagraph], gold: Sequence[SlideParagraph], rules: TextRules) -> Iterator[str]:
    """Differences of two texts."""
    if len(actual) != len(gold) and not rules.m.blind:
        yield f"{rules.place}: {len(actual)} paragraphs, expected {len(gold)}"
        return
    for number, (result, expected) in enumerate(zip(actual, gold, strict=False), 1):
        yield from _paragraph(result, expected, rules, f"{rules.place}, paragraph {number}")


def _paragraph(actual: SlideParagraph, gold: SlideParagraph, rules: TextRules, where: str) -> Iterator[str]:
    o, m = rules.o, rules.m
    if not (rules.in_table and m.strict):
        if o.text and actual.text != gold.text:
            yield f"{where}: text {short(actual.text, 60)}, expected {short(gold.text, 60)}"
        if not rules.in_table:
            yield from _placing(actual, gold, rules, where)
        if o.bullets and not m.strict:
            yield from _bullet_colour(actual, gold, where)
    result, expected = _runs(actual, gold, m)
    if len(result) != len(expected) and o.run_count and not m.waa and not rules.inherits:
        yield f"{where}: {len(result)} pieces of formatting, expected {len(expected)}"
        return
    for run, model in zip(result, expected, strict=False):
        yield from (f"{where}, {short(run.text, 30)}: {words}" for words in _run(run, model, rules))


def _placing(actual: SlideParagraph, gold: SlideParagraph, rules: TextRules, where: str) -> Iterator[str]:
    same_look = actual.shown_align == gold.shown_align and not (rules.m.waa or rules.m.strict)
    if rules.o.alignment and _align(actual, rules.m) != _align(gold, rules.m) and not same_look:
        yield f"{where}: alignment {actual.align or 'l'}, expected {gold.align or 'l'}"
    # Levels 0 and 1 count as equal: an indented line may be written as either.
    first = {actual.level, gold.level} <= _FIRST_LEVELS and not rules.m.waa
    if rules.o.indent and actual.level != gold.level and not first:
        yield f"{where}: level {actual.level}, expected {gold.level}"


def _align(paragraph: SlideParagraph, m: CompareMode) -> str | None:
    return paragraph.align if m.waa else paragraph.align or "l"


def _runs(actual: SlideParagraph, gold: SlideParagraph, m: CompareMode) -> tuple[Sequence[TextRun], Sequence[TextRun]]:
    """The runs to compare; an empty paragraph may have one empty run or none."""
    if m.waa or actual.text.strip() or gold.text.strip():
        return (actual.runs, gold.runs) if m.strict else (_merge_runs(actual.runs, m), _merge_runs(gold.runs, m))
    return [run for run in actual.runs if run.text.strip()], [run for run in gold.runs if run.text.strip()]


def _merge_runs(runs: Sequence[TextRun], m: CompareMode) -> list[TextRun]:
    """Merges adjacent runs of equal looks: PowerPoint splits them for spelling and languages, and leaves empty ones."""
    visible = [run for run in runs if run.text]
    groups = [list(group) for _, group in groupby(visible, key=lambda run: run.look if m.waa else run.shown_look)]
    return [replace(group[0], text="".join(run.text for run in group)) for group in groups]


def _run(actual: TextRun, gold: TextRun, rules: TextRules) -> Iterator[str]:
    o, m = rules.o, rules.m
    always = rules.in_table and m.strict  # Upstream's options do not apply to tables.
    by_look = not (m.waa or m.strict)  # A run that repeats what it inherits looks like one that inherits it.
    if by_look:
        actual, gold = _with_inherited_marks(actual), _with_inherited_marks(gold)
    if not always:
        same_font = by_look and None is not actual.shown_font and _same_name(actual.shown_font, gold.shown_font)
        if o.font_name and _differ(actual.font, gold.font, rules) and not same_font:
            yield f"font {short(actual.font)}, expected {short(gold.font)}"
        same_size = by_look and None is not actual.shown_size == gold.shown_size
        if o.font_size and _differ(actual.size, gold.size, rules) and not same_size:
            yield f"size {_points(actual.size)}, expected {_points(gold.size)}"
        if o.strike_through and actual.strike != gold.strike:
            yield f"strike-through {short(actual.strike)}, expected {short(gold.strike)}"
    if (o.font_bold or always) and _flags_differ(actual.bold, gold.bold, m):
        yield f"bold {short(actual.bold)}, expected {short(gold.bold)}"
    if (o.font_italic or always) and _flags_differ(actual.italic, gold.italic, m):
        yield f"italic {short(actual.italic)}, expected {short(gold.italic)}"
    if (o.font_underline or always) and _underlines_differ(actual.underline, gold.underline, m):
        yield f"underline {actual.underline or 'none'}, expected {gold.underline or 'none'}"
    if o.color_rgb and _colours_differ(actual, gold, m):
        yield f"colour {_colour(actual)}, expected {_colour(gold)}"


def _same_name(actual: str, gold: str | None) -> bool:
    """Whether two names of fonts are the same, in whatever letter case."""
    return gold is not None and actual.casefold() == gold.casefold()


def _with_inherited_marks(run: TextRun) -> TextRun:
    return replace(
        run, bold=run.shown_bold, italic=run.shown_italic, underline=run.shown_underline, strike=run.shown_strike
    )


def _differ(actual: object, gold: object, rules: TextRules) -> bool:
    """Whether properties differ; cells and groups inherit from styles that each writer stores elsewhere."""
    if (rules.inherits or rules.in_table) and (actual is None or gold is None):
        return False
    return actual != gold


def _flags_differ(actual: bool | None, gold: bool | None, m: CompareMode) -> bool:  # noqa: FBT001 - three values.
    return actual != gold if m.waa else bool(actual) != bool(gold)


def _underlines_differ(actual: str | None, gold: str | None, m: CompareMode) -> bool:
    if m.waa:
        return actual != gold
    if m.strict and (actual is None or gold is None):
        return "sng" in {actual, gold}  # A new double line is ignored.
    return (actual or "none") != (gold or "none")


def _colours_differ(actual: TextRun, gold: TextRun, m: CompareMode) -> bool:
    if actual.rgb is not None and gold.rgb is not None:
        return actual.rgb != gold.rgb
    if m.strict or not (actual.own_colour or gold.own_colour):
        return False
    if actual.linked or gold.linked or not actual.text.strip() or actual.colour is None or gold.colour is None:
        return False
    return far(actual.colour, gold.colour)


def _bullet_colour(actual: SlideParagraph, gold: SlideParagraph, where: str) -> Iterator[str]:
    result, expected = actual.bullet_colour, gold.bullet_colour
    if (result is None) != (expected is None) or (
        result is not None and expected is not None and far(result, expected)
    ):
        yield f"{where}: bullet colour {result or 'as usual'}, expected {expected or 'as usual'}"


def bullets(actual: Slide, gold: Slide, where: str, m: CompareMode) -> Iterator[str]:
    """Bullets, levels and texts of all paragraphs of a slide, including tables and groups."""
    result, expected = (
        [bullet for bullet in slide.bullets if m.waa or bullet.text.strip()] for slide in (actual, gold)
    )
    if len(result) != len(expected):
        yield f"{where}: {len(result)} paragraphs with text, expected {len(expected)}"
        return
    for bullet, model in zip(result, expected, strict=True):
        sign, model_sign = _signs(bullet, m), _signs(model, m)
        if sign != model_sign:
            reason = f"bullet {short(sign)}, expected {short(model_sign)} for {short(model.text, 30)}"
            yield f"{where}, {short(bullet.text, 30)}: {reason}"


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
