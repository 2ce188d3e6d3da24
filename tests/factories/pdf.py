"""PDF files, written by hand: pages of text and pictures."""

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

Line = str


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("latin-1", "replace")


def pdf_bytes(
    pages: Sequence[str] = ("Hello",), pictures: Sequence[Image.Image] = (), *, padding: int = 0, quality: int = 90
) -> bytes:
    """A document with a page per text, and one more with all pictures side by side.

    Args:
        pages: each text's lines stand below each other.
        pictures: drawn on a last page of their own.
        padding: bytes that no page uses.
        quality: of the pictures' JPEG.
    """
    objects: list[bytes] = [b"", b""]  # 1 the catalogue, 2 the tree of pages

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(data: bytes, head: bytes = b"") -> int:
        return add(b"<< " + head + b" /Length %d >>\nstream\n" % len(data) + data + b"\nendstream")

    font = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids = []
    for text in pages:
        shown = b"".join(b"(%s) Tj T* " % _escaped(line) for line in text.split("\n"))
        content = stream(b"BT /F1 12 Tf 14 TL 50 780 Td " + shown + b"ET")
        resources = b"<< /Font << /F1 %d 0 R >> >>" % font
        kids.append(add(_page(content, resources)))
    if pictures:
        numbers = [stream(*_jpeg(picture, quality)) for picture in pictures]
        names = b" ".join(b"/I%d %d 0 R" % (n, n) for n in numbers)
        draw = b" ".join(b"q 100 0 0 100 %d 600 cm /I%d Do Q" % (20 + 110 * k, n) for k, n in enumerate(numbers))
        kids.append(add(_page(stream(draw), b"<< /XObject << " + names + b" >> >>")))
    if padding:
        stream(bytes(padding))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    return _file(objects)


def _page(content: int, resources: bytes) -> bytes:
    head = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
    return head + b"/Contents %d 0 R /Resources %s >>" % (content, resources)


def _jpeg(picture: Image.Image, quality: int) -> tuple[bytes, bytes]:
    data = io.BytesIO()
    picture.convert("RGB").save(data, "JPEG", quality=quality)
    head = b"/Type /XObject /Subtype /Image /Width %d /Height %d" % picture.size
    return data.getvalue(), head + b" /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"


def _file(objects: Sequence[bytes]) -> bytes:
    data, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(data)


def write_pdf(path: Path, pages: Sequence[str] = ("Hello",), pictures: Sequence[Image.Image] = (), **more: int) -> str:
    """`pdf_bytes` as a file; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pdf_bytes(pages, pictures, **more))
    return str(path)


def drawing(seed: int = 0, size: tuple[int, int] = (160, 120), colour: str = "navy") -> Image.Image:
    """A picture with shapes that differ by seed."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for k in range(5):
        x, y = (37 * (seed + 1) * (k + 1)) % (size[0] - 40), (53 * (seed + 2) * (k + 1)) % (size[1] - 30)
        draw.ellipse((x, y, x + 20 + 7 * ((seed + k) % 3), y + 28), fill=colour)
        draw.rectangle((y, x % (size[1] - 12), y + 30, x % (size[1] - 12) + 8), fill="black")
    return picture


def long_text(letters: int, seed: int = 0) -> list[str]:
    """Pages of about this many letters altogether."""
    pages = []
    for number in range(max(1, letters // 3000)):
        lines = [
            f"Line {line} of page {number}: {(number * 97 + line * 31 + seed) ** 3:x} and so on" for line in range(50)
        ]
        pages.append("\n".join(lines))
    return pages
