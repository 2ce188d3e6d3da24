"""Converts python-pptx's objects to the values of `backend.domain.formats.slides`."""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from backend.domain.formats.alternate_content import resolve_alternates
from backend.domain.formats.slides import (
    MAX_LENGTH,
    MAX_SHAPES,
    Bullet,
    Deck,
    OwnFill,
    Shape,
    Slide,
    SlidePicture,
    SlideTableCell,
    look_into,
)
from backend.domain.formats.slides_colours import A, P, local
from backend.domain.formats.slides_fills import Fills
from backend.domain.formats.slides_text import TextReader, Texts

if TYPE_CHECKING:
    from pptx.presentation import Presentation

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_WEB = ("http://", "https://", "mailto:", "ftp://")
_WHOLE = 100_000


def read_deck(path: str | None, *, as_stored: bool = False) -> tuple[Deck | None, str]:
    """Presentation as values, or why it cannot be read: missing, wrong format, damaged or too large.

    Args:
        path: of the file.
        as_stored: as python-pptx reads it, which does not see shapes in alternatives for newer programs, and numbers
            of slides and dates of today as they were when the file was saved.
    """
    return look_into(path, partial(_deck_of, as_stored=as_stored), as_stored=as_stored)


def _deck_of(deck: "Presentation", *, as_stored: bool) -> Deck:
    """All aspects of a presentation that metrics use. May raise any exception of python-pptx for damaged parts."""
    defaults = deck.part._element.find(f"{P}defaultTextStyle")  # noqa: SLF001 - no public way to the element.
    for slide in [] if as_stored else deck.slides:
        resolve_alternates(slide.shapes._spTree)  # noqa: SLF001
        _mark_fields(slide.shapes._spTree)  # noqa: SLF001
    slides = tuple(_SlideReader(slide, defaults).read() for slide in deck.slides)
    if sum(len(slide.shapes) for slide in slides) > MAX_SHAPES:
        raise ValueError("too many shapes")
    return Deck(width=int(deck.slide_width or 0), height=int(deck.slide_height or 0), slides=slides)


def _mark_fields(root: Any) -> None:
    """Puts the kind of a field in place of a number or date that its program computes anew."""
    for field in root.iter(f"{A}fld"):
        kind = field.get("type", "")
        mark = "#" if kind == "slidenum" else "date" if kind.startswith("datetime") else ""
        for text in field.iterfind(f"{A}t") if mark else ():
            text.text = (
                f"\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}{mark}\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
            )


class _SlideReader:
    def __init__(self, slide: Any, defaults: Any) -> None:
        self.slide = slide
        self.fills = Fills(slide)
        self.texts = Texts(slide, self.fills.theme, defaults)

    def read(self) -> Slide:
        element = self.slide._element  # noqa: SLF001
        texts = list(element.iterfind(f".//{A}t"))
        return Slide(
            shapes=tuple(self._shape(shape) for shape in self.slide.shapes),
            background=self.fills.background(),
            own_background=own_background(element),
            master_background=own_background(self.slide.slide_layout.slide_master._element),  # noqa: SLF001
            notes=self._notes(),
            transitions=tuple(transitions(element)),
            bullets=tuple(_bullet(paragraph) for paragraph in element.iterfind(f".//{A}p")),
            has_empty_run=any(not text.text for text in texts),
        )

    def _notes(self) -> str:
        frame = self.slide.notes_slide.notes_text_frame if self.slide.has_notes_slide else None
        return frame.text if frame is not None else ""

    def _shape(self, shape: Any) -> Shape:
        element = shape._element  # noqa: SLF001
        tag, type_ = local(element.tag), _type(shape)
        body = element.find(f"{P}txBody") if tag == "sp" else None
        reader = self.texts.of_shape(element)
        return Shape(
            name=shape.name,
            type=type_,
            tag=tag,
            box=(_length(shape.left), _length(shape.top), _length(shape.width), _length(shape.height)),
            paragraphs=reader.paragraphs(body) if tag == "sp" else None,
            rows=self._rows(shape) if getattr(shape, "has_table", False) else None,
            children=tuple(self._shape(child) for child in shape.shapes) if tag == "grpSp" else (),
            picture=self._picture(element) if tag == "pic" else None,
            fill=self.fills.of_shape(element),
            links=frozenset(self._links(body)),
        )

    def _rows(self, shape: Any) -> tuple[tuple[SlideTableCell, ...], ...]:
        reader = self.texts.of_table()
        return tuple(
            tuple(self._cell(cell, reader) for cell in row.iterfind(f"{A}tc"))
            for row in shape.table._tbl.iterfind(f"{A}tr")  # noqa: SLF001
        )

    def _cell(self, cell: Any, reader: TextReader) -> SlideTableCell:
        return SlideTableCell(
            paragraphs=reader.paragraphs(cell.find(f"{A}txBody")),
            fill=self.fills.written(cell.find(f"{A}tcPr")),
        )

    def _picture(self, element: Any) -> SlidePicture | None:
        blip = element.find(f".//{A}blip")
        rid = blip.get(f"{R}embed") if blip is not None else None
        if rid is None or rid not in self.slide.part.rels or self.slide.part.rels[rid].is_external:
            return None
        cut = element.find(f".//{A}srcRect")
        left, top, right, bottom = (
            int(cut.get(side, "0").removesuffix("%")) / _WHOLE if cut is not None else 0.0 for side in "ltrb"
        )
        return SlidePicture(data=self.slide.part.related_part(rid).blob, crop=(left, top, right, bottom))

    def _links(self, body: Any) -> Iterator[str]:
        for link in body.iterfind(f".//{A}hlinkClick") if body is not None else ():
            relation = self.slide.part.rels.get(link.get(f"{R}id", ""))
            if relation is not None and relation.is_external and relation.target_ref.lower().startswith(_WEB):
                yield relation.target_ref.rstrip("/")


def _length(value: int | None) -> int | None:
    if value is not None and abs(value) > MAX_LENGTH:
        raise ValueError("a length is too large")
    return value


def _type(shape: Any) -> int | None:
    """python-pptx's number of the type, which raises for some shapes."""
    try:
        return None if shape.shape_type is None else int(shape.shape_type)
    except NotImplementedError:
        return None


def own_background(element: Any) -> OwnFill:
    """The background set on a slide or master, as python-pptx reports it: theme backgrounds count as none."""
    filled = element.find(f"{P}cSld/{P}bg/{P}bgPr")
    for child in filled if filled is not None else ():
        kind = {"noFill": "none", "solidFill": "solid", "gradFill": "gradient", "blipFill": "picture"}.get(
            local(child.tag)
        )
        if kind == "solid":
            colour = child.find(f"{A}srgbClr")
            return OwnFill("solid", None if colour is None else colour.get("val", "").upper())
        if kind is not None:
            return OwnFill(kind)
    return OwnFill("none" if filled is None else "unknown")


def transitions(element: Any) -> Iterator[str]:
    """Names of a slide's transition and of its fallback for older programs. No transition has no name."""
    for transition in element.iterfind(f".//{P}transition"):
        for effect in itertools.chain(transition):
            name = local(effect.tag)
            if name and name not in {"sndAc", "extLst"}:
                yield str(effect.get("prst") or name)


def _bullet(paragraph: Any) -> Bullet:
    properties = paragraph.find(f"{A}pPr")
    text = "".join(part.text or "" for part in paragraph.iterfind(f".//{A}t"))
    if properties is None:
        return Bullet("No Level", "No Bullet", text, "No Color", "")
    sign, colour = properties.find(f"{A}buChar"), properties.find(f"{A}buClr/{A}srgbClr")
    number = properties.find(f"{A}buAutoNum")
    return Bullet(
        level=properties.get("lvl"),
        char="No Bullet" if sign is None else sign.get("char", ""),
        text=text,
        colour="No Color" if colour is None else colour.get("val", ""),
        number="" if number is None else number.get("type", ""),
    )
