"""PDF files with plain text, written by hand: one font, one page per sheet of lines."""

from collections.abc import Sequence
from pathlib import Path

LINES_A_PAGE = 50


def pdf(path: Path, lines: Sequence[str], *, filler: int = 0) -> str:
    """Writes the lines and about `filler` bytes of more text; returns the path."""
    more = [f"Line {number} of what else there is to say in this document." for number in range(filler // 70)]
    everything = [*lines, *more]
    sheets = [everything[start : start + LINES_A_PAGE] for start in range(0, len(everything), LINES_A_PAGE)]
    first = 4
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(sheets)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, sheet in enumerate(sheets):
        objects += [_page(first + 2 * number + 1), _content(sheet)]
    data, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    path.write_bytes(bytes(data) + end.encode() + trailer.encode())
    return str(path)


def _page(content: int) -> bytes:
    fonts = "/Resources << /Font << /F1 3 0 R >> >>"
    return f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {fonts} /Contents {content} 0 R >>".encode()


def _content(lines: Sequence[str]) -> bytes:
    escaped = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    text = "BT /F1 11 Tf 50 800 Td 15 TL\n" + "".join(f"({line}) Tj T*\n" for line in escaped) + "ET"
    return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream".encode()
