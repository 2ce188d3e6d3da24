"""Reads the cells of one worksheet, possibly millions.

Excel, LibreOffice and openpyxl write cells in the same simple form, which regular expressions read faster than any
parser. If a single cell differs, expat reads the whole sheet.
"""

import math
import re
from typing import TYPE_CHECKING, Any, Protocol
from xml.parsers import expat
from xml.sax.saxutils import unescape

from backend.domain.formats.failures import let_through
from backend.domain.formats.sheet import (
    MAX_ROW,
    CellError,
    DamagedWorkbook,
    LinkFormula,
    Sheet,
    SheetRef,
    Value,
    bounds,
    column_number,
    serial,
    unescaped,
)

if TYPE_CHECKING:
    from backend.domain.formats.cell_styles import CellStyles

MAX_CELLS = 4_000_000
_ROW = re.compile(rb"<row((?: [^<>]*?)?)(?:/>|>(.*?)</row>)", re.DOTALL)
_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})\d{1,7}"(?: s="(\d{1,6})")?(?: t="([A-Za-z]+)")?(?:/>|>'
    rb"(<f(?: [^<>]*)?(?:/>|>[^<]*</f>))?(?:<v>([^<]*)</v>|<v/>)?(?:<is><t(?: [^<>]*)?>([^<]*)</t></is>)?</c>)"
)
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_PLAIN_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*encoding=[\"']utf-8[\"'][^>]*\?>\s*)?<worksheet", re.IGNORECASE
)
_OPEN, _CLOSE = b"<sheetData>", b"</sheetData>"
_MOST_DIGITS = 300
"""Longer numbers are no floats."""
_MOST_ARRAYS = 10_000
_TRUTHS = {"1": True, "true": True, "0": False, "false": False}
_ENTITIES = {"&quot;": '"', "&apos;": "'"}


class WorkbookPackage(Protocol):
    """Source of a sheet; `strings` are the shared strings."""

    @property
    def path(self) -> str:
        """Path of the file, for messages."""

    @property
    def epoch_1904(self) -> bool:
        """Whether day 0 is 1904-01-01."""

    @property
    def strings(self) -> list[str]:
        """Shared strings by their numbers."""

    @property
    def styles(self) -> "CellStyles":
        """Formats of its cells."""

    def part(self, name: str) -> bytes | None:
        """The bytes of a part, None if it does not exist."""

    def parsed(self, data: bytes, name: str) -> Any:
        """The root element of a part's XML."""


class SheetReader:
    """A single reading of one sheet; call `read` once."""

    def __init__(self, book: WorkbookPackage, reference: SheetRef) -> None:
        self._book, self._place, self._sheet, self._strings = book, reference, Sheet(reference), book.strings
        self._known: dict[str, int] = {}
        self._props: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = {}
        self._count = self._last = self._at = self._mark = 0
        self._within: list[int] = []
        self._cell: dict[str, str] | None = None
        self._small = False
        self._links: dict[str, LinkFormula] = {}
        self._call: dict[str, str] = {}
        self._text: list[str] = []
        self._pieces: list[str] = []
        self._row: tuple[list[int], list[Value], list[int]] = ([], [], [])

    def read(self) -> Sheet:
        """The sheet. Raises DamagedWorkbook."""
        data = self._book.part(self._place.part)
        if data is None:
            raise DamagedWorkbook(self._book.path, f"the sheet {self._place.name!r} is not in the file")
        try:
            if not self._quick(data):
                self._sheet, self._links, self._count, self._last = Sheet(self._place), {}, 0, 0
                self._parse(data)
        except (expat.ExpatError, ValueError, LookupError) as error:
            let_through(error, self._book.path)
            raise DamagedWorkbook(
                self._book.path, f"the sheet {self._place.name!r} is damaged: {str(error)[:80]}"
            ) from error
        # Without the cells, the rest is small enough for a tree.
        outside = data if not self._within else data[: self._within[0]] + data[self._within[1] :]
        self._sheet.root = self._book.parsed(outside, self._place.part)
        return self._sheet

    def _quick(self, data: bytes) -> bool:
        """Reads cells in the usual form; returns False without reading anything if a cell differs."""
        start, end = data.find(_OPEN), data.rfind(_CLOSE)
        if not 0 < start < end or b"<!" in data or not _PLAIN_START.match(data):
            return False
        region = data[start + len(_OPEN) : end]
        rows = _ROW.findall(region)
        if len(rows) != region.count(b"<row") or not all(self._quick_row(*row) for row in rows):
            return False
        self._within = [start, end + len(_CLOSE)]
        return True

    def _quick_row(self, attributes: bytes, content: bytes) -> bool:
        cells = _CELL.findall(content)
        if len(cells) != content.count(b"<c"):
            return False
        self._row_starts(dict(_ATTRIBUTE.findall(attributes.decode())))
        columns, values, marks = self._row
        known = self._known
        for name, style, kind, formula, text, inline in cells:
            value: Value = None
            if inline:
                value = unescaped(_plain(inline))
            elif text:
                value = self._number(text) if kind in (b"", b"n") else self._value(kind.decode(), _plain(text))
            mark = (2 * int(style) if style else 0) + (1 if formula else 0)
            if kind == b"d":
                mark = self._as_date(mark)
            if value is not None or mark:
                letters = name.decode()
                columns.append(known[letters] if letters in known else self._column(letters))
                if formula.startswith(b"<f ") or b"HYPERLINK" in formula.upper():
                    start, _, rest = formula.partition(b">")
                    self._formula(dict(_ATTRIBUTE.findall(start.decode())), _plain(rest[:-4]), columns[-1])
                values.append(value)
                marks.append(mark)
        self._row_ends()
        return True

    def _parse(self, data: bytes) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._root
        self._parser.EntityDeclHandler = _refuse_entities
        self._parser.Parse(data, True)

    def _root(self, name: str, _: dict[str, str]) -> None:
        """The first element shows the prefix of all names."""
        prefix = name.rpartition(":")[0]
        space = f"{prefix}:" if prefix else ""
        self._data, self._line, self._c = f"{space}sheetData", f"{space}row", f"{space}c"
        self._v, self._f, self._is, self._t, self._reading = (f"{space}{tag}" for tag in ("v", "f", "is", "t", "rPh"))
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._outside, self._after

    def _outside(self, name: str, _: dict[str, str]) -> None:
        if name == self._data and not self._within:
            self._within = [self._parser.CurrentByteIndex]
            self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end

    def _after(self, _: str) -> None:
        if len(self._within) == 1:
            self._within.append(self._parser.CurrentByteIndex)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == self._c:
            self._cell, self._pieces, self._call = attributes, [], {}
            self._mark = 2 * int(attributes["s"]) if "s" in attributes else 0
        elif name in (self._v, self._t):
            self._text = []
            self._parser.CharacterDataHandler = self._text.append
        elif name == self._f:
            self._mark += 1
            self._call, self._text = {"text": "", **attributes}, []
            self._parser.CharacterDataHandler = self._text.append
        elif name == self._line:
            self._row_starts(attributes)
        elif name == self._reading:
            self._small = True

    def _end(self, name: str) -> None:
        if name == self._c:
            self._cell_ends()
        elif name in (self._v, self._t):
            self._parser.CharacterDataHandler = None
            if not self._small:
                self._pieces += self._text
        elif name == self._f:
            self._parser.CharacterDataHandler = None
            self._call["text"] = "".join(self._text)
        elif name == self._line:
            self._row_ends()
        elif name == self._reading:
            self._small = False
        elif name == self._data:
            # The end tag is part of the cut: the next event follows it.
            self._parser.StartElementHandler, self._parser.EndElementHandler = self._next, self._after

    def _next(self, _: str, __: dict[str, str]) -> None:
        self._after("")
        self._parser.StartElementHandler = None

    def _row_starts(self, attributes: dict[str, str]) -> None:
        self._last = int(attributes.pop("r", self._last + 1))
        if not 0 < self._last <= MAX_ROW:
            raise ValueError(f"row {self._last}")
        self._row, self._at = ([], [], []), 0
        attributes.pop("spans", None)
        if attributes:
            props = tuple((key, value) for key, value in attributes.items() if ":" not in key)
            self._sheet.row_props[self._last] = self._props.setdefault(props, props)

    def _row_ends(self) -> None:
        if self._row[0]:
            self._sheet.rows[self._last] = self._row
            self._count += len(self._row[0])
        if self._count > MAX_CELLS:
            raise ValueError(f"more than {MAX_CELLS} cells")

    def _cell_ends(self) -> None:
        attributes = self._cell or {}
        if "r" in attributes:
            letters = attributes["r"].rstrip("0123456789")
            self._at = self._known[letters] if letters in self._known else self._column(letters)
        else:
            self._at += 1
        value: Value = self._value(attributes.get("t", "n"), "".join(self._pieces)) if self._pieces else None
        if attributes.get("t") == "d":
            self._mark = self._as_date(self._mark)
        if value is not None or self._mark:
            columns, values, marks = self._row
            columns.append(self._at)
            values.append(value)
            marks.append(self._mark)
        if self._call:
            self._formula(self._call, self._call["text"], self._at)

    def _formula(self, formula: dict[str, str], text: str, column: int) -> None:
        """Notes a formula that makes a link, and the area of one that fills cells without their own (18.3.1.40)."""
        if "HYPERLINK" in text.upper():
            self._sheet.link_formulas[self._last, column] = LinkFormula(text, (self._last, column))
            self._links[formula.get("si", "")] = self._sheet.link_formulas[self._last, column]
        elif formula.get("t") == "shared" and not text and formula.get("si") in self._links:
            self._sheet.link_formulas[self._last, column] = self._links[formula["si"]]
        area = bounds(formula.get("ref", "")) if formula.get("t") in {"array", "dataTable"} else None
        if area is not None and area[:2] != area[2:] and len(self._sheet.arrays) < _MOST_ARRAYS:
            self._sheet.arrays.append(area)

    def _as_date(self, mark: int) -> int:
        """The mark of a cell that is stored as a date, whatever its format is."""
        return 2 * self._book.styles.iso_date(mark >> 1) + (mark & 1)

    def _column(self, letters: str) -> int:
        self._known[letters] = column_number(letters)
        return self._known[letters]

    @staticmethod
    def _number(text: str | bytes) -> Value:
        if len(text) <= _MOST_DIGITS and text.isdigit():
            return int(text)
        number = float(text)
        if not math.isfinite(number) or (b"_" if isinstance(text, bytes) else "_") in text:  # type: ignore[operator]
            raise ValueError(f"{text[:40]!r} is not a number")
        return number

    def _value(self, kind: str, text: str) -> Value:
        match kind:
            case "n":
                return self._number(text)
            case "s":
                if not text.isascii() or not text.strip().isdigit():
                    raise ValueError(f"{text[:40]!r} is not the number of a text")
                return self._strings[int(text)]
            case "b":
                self._sheet.has_truths = True
                return _TRUTHS[text.strip()]
            case "e":
                return CellError(text)
            case "d":
                days = serial(text, epoch_1904=self._book.epoch_1904)
                return int(days) if days.is_integer() else days
            case _:
                return unescaped(text)


def _plain(text: bytes) -> str:
    """Unescapes XML text."""
    words = text.decode()
    if "&" not in words:
        return words
    if "&#" in words:
        words = re.sub(r"&#(x?)([0-9A-Fa-f]{1,6});", lambda match: chr(int(match[2], 16 if match[1] else 10)), words)
    return unescape(words, _ENTITIES)


def _refuse_entities(*_: Any) -> None:
    raise ValueError("it declares entities")
