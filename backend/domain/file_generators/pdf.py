"""Writes small PDFs with Chinese and English text, without a library.

The font is the viewer's own: Adobe's Song in its predefined coding of Unicode, with a map back to Unicode so that
text can be copied out. Source: ISO 32000-1, 9.7.5.2 and 9.10.3.
"""

from collections.abc import Sequence

_LINE, _TOP, _LEFT = 20, 790, 60
_LINES_PER_PAGE = 36
_WIDEST = 44  # characters per line; a Chinese one counts as two
_TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Same def /CMapType 2 def "
    b"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange "
    b"endcmap end end"
)
_FONT = (
    (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UTF16-H "
        b"/DescendantFonts [4 0 R] /ToUnicode 6 0 R >>"
    ),
    (
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 5 0 R "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 /W [1 [500] 2 94 500] >>"
    ),
    (
        b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 "
        b"/Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>"
    ),
)
"""Objects 3 to 5 of the file."""


def pdf(lines: Sequence[str], pages: int = 1) -> bytes:
    """A PDF with those lines on at least that number of A4 pages; pages are blank without lines."""
    wrapped = [part for line in lines for part in _wrap(line)]
    per_page = max(1, min(_LINES_PER_PAGE, -(-len(wrapped) // pages))) if wrapped else 1
    cut = [wrapped[start : start + per_page] for start in range(0, len(wrapped), per_page)]
    cut += [[] for _ in range(pages - len(cut))]
    first = 7
    kids = b" ".join(b"%d 0 R" % (first + 2 * number) for number in range(len(cut)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(cut)),
        *_FONT,
        _stream(_TO_UNICODE),
    ]
    for number, page in enumerate(cut):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (first + 2 * number + 1)
        )
        objects.append(_stream(_content(page)))
    return _file(objects)


def _wrap(line: str) -> list[str]:
    lines, width, start = [], 0, 0
    for index, char in enumerate(line):
        width += 1 if char.isascii() else 2
        if width > 2 * _WIDEST:
            lines.append(line[start:index])
            start, width = index, 1 if char.isascii() else 2
    return [*lines, line[start:]]


def _content(lines: Sequence[str]) -> bytes:
    operators = [b"BT /F1 12 Tf %d TL %d %d Td" % (_LINE, _LEFT, _TOP)]
    operators += [b"<%s> Tj T*" % line.encode("utf-16-be").hex().encode() for line in lines]
    return b"\n".join([*operators, b"ET"])


def _stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def _file(objects: Sequence[bytes]) -> bytes:
    out, places = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in places)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(out))
    )
