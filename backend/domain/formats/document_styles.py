"""Formatting of text in Word documents, direct or inherited from styles and defaults.

A property is resolved in this order: the run or paragraph itself, the run's character style, the paragraph's style,
each with the styles that it is based on, then the document's defaults. Source: ECMA-376, part 1, 17.7.2 (order), 17.7.3
(toggle properties).
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from backend.domain.formats.documents import child
from backend.domain.formats.scripts import script_kinds
from backend.domain.formats.word_wrappers import Element, w

if TYPE_CHECKING:
    from docx.document import Document

T = TypeVar("T")
Pick = Callable[[Element, str], T | None]
"""The value that properties of a run, paragraph or style give to a named property."""
_DEFAULTS = "/defaults"
"""Stands for the document's defaults in place of a style's name."""
_THEME = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/theme"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_THEME_FONTS = {"Ascii": "latin", "HAnsi": "latin", "EastAsia": "ea", "Bidi": "cs"}
_SWITCH = {"0": False, "false": False, "off": False, "1": True, "true": True, "on": True}
_KINDS = {"paragraph", "character", "table", "numbering"}
_COMPLEX = {"b", "i"}
_LOGICAL = {"start": "left", "end": "right"}
"""Names of alignments in newer files and in those saved as Strict."""
_TABS = {**_LOGICAL, "num": "left"}
_MEASURE = re.compile(r"(-?[0-9.]+)(mm|cm|in|pt|pc|pi)")
_POINTS = {"mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0, "pt": 1.0, "pc": 12.0, "pi": 12.0}
SINGLE = ("auto", 240)
"""Default line spacing: single, in 240ths of a line."""
DEFAULT_SIZE = 10.0
"""Default font size in points."""


class DocumentStyles:
    """The styles, defaults and theme fonts of one open document.

    Args:
        document: python-docx's document.
        direct: use direct formatting only, as the published evaluators do.

    Raises:
        ValueError: a style has an unknown type, for which Word rejects the document.
    """

    def __init__(self, document: "Document", *, direct: bool = False) -> None:
        root = document.styles.element
        self._direct = direct
        self._by_id = {style.get(w("styleId")): style for style in root.iterchildren(w("style"))}
        kinds = {style.get(w("type"), "paragraph") for style in self._by_id.values()}
        if not direct and not kinds <= _KINDS:
            raise ValueError(f"styles of the kinds {kinds}")
        self._default = next((name for name, style in self._by_id.items() if _is_default(style)), None)
        self._defaults = child(root, "docDefaults")
        self._theme = _theme_fonts(document)
        self._last_run: tuple[Element | None, Element | None] = (None, None)
        self._known: dict[tuple[str, str | None, str], Any] = {}

    def name(self, paragraph: Element) -> str:
        """The name of the paragraph's style as Word shows it (`Heading 1`), that of the default style without one."""
        from docx.styles import BabelFish

        own = self._by_id.get(_style(paragraph, "p"), self._by_id.get(self._default))
        return str(BabelFish.internal2ui(_value(own, "name") or ""))

    def alignment(self, paragraph: Element) -> str:
        """`left`, `center`, `right`, `both`, ...; `left` by default."""
        alignment = self._of_paragraph(paragraph, "jc", _value) or "left"
        return _LOGICAL.get(alignment, alignment)

    def line_spacing(self, paragraph: Element) -> tuple[str, int] | None:
        """(`auto`, 240ths of a line) or (`exact` or `atLeast`, twentieths of a point); None if not set directly."""
        spacing = self._of_paragraph(paragraph, "spacing", _line)
        return spacing if spacing is not None or self._direct else SINGLE

    def tab_stops(self, paragraph: Element) -> list[tuple[str, int]]:
        """Alignment and position, in twentieths of a point, of each tab stop; directly, in the order of the file."""
        own = child(paragraph, "pPr")
        levels = [] if own is None else [own]
        if not self._direct:
            levels += [*self._levels("p", self._style_of(paragraph)), *self._levels("p", _DEFAULTS)]
        stops = [stop for level in reversed(levels) for tabs in level.iterchildren(w("tabs")) for stop in tabs]
        positions = [(stop.get(w("val")), round(20 * _points(stop.get(w("pos"), ""), 20))) for stop in stops]
        if self._direct:
            return positions
        last = {position: _TABS.get(kind, kind) for kind, position in positions}
        return [(kind, position) for position, kind in sorted(last.items()) if kind != "clear"]

    def breaks_before(self, paragraph: Element) -> bool:
        """Whether the paragraph starts a new page."""
        return bool(self._of_paragraph(paragraph, "pageBreakBefore", is_on))

    def fonts(self, paragraph: Element, run: Element, text: str) -> set[str | None]:
        """The names of the fonts that show the letters of a run; the font of ASCII letters if it has none.

        A run names fonts for ASCII, other Western, East Asian and complex letters (17.3.2.26).
        """
        complex_script = self._is_complex(paragraph, run)
        kinds = {"ascii"} if self._direct else {"cs"} if complex_script else script_kinds(text) or {"ascii"}
        return {self._font_of(paragraph, run, kind) for kind in kinds}

    def _font_of(self, paragraph: Element, run: Element, kind: str) -> str | None:
        """The font of one kind of letters; of ASCII if none is named, as in themes for any language."""
        font = self._of_run(paragraph, run, kind, self._font)
        return font if font or kind == "ascii" else self._of_run(paragraph, run, "ascii", self._font)

    def size(self, paragraph: Element, run: Element) -> float | None:
        """Points; None if not set with `direct`."""
        name = "szCs" if self._is_complex(paragraph, run) else "sz"
        half_points = self._of_run(paragraph, run, name, _value)
        return _points(half_points, 2) if half_points is not None else None if self._direct else DEFAULT_SIZE

    def position(self, paragraph: Element, run: Element) -> str | None:
        """`subscript`, `superscript`, `baseline` or None."""
        return self._of_run(paragraph, run, "vertAlign", _value)

    def color(self, paragraph: Element, run: Element) -> tuple[int, int, int] | None:
        """Red, green and blue, 0 to 255; None = automatic."""
        value = self._of_run(paragraph, run, "color", _value)
        if value is None or value == "auto":
            return None
        red, green, blue = bytes.fromhex(value)
        return red, green, blue

    def highlight(self, paragraph: Element, run: Element) -> str | None:
        """The colour's name (`yellow`), or six hexadecimal digits of a shading; None = not highlighted, or in white."""
        name = self._of_run(paragraph, run, "highlight", _value)
        if name not in {None, "none", "white"}:
            return name
        return self._of_run(paragraph, run, "shd", _shading) or None

    def _is_complex(self, paragraph: Element, run: Element) -> bool:
        """Whether a run is of a complex script, such as Hebrew, whose formatting is apart (17.3.2.7, 17.3.2.30)."""
        return not self._direct and any(self._of_run(paragraph, run, name, is_on) for name in ("rtl", "cs"))

    def has(self, name: str, paragraph: Element, run: Element) -> bool:
        """Whether a toggle property of a run is on: `b`, `i`, `strike`, `caps`.

        A toggle in both the paragraph's style and the character style is off.
        """
        if name in _COMPLEX and self._is_complex(paragraph, run):
            name = f"{name}Cs"
        own = is_on(self._properties(run), name)
        if own is not None or self._direct:
            return bool(own)
        by_run = self._inherited_value(("r", _style(run, "r")), name, is_on)
        by_paragraph = self._inherited_value(("r", self._style_of(paragraph)), name, is_on)
        return bool(by_run) != bool(by_paragraph) or bool(self._inherited_value(("r", _DEFAULTS), name, is_on))

    def _properties(self, run: Element) -> Element | None:
        """A run's own properties, cached: finding them takes most of the time."""
        if run is not self._last_run[0]:
            self._last_run = run, child(run, "rPr")
        return self._last_run[1]

    def _of_paragraph(self, paragraph: Element, name: str, pick: Pick[T]) -> T | None:
        own = child(paragraph, "pPr")
        value = None if own is None else pick(own, name)
        if value is not None or self._direct:
            return value
        return self._first("p", (self._style_of(paragraph), _DEFAULTS), name, pick)

    def _of_run(self, paragraph: Element, run: Element, name: str, pick: Pick[T]) -> T | None:
        own = self._properties(run)
        value = None if own is None else pick(own, name)
        if value is not None or self._direct:
            return value
        return self._first("r", (_style(run, "r"), self._style_of(paragraph), _DEFAULTS), name, pick)

    def _first(self, kind: str, styles: tuple[str | None, ...], name: str, pick: Pick[T]) -> T | None:
        picked = (self._inherited_value((kind, style), name, pick) for style in styles)
        return next((value for value in picked if value is not None), None)

    def _inherited_value(self, style_key: tuple[str, str | None], name: str, pick: Pick[T]) -> T | None:
        """The value of a style or one that it is based on, cached."""
        key = (*style_key, name)
        if key not in self._known:
            picked = (pick(level, name) for level in self._levels(*style_key))
            self._known[key] = next((value for value in picked if value is not None), None)
        value: T | None = self._known[key]
        return value

    def _levels(self, kind: str, style: str | None) -> Iterator[Element]:
        if style == _DEFAULTS:
            levels = (
                [] if self._defaults is None else [self._defaults.find(f"{w(f'{kind}PrDefault')}/{w(f'{kind}Pr')}")]
            )
        else:
            levels = [child(base, f"{kind}Pr") for base in self._chain(style)]
        return (level for level in levels if level is not None)

    def _style_of(self, paragraph: Element) -> str | None:
        return _style(paragraph, "p") or self._default

    def _chain(self, name: str | None) -> Iterator[Element]:
        names = set()
        while name in self._by_id and name not in names:
            names.add(name)
            yield self._by_id[name]
            name = _value(self._by_id[name], "basedOn")

    def _font(self, level: Element, kind: str) -> str | None:
        fonts = child(level, "rFonts")
        if fonts is None:
            return None
        theme = fonts.get(w("cstheme" if kind == "cs" else f"{kind}Theme"))
        # A theme font wins over the name stored beside it.
        return self._theme.get(theme) if theme and not self._direct else fonts.get(w(kind))


def _is_default(style: Element) -> bool:
    return style.get(w("type")) == "paragraph" and _SWITCH[style.get(w("default"), "0")]


def _value(level: Element | None, name: str) -> str | None:
    element = child(level, name)
    return None if element is None else element.get(w("val"))


def is_on(level: Element | None, name: str) -> bool | None:
    """Whether properties switch a named one on or off; None if they do not have it."""
    element = child(level, name)
    return None if element is None else _SWITCH[element.get(w("val"), "1")]


def _style(element: Element, kind: str) -> str | None:
    return _value(child(element, f"{kind}Pr"), f"{kind}Style")


def _line(level: Element, name: str) -> tuple[str, int] | None:
    spacing = child(level, name)
    if spacing is None or spacing.get(w("line")) is None:
        return None
    return spacing.get(w("lineRule"), "auto"), round(20 * _points(spacing.get(w("line")), 20))


def _points(value: str, per_point: int) -> float:
    """A length that is a number of parts of a point, or has a unit, as in files saved as Strict."""
    measure = _MEASURE.fullmatch(value)
    return float(value) / per_point if measure is None else float(measure[1]) * _POINTS[measure[2]]


def _shading(level: Element, name: str) -> str | None:
    """A run's background; empty if explicitly none."""
    shading = child(level, name)
    if shading is None:
        return None
    pattern, fill = shading.get(w("val"), "clear"), shading.get(w("fill"), "auto")
    if pattern == "solid" or (pattern not in {"clear", "nil"} and fill == "auto"):  # Then the pattern's colour shows.
        color = shading.get(w("color"), "auto")
        fill = "000000" if color == "auto" else color
    return "" if pattern == "nil" or fill.lower() in {"auto", "ffffff"} else fill


def _theme_fonts(document: "Document") -> dict[str, str]:
    """The fonts of a theme by the names that runs use: `majorHAnsi`, `minorEastAsia`, ..."""
    from lxml import etree

    for relation in document.part.rels.values():
        if relation.reltype == _THEME and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            root = etree.fromstring(relation.target_part.blob, parser)
            return {
                f"{size}{kind}": font.get("typeface", "")
                for size in ("major", "minor")
                for kind, tag in _THEME_FONTS.items()
                if (font := root.find(f".//{_DRAWING}{size}Font/{_DRAWING}{tag}")) is not None
            }
    return {}
