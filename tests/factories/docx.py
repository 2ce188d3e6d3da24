"""Text documents: .docx by python-docx with the XML that a test needs, .odt as zip files of XML."""

import io
import random
import string
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor
from lxml import etree
from PIL import Image

NAMESPACES = nsdecls("w", "r", "a", "wp", "pic") + (
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_JUSTIFY = {"left": 0, "center": 1, "right": 2}


@dataclass(frozen=True)
class R:
    """A run: `size` in points, `color` as six digits, `style` a character style's name.

    `look`: attributes of python-docx's font (`bold`, `italic`, `strike`, `subscript`, `name`, `highlight_color`).
    """

    text: str
    size: float | None = None
    color: str | None = None
    style: str | None = None
    look: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class P:
    """A paragraph of runs and texts.

    `spacing`: lines (float) or points (Pt). `xml`: elements added at its end, `properties`: to its properties.
    """

    parts: tuple[R | str, ...] = ()
    style: str | None = None
    align: str | None = None
    spacing: Any = None
    xml: str = ""
    properties: str = ""


@dataclass(frozen=True)
class T:
    """A table of cells by row."""

    rows: tuple[tuple["str | P", ...], ...]


@dataclass(frozen=True)
class Picture:
    """A paragraph that shows a picture file."""

    data: bytes


@dataclass(frozen=True)
class Xml:
    """An element of the body, as it is written there."""

    text: str


Block = str | P | T | Picture | Xml


def p(*parts: R | str, **how: Any) -> P:
    """A paragraph."""
    return P(parts, **how)


def r(text: str, *, size: float | None = None, color: str | None = None, style: str | None = None, **look: Any) -> R:
    """A run."""
    return R(text, size, color, style, look)


def table(*rows: tuple["str | P", ...]) -> T:
    """A table."""
    return T(rows)


def png(color: str = "red", size: tuple[int, int] = (8, 6), mode: str = "RGB") -> bytes:
    """A picture file of one colour."""
    out = io.BytesIO()
    Image.new(mode, size, color).save(out, "PNG")
    return out.getvalue()


def save(path: Path, *blocks: Block, footer: str | None = None, styles: str = "", empty: bool = False) -> str:
    """Writes a .docx file.

    Args:
        path: where.
        blocks: of the body.
        footer: XML of the first section's footer, paragraphs.
        styles: XML of styles, which replace those of the same id.
        empty: leave out the body's paragraphs altogether.
    """
    document = Document()
    for style in etree.fromstring(f"<x {NAMESPACES}>{styles}</x>"):
        _replace_style(document, style)
    for block in () if empty else blocks:
        _add(document, block)
    if footer is not None:
        section = document.sections[0].footer
        section.is_linked_to_previous = False
        element = section._element
        for child in list(element):
            element.remove(child)
        for child in _elements(footer):
            element.append(child)
    path.parent.mkdir(parents=True, exist_ok=True)
    document.save(str(path))
    return str(path)


def _replace_style(document: Any, style: Any) -> None:
    root = document.styles.element
    name = style.get(style.nsmap["w"].join("{}") + "styleId")
    for known in root.xpath(f'w:style[@w:styleId="{name}"]'):
        root.remove(known)
    root.append(parse_xml(etree.tostring(style)))


def _elements(xml: str) -> list[Any]:
    return list(parse_xml(f"<w:body {NAMESPACES}>{xml}</w:body>"))


def _add(document: Any, block: Block) -> None:
    if isinstance(block, Picture):
        document.add_picture(io.BytesIO(block.data))
    elif isinstance(block, Xml):
        last = document.element.body[-1]  # the section's properties
        for element in _elements(block.text):
            last.addprevious(element)
    elif isinstance(block, T):
        table = document.add_table(len(block.rows), max(map(len, block.rows)))
        for row, cells in zip(table.rows, block.rows, strict=True):
            for cell, content in zip(row.cells, cells, strict=False):
                _fill(cell.paragraphs[0], content)
    else:
        _fill(document.add_paragraph(), block)


def _fill(paragraph: Any, block: "str | P") -> None:
    block = P((block,) if block else ()) if isinstance(block, str) else block
    if block.style is not None:
        paragraph.style = block.style
    for part in block.parts:
        _run(paragraph, part if isinstance(part, R) else R(part))
    if block.align is not None:
        paragraph.alignment = _JUSTIFY[block.align]
    if block.spacing is not None:
        paragraph.paragraph_format.line_spacing = block.spacing
    for element in _elements(block.properties):
        paragraph._p.get_or_add_pPr().append(element)
    for element in _elements(block.xml):
        paragraph._p.append(element)


def _run(paragraph: Any, run: R) -> None:
    added_run = paragraph.add_run(run.text, style=run.style)
    if run.size is not None:
        added_run.font.size = Pt(run.size)
    if run.color is not None:
        added_run.font.color.rgb = RGBColor.from_string(run.color)
    for name, value in run.look.items():
        setattr(added_run.font, name, value)


_LETTERS = (string.ascii_lowercase * 10)[:256].encode()
"""A letter for every byte."""


def words(count: int, seed: int = 0) -> list[str]:
    """Words that hardly shrink when they are packed; none begins with a vowel."""
    draw = random.Random(seed)
    letters = draw.randbytes(9 * count).translate(_LETTERS).decode()
    lengths = draw.randbytes(count)
    return [f"k{letters[9 * at : 9 * at + 2 + lengths[at] % 8]}" for at in range(count)]


def large(path: Path, size: int, *, look: str = "", table: bool = False, join: str = " ") -> str:
    """A .docx file of about `size` bytes: paragraphs of ten words (of four with another `join`) that look alike."""
    text_words, words_per_line = words(size // 5), 10 if join == " " else 4
    lines = [
        join.join(text_words[start : start + words_per_line])
        for start in range(0, len(text_words) // words_per_line * words_per_line, words_per_line)
    ]
    properties = f"<w:rPr>{look}</w:rPr>" if look else ""
    paragraphs = [f"<w:p><w:r>{properties}<w:t>{line}</w:t></w:r></w:p>" for line in lines]
    if not table:
        return _body(save(path), "".join(paragraphs))
    cells = [f"<w:tc>{paragraph}</w:tc>" for paragraph in paragraphs]
    rows = ["<w:tr>" + "".join(cells[start : start + 4]) + "</w:tr>" for start in range(0, len(cells) // 4 * 4, 4)]
    layout = "<w:tblGrid>" + "<w:gridCol/>" * 4 + "</w:tblGrid>"
    return _body(save(path, "after the table"), f"<w:tbl>{layout}{''.join(rows)}</w:tbl>")


def _body(path: str, xml: str) -> str:
    """Puts elements before all others, as text: to take megabytes apart first takes longer than what is measured."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = members["word/document.xml"].decode()
    members["word/document.xml"] = document.replace("<w:body>", f"<w:body>{xml}", 1).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(name, data)
    return path


_ODT = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
}
_MIME = "application/vnd.oasis.opendocument.text"


def save_odt(path: Path, body: str, *, automatic: str = "", named: str = "", headers: str = "") -> str:
    """Writes an .odt file.

    Args:
        path: where.
        body: XML of `office:text`.
        automatic: XML of the automatic styles of `content.xml`.
        named: XML of the named styles.
        headers: XML of the master styles.
    """
    spaces = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in _ODT.items())
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    parts = [("/", _MIME), ("content.xml", "text/xml"), ("styles.xml", "text/xml")]
    entries = "".join(f'<m:file-entry m:full-path="{name}" m:media-type="{kind}"/>' for name, kind in parts)
    members = {
        "mimetype": _MIME,
        "content.xml": f'<office:document-content {spaces} office:version="1.3">'
        f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
        "styles.xml": f'<office:document-styles {spaces} office:version="1.3"><office:styles>{named}</office:styles>'
        f"<office:master-styles>{headers}</office:master-styles></office:document-styles>",
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="{manifest}" m:version="1.3">{entries}</m:manifest>',
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            out.writestr(name, text, compress_type=kind)
    return str(path)
