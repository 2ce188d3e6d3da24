"""Reads text tables (CSV) as lines, in any encoding of an application."""

import re
from pathlib import Path

from backend.domain.formats.text import encoding_of

MAX_BYTES = 64 * 2**20
_LINE_END = re.compile(r"\r\n|\r|\n")


def read_lines(
    path: str | None, *, keep_mark: bool = False, as_published: bool = False
) -> tuple[list[str] | None, str]:
    """The lines of a file without line ends, or the reason why there are none.

    UTF-8 or UTF-16, with or without a byte-order mark; anything else as Latin-1.

    Args:
        path: path of the file.
        keep_mark: keep a byte-order mark in the first line.
        as_published: rarer separators (vertical tab, U+2028, ...) end a line, too, as in Python's `splitlines`.
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    text = _decode(Path(path).read_bytes(), keep_mark=keep_mark)
    if as_published:
        return text.splitlines(), ""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1], ""


def _decode(data: bytes, *, keep_mark: bool) -> str:
    wide = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else encoding_of(data)
    for encoding in (wide,) * (wide != "utf-8") + ("utf-8" if keep_mark else "utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def beside(workbook: str, sheet: str) -> str | None:
    """The CSV file that was exported from a sheet: `book-Sheet1.csv` beside `book.xlsx`; None if there is none.

    Copies of a getter's files are in the same folder, or each in a numbered one.
    """
    if not sheet or set(sheet) & {"/", "\\", "\0"}:
        return None
    book = Path(workbook)
    name = f"{book.stem}-{sheet}.csv"
    places = [book.parent / name]
    if book.parent.name.isdigit():
        places += sorted(folder / name for folder in book.parent.parent.iterdir() if folder.name.isdigit())
    return next((str(path) for path in places if path.is_file()), None)
