"""Reads untrusted PDF files with pdfium: pages, text, pictures.

Upstream uses MuPDF. Texts agree up to white space and the order of columns; docs/internals/evaluators.md lists the
resulting tolerances.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 128 * 2**20
MAX_PAGES = 5000
MAX_TEXT = 4 * 2**20
MAX_PICTURES = 500
MAX_PIXELS = 40 * 10**6
_DRAWN_PAGES = 200
_SIDE = 2000  # a page is drawn at 72 dpi, but no larger than this


class PdfRefused(Exception):  # noqa: N818 - like the domain's errors
    """The file cannot be read as a PDF; the message says why."""


@contextmanager
def open_pdf(path: str | None) -> Iterator[Any]:
    """The document (pypdfium2).

    Raises:
        PdfRefused: missing, too large, damaged or password-protected.
    """
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    if path is None or not Path(path).is_file():
        raise PdfRefused("the file does not exist")
    size = Path(path).stat().st_size
    if size > MAX_BYTES:
        raise PdfRefused(f"the file is larger than {MAX_BYTES // 2**20} MiB")
    data = Path(path).read_bytes()
    if b"%PDF-" not in data[:1024]:
        raise PdfRefused("the file is not a PDF")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise PdfRefused(f"the PDF cannot be read: {error}") from error
    try:
        yield document
    finally:
        document.close()


def count_pages(path: str | None) -> int:
    """Number of pages. Raises PdfRefused."""
    with open_pdf(path) as document:
        return len(document)


def read_text(path: str | None) -> str:
    """The text of all pages, stripped. Raises PdfRefused."""
    with open_pdf(path) as document:
        parts, length = list[str](), 0
        for page in _pages(document, MAX_PAGES):
            text = page.get_textpage()
            parts.append(str(text.get_text_bounded()).replace("\r\n", "\n"))
            text.close()
            length += len(parts[-1])
            if length > MAX_TEXT:
                break
        return "\n".join(parts)[:MAX_TEXT].strip()


def draw_pages(path: str | None) -> list["Image"]:
    """Pictures of the pages at 72 dpi. Raises PdfRefused."""
    with open_pdf(path) as document:
        return [_render(page) for page in _pages(document, _DRAWN_PAGES)]


def read_pictures(path: str | None) -> list["Image"]:
    """The pictures on the pages, in the order of drawing. Raises PdfRefused."""
    import pypdfium2 as pdfium
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE  # type: ignore[import-untyped]

    pictures: list[Image] = []
    with open_pdf(path) as document:
        for page in _pages(document, MAX_PAGES):
            for picture_object in page.get_objects(filter=(FPDF_PAGEOBJ_IMAGE,), max_depth=5):
                if len(pictures) >= MAX_PICTURES:
                    return pictures
                with suppress(pdfium.PdfiumError, OSError, ValueError):
                    width, height = picture_object.get_px_size()
                    if 0 < width * height <= MAX_PIXELS:
                        pictures.append(picture_object.get_bitmap().to_pil().convert("RGB"))
    return pictures


def _pages(document: Any, most: int) -> Iterator[Any]:
    import pypdfium2 as pdfium

    for number in range(min(len(document), most)):
        try:
            page = document[number]
        except pdfium.PdfiumError as error:
            raise PdfRefused(f"page {number + 1} cannot be read: {error}") from error
        yield page
        page.close()


def _render(page: Any) -> "Image":
    width, height = page.get_size()
    scale = min(1.0, _SIDE / max(width, height, 1.0))
    picture: Image = page.render(scale=scale).to_pil().convert("RGB")
    return picture
