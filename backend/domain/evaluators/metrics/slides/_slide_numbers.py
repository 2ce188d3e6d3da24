"""Colours of slide numbers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from backend.domain.formats.slides_colours import A, Colour, P
from backend.domain.formats.slides_fills import Fills
from backend.domain.formats.slides_text import TextReader, Texts

if TYPE_CHECKING:
    from pptx.presentation import Presentation

Numbers = list[tuple[str, Colour | None]]
"""Description of a number's place, and its colour; None if unknown."""


def all_numbers(deck: "Presentation") -> tuple[Numbers, Numbers]:
    """The numbers of the deck's first master and those on slides."""
    return master_numbers(deck), shown_numbers(deck)


def master_numbers(deck: "Presentation") -> Numbers:
    """The numbers of the deck's first master: the default look of numbers."""
    for slide in deck.slides:
        master = deck.slide_masters[0]
        element, theme = master._element, Fills(slide).theme  # noqa: SLF001 - no public way to the element.
        others = element.find(f"{P}txStyles/{P}otherStyle")
        numbers: Numbers = []
        for shape in _shapes(element):
            body = shape.find(f"{P}txBody")
            reader = TextReader([body.find(f"{A}lstStyle"), others], theme, theme.named("tx1"))
            numbers.append(("the master", reader.field_colour(body, "slidenum")))
        return numbers
    return []


def shown_numbers(deck: "Presentation") -> Numbers:
    """The numbers on slides."""
    numbers: Numbers = []
    for position, slide in enumerate(deck.slides, 1):
        texts = Texts(slide, Fills(slide).theme, None)
        for shape in _shapes(slide._element):  # noqa: SLF001
            colour = texts.of_shape(shape).field_colour(shape.find(f"{P}txBody"), "slidenum")
            numbers.append((f"slide {position}", colour))
    return numbers


def visible_numbers(master: Numbers, slide: Numbers) -> Numbers:
    """Numbers as slides show them, which may override the master; the master's numbers if no slide shows any.

    A colour that is unknown on a slide is the master's.
    """
    default = next((colour for _, colour in master), None)
    return [(slide_path, default if colour is None else colour) for slide_path, colour in slide] or master


def _shapes(element: Any) -> Iterator[Any]:
    """Shapes for the slide number: by their placeholder type, or because they contain the field."""
    for shape in element.iterfind(f"{P}cSld/{P}spTree//{P}sp"):
        mark = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        marked = mark is not None and mark.get("type") == "sldNum"
        if shape.find(f"{P}txBody") is not None and (marked or shape.find(f".//{A}fld[@type='slidenum']") is not None):
            yield shape


def in_words(numbers: Numbers) -> str:
    """The first few colours with their places, as text."""
    words = [
        f"{slide_path} {'unknown' if c is None else '#{:02X}{:02X}{:02X}'.format(*c)}" for slide_path, c in numbers[:10]
    ]
    return ", ".join(words) or "no slide number"
