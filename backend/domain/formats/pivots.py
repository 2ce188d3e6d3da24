"""Reads pivot tables: definition and cache (ECMA-376 part 1, 18.10)."""

from dataclasses import dataclass
from typing import Any

from backend.domain.formats.sheet import Bounds, bounds
from backend.domain.formats.workbook import Workbook


@dataclass(frozen=True)
class PivotItem:
    """One value of a field: hidden by a filter or not, its number in the cache, and the value as text."""

    hidden: bool
    number: int
    value: str


@dataclass(frozen=True)
class DataField:
    """A computed field: source field, name, aggregation and display."""

    field: int
    name: str
    subtotal: str
    show_as: str


@dataclass(frozen=True)
class Pivot:
    """One pivot table. Fields are numbers of source columns, counted from 0; -2 stands for "the values".

    Attributes:
        source_type: `worksheet`, `external`, ...
        source_sheet: sheet of the source.
        source: area of the source; None without one.
        source_name: name of a table or named range, if that is the source.
        fields: the items of each field, in the order of the source's columns.
        flags: attributes of the definition by name, with the standard's defaults.
        location: attributes of its place on the sheet.
    """

    name: str
    source_type: str
    source_sheet: str
    source: Bounds | None
    source_name: str
    fields: tuple[tuple[PivotItem, ...], ...]
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    pages: tuple[int, ...]
    data: tuple[DataField, ...]
    flags: tuple[tuple[str, bool], ...]
    location: tuple[tuple[str, str], ...]


def read_pivots(book: Workbook, sheet: str) -> list[Pivot] | None:
    """The pivot tables of a sheet; None if the sheet does not exist."""
    reference = book.place(sheet)
    if reference is None:
        return None
    parts = [part for kind, part in book.related(reference.part).values() if kind == "pivotTable"]
    return [_pivot(book, part, root) for part in parts if (root := book.xml(part)) is not None]


def _pivot(book: Workbook, part: str, root: Any) -> Pivot:
    caches = [target for kind, target in book.related(part).values() if kind == "pivotCacheDefinition"]
    cache = book.xml(caches[0]) if caches else None
    source = None if cache is None else cache.find("{*}cacheSource")
    where = None if source is None else source.find("{*}worksheetSource")
    name = "" if where is None else where.get("name", "")
    sheet, area = ("", "") if where is None else (where.get("sheet", ""), where.get("ref", ""))
    if name and not area:
        sheet, area = _named_area(book, name, sheet)
    location = root.find("{*}location")
    return Pivot(
        name=root.get("name", ""),
        source_type="" if source is None else source.get("type", ""),
        source_sheet=sheet,
        source=bounds(area),
        source_name=name,
        fields=_fields(root, cache),
        columns=_numbers(root, "colFields/{*}field", "x"),
        rows=_numbers(root, "rowFields/{*}field", "x"),
        pages=_numbers(root, "pageFields/{*}pageField", "fld"),
        data=tuple(map(_data, root.iterfind("{*}dataFields/{*}dataField"))),
        flags=tuple(
            (flag, _is_true(root.get(flag), default=default))
            for flag, default in (
                ("visualTotals", True),
                ("showEmptyRow", False),
                ("showEmptyCol", False),
                ("showHeaders", True),
            )
        ),
        location=() if location is None else tuple(sorted((str(key), str(value)) for key, value in location.items())),
    )


def _named_area(book: Workbook, name: str, sheet: str) -> tuple[str, str]:
    """Sheet and area of a named range or a table."""
    for item in book.root.iterfind("{*}definedNames/{*}definedName"):
        if item.get("name") == name and "!" in (item.text or ""):
            owner, _, area = str(item.text).rpartition("!")
            return owner.strip("'"), area
    for reference in book.places:
        for kind, part in book.related(reference.part).values():
            table = book.xml(part) if kind == "table" else None
            if table is not None and name in {table.get("name"), table.get("displayName")}:
                return reference.name, table.get("ref", "")
    return sheet, ""


def _fields(root: Any, cache: Any) -> tuple[tuple[PivotItem, ...], ...]:
    cache_fields = [] if cache is None else cache.findall("{*}cacheFields/{*}cacheField")
    fields = []
    for position, field in enumerate(root.iterfind("{*}pivotFields/{*}pivotField")):
        shared = cache_fields[position].find("{*}sharedItems") if position < len(cache_fields) else None
        values = [] if shared is None else [str(item.get("v", "")) for item in shared]
        items = [item for item in field.iterfind("{*}items/{*}item") if item.get("x") is not None]
        fields.append(tuple(_item(item, values) for item in items))
    return tuple(fields)


def _item(item: Any, values: list[str]) -> PivotItem:
    number = _whole(item.get("x"))
    value = values[number] if 0 <= number < len(values) else str(number)
    return PivotItem(_is_true(item.get("h"), default=False), number, value)


def _data(item: Any) -> DataField:
    return DataField(
        field=_whole(item.get("fld")),
        name=item.get("name", ""),
        subtotal=item.get("subtotal", "sum"),
        show_as=item.get("showDataAs", "normal"),
    )


def _numbers(root: Any, path: str, name: str) -> tuple[int, ...]:
    return tuple(_whole(item.get(name)) for item in root.iterfind(f"{{*}}{path}"))


def _is_true(text: str | None, *, default: bool) -> bool:
    return default if text is None else text not in {"0", "false", "f"}


def _whole(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0
