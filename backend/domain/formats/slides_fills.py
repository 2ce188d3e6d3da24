"""Fills of slides, shapes and cells, resolved through layout, master and theme."""

from typing import Any

from backend.domain.formats.slides import ShapeFill
from backend.domain.formats.slides_colours import A, Colour, P, Theme, colour_in, local, read_theme

_UNKNOWN = ShapeFill("unknown")
_NONE = ShapeFill("none")
_KINDS = {"gradFill": "gradient", "blipFill": "picture", "pattFill": "pattern", "grpFill": "unknown"}
_SOLID_OF_THEME = 1
"""The first fill of a theme is the plain one in every theme of Office and LibreOffice."""
_BACKGROUNDS = 1000
_INVISIBLE = 5000  # thousandths of a per cent of opacity


class Fills:
    """Fills of one slide's elements."""

    def __init__(self, slide: Any) -> None:
        self.slide = slide._element  # noqa: SLF001
        self.layout = slide.slide_layout._element  # noqa: SLF001
        master = slide.slide_layout.slide_master
        self.master = master._element  # noqa: SLF001
        self.theme = _theme(master)

    def background(self) -> ShapeFill:
        """The displayed background: the slide's, else the layout's, else the master's."""
        for element in (self.slide, self.layout, self.master):
            properties = element.find(f"{P}cSld/{P}bg")
            if properties is None:
                continue
            reference = properties.find(f"{P}bgRef")
            return self._of_theme(reference, _BACKGROUNDS) if reference is not None else self._first(properties[0])
        return _NONE

    def of_shape(self, element: Any) -> ShapeFill:
        """The fill of a shape (`sp`); unknown for all other kinds of shape."""
        if local(element.tag) != "sp" or element.get("useBgFill") in {"1", "true"}:
            return _UNKNOWN
        written = self.written(element.find(f"{P}spPr"))
        if written != _UNKNOWN or _says(element.find(f"{P}spPr")):
            return written
        reference = element.find(f"{P}style/{A}fillRef")
        if reference is not None:
            return self._of_theme(reference, 0)
        for parent in placeholders(element, self.layout, self.master):
            if _says(parent.find(f"{P}spPr")):
                return self.written(parent.find(f"{P}spPr"))
        return _NONE

    def written(self, properties: Any) -> ShapeFill:
        """The fill in shape or cell properties; unknown without one."""
        return _UNKNOWN if properties is None else self._first(properties)

    def _first(self, properties: Any) -> ShapeFill:
        for child in properties:
            kind = local(child.tag)
            if kind == "noFill":
                return _NONE
            if kind == "solidFill":
                return self._solid(child)
            if kind == "gradFill":
                stops = (colour_in(stop, self.theme) for stop in child.iterfind(f"{A}gsLst/{A}gs"))
                return ShapeFill("gradient", tuple(stop for stop in stops if stop is not None))
            if kind in _KINDS:
                return ShapeFill(_KINDS[kind])
        return _UNKNOWN

    def _solid(self, element: Any) -> ShapeFill:
        alpha = element.find(f".//{A}alpha")
        if alpha is not None and int(alpha.get("val", "100000").removesuffix("%")) < _INVISIBLE:
            return _NONE
        return _solid(colour_in(element, self.theme))

    def _of_theme(self, reference: Any, base: int) -> ShapeFill:
        index = int(reference.get("idx", "0"))
        if index in {0, _BACKGROUNDS}:
            return _NONE
        return _solid(colour_in(reference, self.theme)) if index == base + _SOLID_OF_THEME else _UNKNOWN


def _solid(colour: Colour | None) -> ShapeFill:
    return _UNKNOWN if colour is None else ShapeFill("solid", (colour,))


def _says(properties: Any) -> bool:
    return properties is not None and any(local(child.tag).endswith("Fill") for child in properties)


def _theme(master: Any) -> Theme:
    from lxml import etree
    from pptx.opc.constants import RELATIONSHIP_TYPE

    try:
        part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    except KeyError:
        return read_theme(None, master._element)  # noqa: SLF001
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return read_theme(etree.fromstring(part.blob, parser), master._element)  # noqa: S320, SLF001 - no entities.


def placeholders(element: Any, layout: Any, master: Any) -> list[Any]:
    """The shapes that a placeholder inherits from: of the layout by index, of the master by type."""
    mark = element.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if mark is None:
        return []
    kind, index = mark.get("type", "obj"), mark.get("idx", "0")
    matches = [shape for shape in layout.iterfind(f"{P}cSld/{P}spTree/{P}sp") if _mark(shape, "idx", "0") == index]
    matches = [shape for shape in matches if _are_alike(_mark(shape, "type", "obj"), kind)] or matches
    master_kind = _of_master(_mark(matches[0], "type", "obj") or kind if matches else kind)
    above = [s for s in master.iterfind(f"{P}cSld/{P}spTree/{P}sp") if _mark(s, "type", "obj") == master_kind]
    return [*matches[:1], *above[:1]]


def _mark(shape: Any, name: str, default: str) -> str | None:
    mark = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return None if mark is None else str(mark.get(name, default))


def _are_alike(first: str | None, second: str) -> bool:
    return first is not None and _of_master(first) == _of_master(second)


def _of_master(kind: str) -> str:
    return {"ctrTitle": "title", "dt": "dt", "ftr": "ftr", "sldNum": "sldNum", "title": "title"}.get(kind, "body")
