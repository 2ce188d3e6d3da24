"""Reads .xlsx workbooks part by part, from any program: Excel, LibreOffice, openpyxl or a script.

Cells have the application's last computed values. Sheets are found by their relationship, as the standard requires
(ECMA-376 part 1, 18.2.19), and read on demand. Numbers stay numbers: `cell_styles` tells whether one is a date.
Not by openpyxl: it takes seven times as long (decision 0021).
"""

import posixpath
import zipfile
from functools import cached_property
from typing import TYPE_CHECKING, Any

from backend.domain.formats._sheet_reader import SheetReader
from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import DAMAGE, check_package
from backend.domain.formats.sheet import DamagedWorkbook, Sheet, SheetRef, unescaped

if TYPE_CHECKING:
    from backend.domain.formats.cell_styles import CellStyles


class Workbook:
    """An open workbook. Every method raises DamagedWorkbook for an unreadable part."""

    def __init__(self, path: str) -> None:
        self.path = path
        with zipfile.ZipFile(path) as package:
            self._names = {name.lower(): name for name in package.namelist()}
        self._sheets: dict[str, Sheet] = {}

    def part(self, name: str) -> bytes | None:
        """The bytes of a part, None if it does not exist."""
        known = self._names.get(name.lower())
        if known is None:
            return None
        try:
            with zipfile.ZipFile(self.path) as package:
                return package.read(known)
        except DAMAGE as error:
            let_through(error)
            raise DamagedWorkbook(self.path, f"{name} cannot be unpacked: {type(error).__name__}") from error

    def xml(self, name: str) -> Any:
        """The root element of a part, None if it does not exist."""
        data = self.part(name)
        return None if data is None else self.parsed(data, name)

    def parsed(self, data: bytes, name: str) -> Any:
        """The root element of XML that belongs to a part."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        try:
            return etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            let_through(error, self.path)
            raise DamagedWorkbook(self.path, f"{name} is not XML: {str(error)[:80]}") from error

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """References of a part: relationship id -> (last word of its type, part or address)."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets = {}
        for item in () if root is None else root.iterfind("{*}Relationship"):
            target = item.get("Target", "")
            if item.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            targets[item.get("Id", "")] = (item.get("Type", "").rsplit("/", 1)[-1], target)
        return targets

    @cached_property
    def main(self) -> str:
        """The part that lists the sheets."""
        targets = [target for kind, target in self.related("").values() if kind == "officeDocument"]
        return targets[0] if targets else "xl/workbook.xml"

    @cached_property
    def root(self) -> Any:
        root = self.xml(self.main)
        if root is None:
            raise DamagedWorkbook(self.path, "the file is not a workbook")
        return root

    @cached_property
    def places(self) -> list[SheetRef]:
        """All sheets in the order of their tabs."""
        related = self.related(self.main)
        places = []
        for item in self.root.iterfind("{*}sheets/{*}sheet"):
            kind, part = related.get(relation(item), ("", ""))
            places.append(SheetRef(item.get("name", ""), part, item.get("sheetId", ""), kind))
        return places

    @property
    def names(self) -> list[str]:
        """Names of the worksheets in the order of their tabs."""
        return [sheet.name for sheet in self.places if sheet.kind == "worksheet"]

    @cached_property
    def epoch_1904(self) -> bool:
        """Whether day 0 is 1904-01-01, as on old Macs."""
        properties = self.root.find("{*}workbookPr")
        return properties is not None and properties.get("date1904") in {"1", "true"}

    @cached_property
    def active(self) -> str:
        """Name of the sheet that was active when the file was saved."""
        view = self.root.find("{*}bookViews/{*}workbookView")
        number = "0" if view is None else view.get("activeTab", "0")
        return next((sheet.name for index, sheet in enumerate(self.places) if str(index) == number), "")

    @cached_property
    def strings(self) -> list[str]:
        # openpyxl writes no relationship to them, which Excel accepts: then they are in the default place.
        usual = posixpath.join(posixpath.dirname(self.main), "sharedStrings.xml")
        root = self.xml(dict(self.related(self.main).values()).get("sharedStrings", usual))
        return [] if root is None else [rich_text(item) for item in root.iterfind("{*}si")]

    @cached_property
    def styles(self) -> "CellStyles":
        from backend.domain.formats.cell_styles import CellStyles

        parts = dict(self.related(self.main).values())
        return CellStyles(self.xml(parts.get("styles", "")), self.xml(parts.get("theme", "")))

    def place(self, name: str) -> SheetRef | None:
        """The sheet of that name, in whatever letter case, as in spreadsheets."""
        alike = [sheet for sheet in self.places if sheet.name.casefold() == name.casefold()]
        return next((sheet for sheet in alike if sheet.name == name), alike[0] if alike else None)

    def sheet(self, name: str) -> Sheet | None:
        """The worksheet of that name, read; None if it does not exist."""
        reference = self.place(name)
        if reference is None or reference.kind != "worksheet":
            return None
        if reference.name not in self._sheets:
            self._sheets[reference.name] = SheetReader(self, reference).read()
        return self._sheets[reference.name]


def read_workbook(path: str | None) -> tuple[Workbook | None, str]:
    """An open workbook, or the reason: missing, not a workbook, damaged, too large."""
    reason = check_package(path)
    if reason:
        return None, reason
    try:
        book = Workbook(str(path))
        places = book.places
    except (DamagedWorkbook, zipfile.BadZipFile, OSError) as error:
        let_through(error)
        return None, f"the workbook is damaged: {error}"
    return (book, "") if places else (None, "the workbook has no sheet")


def relation(element: Any) -> str:
    """The relationship id (`r:id`) of an element."""
    return next((str(value) for key, value in element.items() if key.endswith("}id") and "relationships" in key), "")


def rich_text(item: Any) -> str:
    """The text of a string item: all its runs, without phonetic runs."""
    texts = [child.text or "" for child in item.iterfind("{*}t")]
    return unescaped("".join(texts) + "".join(run.text or "" for run in item.iterfind("{*}r/{*}t")))
