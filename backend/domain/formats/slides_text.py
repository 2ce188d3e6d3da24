"""Text of slides: paragraphs and runs with inherited colours."""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from backend.domain.formats.slides import SlideParagraph, TextRun
from backend.domain.formats.slides_colours import A, Colour, P, Theme, colour_in, local
from backend.domain.formats.slides_fills import placeholders

_TRUE = {"1", "true", "on"}
NEAR = 64
"""Channels that differ by less may be the same colour, resolved or rounded by another program."""
_NO_LOOK = {"lang", "altLang", "dirty", "err", "noProof", "smtClean", "smtId", "bmk", "kumimoji", "extLst"}
"""Attributes of a run that PowerPoint writes by itself and that do not show."""
_FILLS = {"solidFill", "gradFill", "noFill", "blipFill", "pattFill"}
_USUAL_MARKS = {"b": "0", "i": "0", "u": "none", "strike": "noStrike"}
_PLAIN = ((0, 0, 0), (255, 255, 255))


def far(first: Colour, second: Colour, by: int = NEAR) -> bool:
    """Whether two colours are clearly different."""
    return max(abs(a - b) for a, b in zip(first, second, strict=True)) > by


class Texts:
    """Knows the styles that the texts of one slide inherit."""

    def __init__(self, slide: Any, theme: Theme, defaults: Any) -> None:
        self.theme, self.defaults = theme, defaults
        self.layout = slide.slide_layout._element  # noqa: SLF001
        self.master = slide.slide_layout.slide_master._element  # noqa: SLF001

    def of_shape(self, element: Any) -> "TextReader":
        """A reader for the text of a shape."""
        mark = element.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        styles = [element.find(f"{P}txBody/{A}lstStyle")]
        styles += [s.find(f"{P}txBody/{A}lstStyle") for s in placeholders(element, self.layout, self.master)]
        font = colour_in(element.find(f"{P}style/{A}fontRef"), self.theme)
        if font is None:  # A shape's own style precedes the deck's defaults.
            styles += [self.master.find(f"{P}txStyles/{P}{_style(mark)}"), self.defaults]
        return TextReader(styles, self.theme, font or self.theme.named("tx1"))

    def of_table(self) -> "TextReader":
        """A reader for cells, whose inherited colours (of the table style) are unknown."""
        return TextReader([], self.theme, None)


def _style(mark: Any) -> str:
    if mark is None or mark.get("type") in {"dt", "ftr", "sldNum"}:
        return "otherStyle"
    return "titleStyle" if mark.get("type") in {"title", "ctrTitle"} else "bodyStyle"


class TextReader:
    """Reads text bodies that inherit from the same styles, nearest first."""

    def __init__(self, styles: Sequence[Any], theme: Theme, last: Colour | None) -> None:
        self.styles = [style for style in styles if style is not None]
        self.theme, self.last = theme, last
        self._known: dict[tuple[int, str], Colour | None] = {}
        self._attributes: dict[tuple[int, str, str], str | None] = {}

    def paragraphs(self, body: Any) -> tuple[SlideParagraph, ...]:
        """The paragraphs of a `txBody`, empty without one."""
        return () if body is None else tuple(self._paragraph(element) for element in body.iterfind(f"{A}p"))

    def field_colour(self, body: Any, kind: str) -> Colour | None:
        """The displayed colour of the first field of a kind (`slidenum`), else of the first run."""
        for paragraph in body.iterfind(f"{A}p") if body is not None else ():
            fields = [field for field in paragraph.iterfind(f"{A}fld") if field.get("type") == kind]
            for text in [*fields, *paragraph.iterfind(f"{A}r")]:
                for element in (text.find(f"{A}rPr/{A}solidFill"), paragraph.find(f"{A}pPr/{A}defRPr/{A}solidFill")):
                    if element is not None:
                        return colour_in(element, self.theme)
                return self._inherited_colour(0, "text")
        return self._inherited_colour(0, "text")

    def _paragraph(self, element: Any) -> SlideParagraph:
        properties = element.find(f"{A}pPr")
        level = int(properties.get("lvl", "0")) if properties is not None else 0
        runs = tuple(self._run(run, level) for run in element.iterfind(f"{A}r"))
        align = properties.get("algn") if properties is not None else None
        return SlideParagraph(
            text="".join(_parts(element)),
            align=align,
            shown_align=align or self._style_attribute(level, "", "algn") or "l",
            level=level,
            runs=runs,
            bullet_colour=self._bullet_colour(properties, level, runs),
        )

    def _run(self, element: Any, level: int) -> TextRun:
        properties = element.find(f"{A}rPr")
        attributes = {} if properties is None else properties.attrib
        font, solid = (None if properties is None else properties.find(f"{A}{name}") for name in ("latin", "solidFill"))
        written = solid.find(f"{A}srgbClr") if solid is not None else None
        own = properties is not None and any(local(part.tag) in _FILLS for part in properties)
        size = attributes.get("sz")

        repeated = {
            name
            for name, value in attributes.items()
            if value == (self._style_attribute(level, ".", name) or _USUAL_MARKS.get(name))
        }

        def effective(name: str) -> str | None:
            return attributes.get(name) or self._style_attribute(level, ".", name)

        return TextRun(
            text=element.findtext(f"{A}t") or "",
            font=None if font is None else font.get("typeface"),
            size=None if size is None else int(size),
            bold=_flag(attributes.get("b")),
            italic=_flag(attributes.get("i")),
            underline=attributes.get("u"),
            strike=attributes.get("strike", "noStrike"),
            says_strike="strike" in attributes,
            rgb=None if written is None else written.get("val", "").upper(),
            own_colour=own,
            colour=colour_in(solid, self.theme) if own else self._inherited_colour(level, "text"),
            linked=properties is not None and properties.find(f"{A}hlinkClick") is not None,
            look="" if properties is None else _look(properties),
            shown_look="" if properties is None else _look(properties, repeated),
            shown_font=self._style_attribute(level, f"{A}latin", "typeface") if font is None else font.get("typeface"),
            shown_size=effective("sz"),
            shown_bold=bool(_flag(effective("b"))),
            shown_italic=bool(_flag(effective("i"))),
            shown_underline=effective("u") or "none",
            shown_strike=effective("strike") or "noStrike",
        )

    def _inherited_colour(self, level: int, attribute: str) -> Colour | None:
        if (level, attribute) not in self._known:
            self._known[level, attribute] = self._look_up(level, attribute)
        return self._known[level, attribute]

    def _style_attribute(self, level: int, part: str, attribute: str) -> str | None:
        """An attribute of the styles: of their paragraphs, or of a part of the formatting of their runs."""
        key = (level, part, attribute)
        if key not in self._attributes:
            path = f"/{A}defRPr" + ("" if part == "." else f"/{part}") if part else ""
            places = [
                style.find(f"{name}{path}") for style in self.styles for name in (f"{A}lvl{level + 1}pPr", f"{A}defPPr")
            ]
            values = (element.get(attribute) for element in places if element is not None)
            self._attributes[key] = next((value for value in values if value is not None), None)
        return self._attributes[key]

    def _look_up(self, level: int, attribute: str) -> Colour | None:
        path = f"{A}defRPr/{A}solidFill" if attribute == "text" else f"{A}buClr"
        for style in self.styles:
            for name in (f"{A}lvl{level + 1}pPr", f"{A}defPPr"):
                element = style.find(f"{name}/{path}")
                if element is not None:
                    return colour_in(element, self.theme)
        return self.last if attribute == "text" else None

    def _bullet_colour(self, properties: Any, level: int, runs: Sequence[TextRun]) -> Colour | None:
        """A bullet's own colour, unless it repeats the text's, the inherited or a default colour, as writers do."""
        written = properties.find(f"{A}buClr") if properties is not None else None
        colour = colour_in(written, self.theme)
        if colour is None:
            return None
        usual = (
            *_PLAIN,
            self._inherited_colour(level, "bullet"),
            self._inherited_colour(level, "text"),
            *(r.colour for r in runs),
        )
        return colour if all(far(colour, other) for other in usual if other is not None) else None


def _parts(paragraph: Any) -> Iterator[str]:
    for child in paragraph:
        kind = local(child.tag)
        if kind in {"r", "fld"}:
            yield child.findtext(f"{A}t") or ""
        elif kind == "br":
            yield "\v"


def _look(properties: Any, without: Container[str] = ()) -> str:
    from lxml import etree

    notes = [
        f"{name}={value}" for name, value in sorted(properties.items()) if name not in _NO_LOOK and name not in without
    ]
    notes += [
        etree.tostring(child, method="c14n", exclusive=True).decode()
        for child in properties
        if local(child.tag) not in _NO_LOOK
    ]
    return " ".join(notes)


def _flag(text: str | None) -> bool | None:
    return None if text is None else text in _TRUE
