"""Reads presentations (.pptx) into plain values: what is on each slide, as it is written and as it shows.

The parser (python-pptx) meets the file here and nowhere else, so that a damaged deck is a reason and no metric breaks
half-way through one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import check_package
from backend.domain.formats.slides_colours import Colour

if TYPE_CHECKING:
    from pptx.presentation import Presentation

MAX_SHAPES = 50_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShapeFill:
    """How an area is filled.

    Attributes:
        kind: `none`, `solid`, `gradient`, `picture`, `pattern` or `unknown` (the theme decides in a way not followed).
        colours: of a solid fill one, of a gradient its stops; those that can be told.
    """

    kind: str
    colours: tuple[Colour, ...] = ()


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text of one formatting. None = not written at the run.

    Attributes:
        size: in hundredths of a point.
        underline: DrawingML's name (`sng`, `dbl`, ...), `none` where it is switched off.
        strike: `noStrike`, `sngStrike` or `dblStrike`.
        says_strike: something is written about strike-through, be it that there is none.
        rgb: its own colour if that is written as RRGGBB.
        own_colour: it has a colour of its own, in whatever way it is written.
        colour: the colour that shows, inherited or of the theme; None where it cannot be told.
        linked: part of a hyperlink, whose colour is the theme's.
    """

    text: str
    font: str | None
    size: int | None
    bold: bool | None
    italic: bool | None
    underline: str | None
    strike: str
    says_strike: bool
    rgb: str | None
    own_colour: bool
    colour: Colour | None
    linked: bool


@dataclass(frozen=True, slots=True)
class SlideParagraph:
    """One paragraph.

    Attributes:
        align: `l`, `ctr`, `r`, ...; None if not written.
        bullet_colour: the bullet's own colour where it is neither the text's nor the inherited one.
    """

    text: str
    align: str | None
    level: int
    runs: tuple[TextRun, ...]
    bullet_colour: Colour | None


@dataclass(frozen=True, slots=True)
class Bullet:
    """A paragraph as the slide's XML has it, in document order, those of tables and groups included.

    Attributes:
        level: `No Level` without paragraph properties; None if they say nothing.
        char: the bullet's sign or `No Bullet`.
        colour: its colour as RRGGBB or `No Color`.
        number: kind of automatic numbering, else empty.
    """

    level: str | None
    char: str
    text: str
    colour: str
    number: str


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """An embedded picture; `crop` is the share cut off left, top, right and bottom."""

    data: bytes = field(repr=False)
    crop: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class SlideTableCell:
    """A cell of a table; `fill` is its own only, not that of the table's style."""

    paragraphs: tuple[SlideParagraph, ...]
    fill: ShapeFill

    @property
    def text(self) -> str:
        """Its text, paragraphs joined by line feeds."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of a slide or group. Lengths are in English Metric Units, None where nothing says them.

    Attributes:
        type: python-pptx's number of the shape's type (13 picture, 19 table, 5 freeform), None for odd ones.
        tag: local name of its element (`sp`, `pic`, `graphicFrame`, `grpSp`, `cxnSp`).
        paragraphs: None for shapes that cannot hold text.
        rows: of a table.
        links: web addresses that its text leads to.
    """

    name: str
    type: int | None
    tag: str
    box: tuple[int | None, int | None, int | None, int | None]
    paragraphs: tuple[SlideParagraph, ...] | None
    rows: tuple[tuple[SlideTableCell, ...], ...] | None
    children: tuple["Shape", ...]
    picture: SlidePicture | None
    fill: ShapeFill
    links: frozenset[str]

    @property
    def text(self) -> str | None:
        """Its text, paragraphs joined by line feeds; None for shapes that cannot hold text."""
        return None if self.paragraphs is None else "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class OwnFill:
    """A background as written at one place: `kind` as in Fill, `rgb` only of a solid one that is written as RRGGBB."""

    kind: str
    rgb: str | None = None


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide.

    Attributes:
        background: what shows, inherited or not.
        own_background: what is written at the slide; kind `none` if nothing is.
        master_background: the same for its master.
        transitions: names of its transition, several where a newer one comes with a substitute.
        bullets: every paragraph of the slide.
        has_empty_run: some run has no text at all.
    """

    shapes: tuple[Shape, ...]
    background: ShapeFill
    own_background: OwnFill
    master_background: OwnFill
    notes: str
    transitions: tuple[str, ...]
    bullets: tuple[Bullet, ...]
    has_empty_run: bool


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation; lengths in English Metric Units."""

    width: int
    height: int
    slides: tuple[Slide, ...]


def look_into(path: str | None, read: "Callable[[Presentation], T]") -> tuple[T | None, str]:
    """What `read` finds in the parsed presentation, or why there is nothing: absent, no presentation, damaged.

    Args:
        path: of the .pptx.
        read: is given python-pptx's object and may raise over parts that are wrong in themselves.
    """
    reason = check_package(path)
    if reason:
        return None, reason
    from pptx import Presentation

    try:
        deck = Presentation(str(path))
        if deck.slide_width is None or deck.slide_height is None:
            return None, "the presentation is damaged: its slides have no size"
        return read(deck), ""
    except Exception as error:  # noqa: BLE001 - python-pptx raises whatever a damaged file makes it stumble over.
        let_through(error, path)
        return None, f"the file is no readable presentation: {type(error).__name__}"
