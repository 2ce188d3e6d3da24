"""Presentations, made with python-pptx, or with raw XML where it has no function."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_UNDERLINE, PP_ALIGN
from pptx.oxml import parse_xml
from pptx.util import Cm, Pt

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
NS = f'xmlns:a="{A}" xmlns:p="{P}"'

Change = Callable[[Any], None]
"""Changes a python-pptx presentation in place."""


def rgb(text: str) -> RGBColor:
    """RRGGBB as python-pptx's type."""
    colour: RGBColor = RGBColor.from_string(text)  # type: ignore[no-untyped-call]
    return colour


def picture(seed: int = 0, size: tuple[int, int] = (64, 48), kind: str = "PNG") -> bytes:
    """A smooth picture that differs with its seed."""
    rows, columns = np.mgrid[0 : size[1], 0 : size[0]]
    wave = np.stack([np.sin((rows * (k + 1) + columns * (seed + 1)) / 11.0 + seed) for k in range(3)], axis=2)
    out = io.BytesIO()
    Image.fromarray((127 + 120 * wave).astype(np.uint8)).save(out, kind)
    return out.getvalue()


def deck(path: Path, *changes: Change) -> str:
    """The deck that most tests use, with changes; returns its path.

    1: title and two text boxes, the second with a link, a note. 2: a picture, a box, a bulleted list. 3: a table.
    4: a group. Slide 2 has a dissolve transition, slide 3 a plain background.
    """
    show = Presentation()
    for number in range(4):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = ("Product Comparison", "Picture", "Table", "Group")[number]
    _first(show.slides[0])
    _second(show.slides[1])
    _third(show.slides[2])
    _fourth(show.slides[3])
    for change in changes:
        change(show)
    path.parent.mkdir(parents=True, exist_ok=True)
    show.save(str(path))
    return str(path)


def _first(slide: Any) -> None:
    for number, text in enumerate(("alpha", "beta")):
        box = slide.shapes.add_textbox(Cm(2), Cm(6 + 3 * number), Cm(8), Cm(2))
        box.text_frame.text = text
        font = box.text_frame.paragraphs[0].runs[0].font
        font.size, font.name = Pt(24), "DejaVu Sans"
    extra = slide.shapes[2].text_frame.add_paragraph().add_run()
    extra.text, extra.hyperlink.address = "a link", "https://example.org/page"
    slide.notes_slide.notes_text_frame.text = "say hello"


def _second(slide: Any) -> None:
    slide.shapes.add_picture(io.BytesIO(picture(1)), Cm(3), Cm(8), Cm(6), Cm(4))
    box = slide.shapes.add_shape(1, Cm(14), Cm(8), Cm(4), Cm(3))
    box.fill.solid()
    box.fill.fore_color.rgb = rgb("2060C0")
    body = slide.shapes.add_textbox(Cm(2), Cm(13), Cm(12), Cm(4))
    body.text_frame.text = "one"
    body.text_frame.add_paragraph().text = "two"
    for paragraph in body.text_frame.paragraphs:
        sign = f'<a:buClr {NS}><a:srgbClr val="C00000"/></a:buClr>', f'<a:buChar {NS} char="\u2022"/>'
        for xml in sign:
            paragraph._p.get_or_add_pPr().append(parse_xml(xml))
    transition("dissolve")(slide)


def _third(slide: Any) -> None:
    table = slide.shapes.add_table(2, 3, Cm(2), Cm(5), Cm(18), Cm(4)).table
    for row in range(2):
        for column in range(3):
            cell = table.cell(row, column)
            cell.text = f"r{row}c{column}"
            cell.text_frame.paragraphs[0].runs[0].font.size = Pt(14)
            cell.fill.solid()
            cell.fill.fore_color.rgb = rgb("EEEEDD")
    background(rgb("FFFF00"))(slide)


def _fourth(slide: Any) -> None:
    group = slide.shapes.add_group_shape()
    for number, text in enumerate(("in", "side")):
        box = group.shapes.add_textbox(Cm(2 + 6 * number), Cm(6), Cm(5), Cm(2))
        box.text_frame.text = text
        box.text_frame.paragraphs[0].runs[0].font.size = Pt(20)


def background(colour: RGBColor) -> Callable[[Any], None]:
    """Gives a slide a plain background."""

    def change(slide: Any) -> None:
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = colour

    return change


def gradient(first: str, last: str) -> Callable[[Any], None]:
    """Gives a slide a background that runs from one colour to another."""

    def change(slide: Any) -> None:
        slide.background.fill.solid()
        properties = slide._element.cSld.find(f"{{{P}}}bg/{{{P}}}bgPr")
        stops = "".join(
            f'<a:gs pos="{pos}"><a:srgbClr val="{value}"/></a:gs>' for pos, value in ((0, first), (100000, last))
        )
        properties.replace(
            properties[0], parse_xml(f'<a:gradFill {NS}><a:gsLst>{stops}</a:gsLst><a:lin ang="5400000"/></a:gradFill>')
        )

    return change


def transition(name: str | None) -> Callable[[Any], None]:
    """Gives a slide a transition, or none."""

    def change(slide: Any) -> None:
        for old in slide._element.findall(f"{{{P}}}transition"):
            slide._element.remove(old)
        if name is not None:
            slide._element.append(parse_xml(f"<p:transition {NS}><p:{name}/></p:transition>"))

    return change


def on(number: int, change: Callable[[Any], None]) -> Change:
    """Applies a change of a slide to slide `number` (from 1)."""
    return lambda show: change(show.slides[number - 1])


def run(number: int, shape: int, change: Callable[[Any], None], *, paragraph: int = 0) -> Change:
    """Applies a change to the first run of a paragraph of a shape (slides count from 1, others from 0)."""
    return lambda show: change(show.slides[number - 1].shapes[shape].text_frame.paragraphs[paragraph].runs[0])


def member(change: Callable[[Any], None]) -> Change:
    """Applies a change to the first run of the group's first member."""
    return lambda show: change(show.slides[3].shapes[1].shapes[0].text_frame.paragraphs[0].runs[0])


def cell(change: Callable[[Any], None], row: int = 0, column: int = 0) -> Change:
    """Applies a change to a cell of the table."""
    return lambda show: change(show.slides[2].shapes[1].table.cell(row, column))


def colour(text: str) -> Callable[[Any], None]:
    """Colours a run."""

    def change(element: Any) -> None:
        element.font.color.rgb = rgb(text)

    return change


def font(**values: Any) -> Callable[[Any], None]:
    """Sets attributes of a run's font; `strike` and `u` raw."""

    def change(element: Any) -> None:
        for name, value in values.items():
            if name in {"strike", "u"}:
                element.font._element.set(name, value)
            else:
                setattr(element.font, name, value)

    return change


def align(number: int, shape: int, how: PP_ALIGN) -> Change:
    """Aligns the first paragraph of a shape."""

    def change(show: Any) -> None:
        show.slides[number - 1].shapes[shape].text_frame.paragraphs[0].alignment = how

    return change


def move(number: int, shape: int, **box: int) -> Change:
    """Moves or resizes a shape: `left`, `top`, `width`, `height` in English Metric Units."""

    def change(show: Any) -> None:
        for name, value in box.items():
            setattr(show.slides[number - 1].shapes[shape], name, value)

    return change


def other_picture(seed: int, kind: str = "PNG") -> Change:
    """Puts another picture in the place of slide 2's."""

    def change(show: Any) -> None:
        slide = show.slides[1]
        _, rid = slide.part.get_or_add_image_part(io.BytesIO(picture(seed, kind=kind)))
        slide.shapes[1]._element.blipFill.blip.rEmbed = rid

    return change


def slide_numbers(show: Any, *, master: str | None = None, slides: str | None = None) -> None:
    """Puts a number on every slide and into the master, as PowerPoint does, each with a colour or none."""
    for number, slide in enumerate(show.slides, 1):
        slide.shapes._spTree.append(_number(slides, f"{number}"))
    tree = show.slide_masters[0].shapes._spTree
    for old in tree.findall(f"{{{P}}}sp"):
        mark = old.find(f".//{{{P}}}ph")
        if mark is not None and mark.get("type") == "sldNum":
            tree.remove(old)
    tree.append(_number(master, "<number>", listed=True))


def _number(colour: str | None, text: str, *, listed: bool = False) -> Any:
    fill = f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>' if colour else ""
    style = f"<a:lvl1pPr><a:defRPr>{fill}</a:defRPr></a:lvl1pPr>" if listed else ""
    return parse_xml(
        f'<p:sp {NS}><p:nvSpPr><p:cNvPr id="99" name="Slide Number"/><p:cNvSpPr/><p:nvPr><p:ph type="sldNum" idx="12"/>'
        '</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="6553200" y="6356350"/><a:ext cx="2133600" cy="365125"/></a:xfrm>'
        f'<a:prstGeom prst="rect"/></p:spPr><p:txBody><a:bodyPr/><a:lstStyle>{style}</a:lstStyle><a:p>'
        f"<a:pPr><a:defRPr>{fill}</a:defRPr></a:pPr>"
        f'<a:fld id="{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}" type="slidenum"><a:rPr lang="en-US">{fill}</a:rPr>'
        f"<a:t>{escape(text)}</a:t></a:fld></a:p></p:txBody></p:sp>"
    )


def sized(path: Path, size: int) -> str:
    """A deck of about `size` bytes: a fifth of it text of many runs, the rest pictures."""
    path.write_bytes(_sized(size))
    return str(path)


@cache
def _sized(size: int) -> bytes:
    """Made once, because the library searches all slides for each one it adds."""
    show = Presentation()
    draw = np.random.default_rng(size)
    written = 0
    while written < size // 5:
        slide = show.slides.add_slide(show.slide_layouts[6])
        frame = slide.shapes.add_textbox(Cm(1), Cm(1), Cm(20), Cm(15)).text_frame
        for _ in range(40):
            piece = frame.add_paragraph().add_run()
            piece.text = draw.bytes(30).hex()
            piece.font.size = Pt(int(draw.integers(8, 40)))
        written += 40 * 50
    for _ in range(4):
        pixels = draw.integers(0, 256, size=(max(8, size // 5 // 960), 320, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(pixels).save(out, "PNG")
        show.slides[0].shapes.add_picture(io.BytesIO(out.getvalue()), Cm(1), Cm(1), Cm(4), Cm(4))
    buffer = io.BytesIO()
    show.save(buffer)
    return buffer.getvalue()


UNDERLINE_DOUBLE = MSO_UNDERLINE.DOUBLE_LINE
