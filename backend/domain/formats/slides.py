"""Reads presentations (.pptx) into plain values: the content of slides, as written and as displayed.

Only this package uses the parser (python-pptx), so that a damaged deck gives a reason and never crashes a metric.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from backend.domain.formats.failures import let_through
from backend.domain.formats.package_repair import openable
from backend.domain.formats.packages import check_package
from backend.domain.formats.slides_colours import Colour

if TYPE_CHECKING:
    from pptx.presentation import Presentation

MAX_SHAPES = 50_000
MAX_LENGTH = 2**63 - 1
"""English Metric Units, the largest of the format."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShapeFill:
    """Fill of an area.

    Attributes:
        kind: `none`, `solid`, `gradient`, `picture`, `pattern` or `unknown` (decided by the theme in an unsupported
            way).
        colours: the known ones: one for a solid fill, the stops of a gradient.
    """

    kind: str
    colours: tuple[Colour, ...] = ()


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text with uniform formatting. None = not set on the run.

    Attributes:
        size: size in hundredths of a point.
        underline: DrawingML's name (`sng`, `dbl`, ...), `none` where it is switched off.
        strike: `noStrike`, `sngStrike` or `dblStrike`.
        says_strike: strike-through is set, possibly to none.
        rgb: its own colour if written as RRGGBB.
        own_colour: whether it has its own colour, in any notation.
        colour: the displayed colour, including inherited and theme colours; None if unknown.
        linked: part of a hyperlink, whose colour is the theme's.
        look: its complete direct formatting, without language and proofing marks.
        shown_look: the same without what repeats what it inherits.
        shown_font: its font or the inherited one, as written (`+mj-lt`); None if unknown.
        shown_size: its size or the inherited one, None if unknown.
        shown_bold, shown_italic, shown_underline, shown_strike: its own or the inherited ones, else off.
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
    look: str = ""
    shown_look: str = ""
    shown_font: str | None = None
    shown_size: str | None = None
    shown_bold: bool = False
    shown_italic: bool = False
    shown_underline: str = "none"
    shown_strike: str = "noStrike"


@dataclass(frozen=True, slots=True)
class SlideParagraph:
    """One paragraph.

    Attributes:
        align: `l`, `ctr`, `r`, ...; None if not set.
        bullet_colour: the bullet's own colour, if it is neither the text's nor the inherited one.
        shown_align: its alignment or the inherited one.
    """

    text: str
    align: str | None
    level: int
    runs: tuple[TextRun, ...]
    bullet_colour: Colour | None
    shown_align: str = "l"


@dataclass(frozen=True, slots=True)
class Bullet:
    """A paragraph as in the slide's XML, in document order, including tables and groups.

    Attributes:
        level: `No Level` without paragraph properties; None if not set.
        char: the bullet's character or `No Bullet`.
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
    """An embedded picture; `crop` has the fractions cut off left, top, right and bottom."""

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
    """A shape of a slide or group. Lengths are in English Metric Units, None if not set.

    Attributes:
        type: python-pptx's number of the shape's type (13 picture, 19 table, 5 freeform), None for unusual ones.
        tag: local name of its element (`sp`, `pic`, `graphicFrame`, `grpSp`, `cxnSp`).
        paragraphs: None for shapes that cannot hold text.
        rows: rows of a table.
        links: web addresses in its text.
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
    """A background as written on one level: `kind` as in ShapeFill, `rgb` only for a solid one written as RRGGBB."""

    kind: str
    rgb: str | None = None


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide.

    Attributes:
        background: the displayed background.
        own_background: the background set on the slide; kind `none` without one.
        master_background: the same for its master.
        transitions: names of its transition, several if a newer one has a fallback.
        bullets: every paragraph of the slide.
        has_empty_run: a run has no text.
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


def look_into(
    path: str | None, read: "Callable[[Presentation], T]", *, as_stored: bool = False
) -> tuple[T | None, str]:
    """The result of `read` on the parsed presentation, or the reason: missing, not a presentation, damaged.

    Args:
        path: path of the .pptx file.
        read: called with python-pptx's object; may raise on damaged parts.
        as_stored: files that python-pptx rejects are damaged, as in the published evaluators.
    """
    reason = check_package(path)
    if reason:
        return None, reason
    from pptx import Presentation

    try:
        deck = Presentation(str(path) if as_stored else openable(str(path)))
        if deck.slide_width is None or deck.slide_height is None:
            return None, "the presentation is damaged: its slides have no size"
        if max(deck.slide_width, deck.slide_height) > MAX_LENGTH:
            return None, "the presentation is damaged: its slides are too large"
        return read(deck), ""
    except Exception as error:  # noqa: BLE001 - python-pptx raises whatever a damaged file makes it stumble over.
        let_through(error, path)
        return None, f"the file is not a readable presentation: {type(error).__name__}"
