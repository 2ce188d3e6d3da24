"""Workbooks: made by openpyxl, with raw parts where it cannot write something (sparklines, pivot tables, odd files)."""

import io
import random
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook  # type: ignore[import-untyped]
from openpyxl.chart import (  # type: ignore[import-untyped]
    AreaChart,
    BarChart,
    BarChart3D,
    LineChart,
    PieChart,
    Reference,
    ScatterChart,
    Series,
)
from openpyxl.drawing.spreadsheet_drawing import (  # type: ignore[import-untyped]
    AnchorMarker,
    OneCellAnchor,
    TwoCellAnchor,
)
from openpyxl.drawing.xdr import XDRPositiveSize2D  # type: ignore[import-untyped]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHARTS = {
    "bar": BarChart, "line": LineChart, "pie": PieChart, "area": AreaChart, "scatter": ScatterChart,
    "bar3D": BarChart3D,
}  # fmt: skip
SALES: list[list[Any]] = [
    ["Month", "Rent", "Food"],
    ["January", 1200, 310.5],
    ["February", 1250, 295.25],
    ["March", 1300, 402],
    ["April", 1350, 388.75],
]
Rows = Sequence[Sequence[Any]]
Change = Callable[[Workbook], None]


def book(path: Path, sheets: Mapping[str, Rows] | Rows = (), change: Change | None = None) -> Path:
    """A workbook with these rows, in `Sheet1` if no names are given. `change` gets it before it is saved."""
    named = sheets if isinstance(sheets, Mapping) else {"Sheet1": sheets}
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in named.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    if change is not None:
        change(workbook)
    path.parent.mkdir(parents=True, exist_ok=True)
    workbook.save(path)
    return path


def edited(path: Path, change: Change, to: Path | None = None) -> Path:
    """The workbook after a change by openpyxl, which drops what it does not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        workbook = load_workbook(path)
    change(workbook)
    workbook.save(to or path)
    return to or path


def computed(path: Path, values: Mapping[str, tuple[str, Any]], sheet: str = "sheet1") -> Path:
    """Gives cells a formula and the value that an application computed: `B5` -> (`SUM(B2:B4)`, 12)."""

    def change(data: bytes) -> bytes:
        from lxml import etree

        root = etree.fromstring(data)
        for address, (formula, value) in values.items():
            cell: Any = root.find(f".//{{*}}c[@r='{address}']")
            cell.clear()
            kind = {str: "e" if str(value).startswith("#") else "str", bool: "b"}.get(type(value), "n")
            cell.set("r", address)
            cell.set("t", kind)
            etree.SubElement(cell, f"{{{MAIN}}}f").text = formula
            etree.SubElement(cell, f"{{{MAIN}}}v").text = str(int(value) if isinstance(value, bool) else value)
        return etree.tostring(root)

    return replaced(path, {f"xl/worksheets/{sheet}.xml": change})


def replaced(path: Path, parts: Mapping[str, Callable[[bytes], bytes]], to: Path | None = None) -> Path:
    """The same package with some parts changed; missing parts are created."""
    with zipfile.ZipFile(path) as package:
        contents = {name: package.read(name) for name in package.namelist()}
    for name, change in parts.items():
        contents[name] = change(contents.get(name, b""))
    return packed(to or path, contents)


def packed(path: Path, contents: Mapping[str, bytes]) -> Path:
    """A package of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in contents.items():
            package.writestr(name, data)
    path.write_bytes(buffer.getvalue())
    return path


def chart(  # noqa: PLR0913 - each is a property of a chart.
    kind: str,
    sheet: Any,
    *,
    title: str | None = None,
    legend: str | None = "r",
    direction: str | None = None,
    titles: tuple[str | None, str | None] = (None, None),
    columns: Iterable[int] = (2,),
    span: tuple[int, int] = (1, 5),
) -> Any:
    """A chart of columns of a sheet by its first one; `titles` are those of the x and y axis, `span` its rows."""
    chart_object = CHARTS[kind]()
    for column in columns:
        values = Reference(sheet, min_col=column, min_row=span[0], max_row=span[1])
        if kind == "scatter":
            xs = Reference(sheet, min_col=1, min_row=span[0] + 1, max_row=span[1])
            ys = Reference(sheet, min_col=column, min_row=span[0] + 1, max_row=span[1])
            chart_object.series.append(Series(ys, xs))
        else:
            chart_object.add_data(values, titles_from_data=True)
    if kind != "scatter":
        chart_object.set_categories(Reference(sheet, min_col=1, min_row=span[0] + 1, max_row=span[1]))
    chart_object.title = title
    if legend is None:
        chart_object.legend = None
    else:
        chart_object.legend.position = legend
    if direction is not None:
        chart_object.barDir = direction
    if kind != "pie":
        chart_object.x_axis.title, chart_object.y_axis.title = titles
    return chart_object


def two_cells(start: tuple[int, int], to: tuple[int, int], edit_as: str | None = None) -> TwoCellAnchor:
    """An anchor from (column, row) to (column, row), counted from 0."""
    corners = [AnchorMarker(col=column, row=row) for column, row in (start, to)]
    return TwoCellAnchor(editAs=edit_as, _from=corners[0], to=corners[1])


def one_cell(start: tuple[int, int], size: tuple[int, int]) -> OneCellAnchor:
    """An anchor at (column, row) with a size in EMU."""
    return OneCellAnchor(_from=AnchorMarker(col=start[0], row=start[1]), ext=XDRPositiveSize2D(*size))


def charted(path: Path, kind: str = "bar", rows: Rows = SALES, anchor: Any = "E2", **properties: Any) -> Path:
    """A workbook with one sheet and one chart of it."""

    def change(workbook: Workbook) -> None:
        drawn = chart(kind, workbook["Sheet1"], **properties)
        if isinstance(anchor, str):
            workbook["Sheet1"].add_chart(drawn, anchor)
        else:
            drawn.anchor = anchor
            workbook["Sheet1"].add_chart(drawn)

    return book(path, rows, change)


def sparkled(path: Path, lines: Mapping[str, str], sheet: str = "sheet1") -> Path:
    """Gives a sheet sparklines, as Excel writes them: `F2` -> `Sheet1!B2:E2`."""
    x14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
    xm = "http://schemas.microsoft.com/office/excel/2006/main"
    sparkline = "".join(
        f"<x14:sparkline><xm:f>{shown}</xm:f><xm:sqref>{drawn}</xm:sqref></x14:sparkline>"
        for drawn, shown in lines.items()
    )
    extension = (
        f'<extLst><ext xmlns:x14="{x14}" uri="{{05C60535-1F16-4fd2-B633-F4F36F0B64E0}}"><x14:sparklineGroups '
        f'xmlns:xm="{xm}"><x14:sparklineGroup type="line"><x14:sparklines>{sparkline}</x14:sparklines>'
        "</x14:sparklineGroup></x14:sparklineGroups></ext></extLst></worksheet>"
    )
    part = f"xl/worksheets/{sheet}.xml"
    return replaced(path, {part: lambda data: data.replace(b"</worksheet>", extension.encode())})


def pivoted(  # noqa: PLR0913 - each is a property of a pivot table.
    path: Path,
    rows: Rows = SALES,
    *,
    row_fields: Sequence[int] = (0,),
    column_fields: Sequence[int] = (),
    page_fields: Sequence[int] = (),
    data: Sequence[tuple[int, str]] = ((1, "sum"),),
    hidden: Mapping[int, Iterable[str]] | None = None,
    backwards: bool = False,
    name: str = "PivotTable1",
    source: str | None = None,
) -> Path:
    """A workbook with `Sheet1` (the rows) and `Sheet2` with a pivot table of them, as raw parts.

    Args:
        path: where to.
        rows: the source, its first row the names.
        row_fields: numbers of source columns, as `column_fields` and `page_fields`.
        column_fields: -2 stands for the values.
        page_fields: what it can be filtered by.
        data: (number, how it is summed up).
        hidden: field -> values that a filter hides.
        backwards: the cache numbers its items from the last one, as another application may.
        name: of the table.
        source: the area, if not that of all rows.
    """
    book(path, {"Sheet1": rows, "Sheet2": [["Pivot"]]})
    width, height = len(rows[0]), len(rows)
    used = {*row_fields, *column_fields, *page_fields}
    values = {column: list(dict.fromkeys(str(row[column]) for row in rows[1:])) for column in range(width)}
    if backwards:
        values = {column: items[::-1] for column, items in values.items()}
    cache = _cache(source or f"A1:{chr(64 + width)}{height}", [str(name) for name in rows[0]], values)
    fields = "".join(
        _field(column, used, data, values[column], (hidden or {}).get(column, ())) for column in range(width)
    )
    listed = {"rowFields": row_fields, "colFields": column_fields}
    axes = "".join(
        f'<{tag} count="{len(numbers)}">' + "".join(f'<field x="{number}"/>' for number in numbers) + f"</{tag}>"
        for tag, numbers in listed.items()
        if numbers
    )
    pages = "".join(f'<pageField fld="{number}" hier="-1"/>' for number in page_fields)
    pages = f'<pageFields count="{len(page_fields)}">{pages}</pageFields>' if page_fields else ""
    totals = "".join(
        f'<dataField name="{how} of {number}" fld="{number}"' + (f' subtotal="{how}"' if how != "sum" else "") + "/>"
        for number, how in data
    )
    table = (
        f'<pivotTableDefinition xmlns="{MAIN}" name="{name}" cacheId="1" dataCaption="Values">'
        '<location ref="A3:B8" firstHeaderRow="1" firstDataRow="1" firstDataCol="1"/>'
        f'<pivotFields count="{width}">{fields}</pivotFields>{axes}{pages}'
        f'<dataFields count="{len(data)}">{totals}</dataFields></pivotTableDefinition>'
    )
    return _with_pivot(path, table, cache)


def _cache(area: str, names: Sequence[str], values: Mapping[int, Sequence[str]]) -> str:
    caches = "".join(
        f'<cacheField name="{names[column]}" numFmtId="0"><sharedItems count="{len(items)}">'
        + "".join(f'<s v="{item}"/>' for item in items)
        + "</sharedItems></cacheField>"
        for column, items in values.items()
    )
    return (
        f'<pivotCacheDefinition xmlns="{MAIN}" xmlns:r="{RELATIONS}" refreshOnLoad="1" recordCount="0">'
        f'<cacheSource type="worksheet"><worksheetSource ref="{area}" sheet="Sheet1"/></cacheSource>'
        f'<cacheFields count="{len(names)}">{caches}</cacheFields></pivotCacheDefinition>'
    )


def _with_pivot(path: Path, table: str, cache: str) -> Path:
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    types = (
        f'<Override PartName="/xl/pivotTables/pivotTable1.xml" ContentType="{kinds}pivotTable+xml"/>'
        f'<Override PartName="/xl/pivotCache/pivotCacheDefinition1.xml" ContentType="{kinds}pivotCacheDefinition+xml"/>'
        "</Types>"
    )
    return replaced(
        path,
        {
            "xl/pivotTables/pivotTable1.xml": lambda _: table.encode(),
            "xl/pivotCache/pivotCacheDefinition1.xml": lambda _: cache.encode(),
            "xl/pivotTables/_rels/pivotTable1.xml.rels": lambda _: _relations("pivotCacheDefinition", "../pivotCache/"),
            "xl/worksheets/_rels/sheet2.xml.rels": lambda _: _relations("pivotTable", "../pivotTables/"),
            "xl/workbook.xml": lambda old: old.replace(
                b"</workbook>",
                f'<pivotCaches><pivotCache xmlns:r="{RELATIONS}" cacheId="1" r:id="rId77"/></pivotCaches>'.encode()
                + b"</workbook>",
            ),
            "xl/_rels/workbook.xml.rels": lambda old: old.replace(
                b"</Relationships>",
                f'<Relationship Id="rId77" Type="{RELATIONS}/pivotCacheDefinition" '
                'Target="pivotCache/pivotCacheDefinition1.xml"/></Relationships>'.encode(),
            ),
            "[Content_Types].xml": lambda old: old.replace(b"</Types>", types.encode()),
        },
    )


def _field(
    column: int, used: set[int], data: Sequence[tuple[int, str]], values: list[str], hidden: Iterable[str]
) -> str:
    summed = ' dataField="1"' if column in {number for number, _ in data} else ""
    if column not in used:
        return f'<pivotField{summed} showAll="0"/>'
    items = "".join(
        f'<item{" h=" + chr(34) + "1" + chr(34) if value in hidden else ""} x="{number}"/>'
        for number, value in enumerate(values)
    )
    count = len(values) + 1
    listed = f'<items count="{count}">{items}<item t="default"/></items>'
    return f'<pivotField{summed} axis="axisRow" showAll="0">{listed}</pivotField>'


def _relations(kind: str, folder: str) -> bytes:
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = f'<Relationship Id="rId1" Type="{RELATIONS}/{kind}" Target="{folder}{kind}1.xml"/>'
    return f'<Relationships xmlns="{package}">{relation}</Relationships>'.encode()


def renumbered(path: Path, start: int = 7) -> Path:
    """Gives the sheets other ids, as after removing and adding some."""

    def change(data: bytes) -> bytes:
        from lxml import etree

        root = etree.fromstring(data)
        for number, sheet in enumerate(root.iterfind("{*}sheets/{*}sheet"), start):
            sheet.set("sheetId", str(number))
        return etree.tostring(root)

    return replaced(path, {"xl/workbook.xml": change})


def sized(path: Path, size: int, seed: int = 7) -> Path:
    """A workbook of about this many bytes: numbers and words in eight columns, like a table of measurements."""
    draw = random.Random(seed)
    places = ["north", "south", "east", "west", "total", "average"]
    rows = max(10, size // 57)
    book(path, [["Name", "Place", *(f"Value {number}" for number in range(6))]])
    texts = ["Name", "Place", *(f"Value {number}" for number in range(6)), *places]
    lines = ["".join(_text(1, column, column - 1) for column in range(1, 9))]
    for row in range(2, rows + 2):
        texts.append(f"{draw.choice(places)} {row}")
        values = (f'<c r="{chr(66 + at)}{row}"><v>{draw.uniform(0, 10_000):.2f}</v></c>' for at in range(1, 7))
        lines.append(_text(row, 1, len(texts) - 1) + _text(row, 2, draw.randrange(8, 14)) + "".join(values))
    body = "".join(f'<row r="{number}">{cells}</row>' for number, cells in enumerate(lines, 1))
    strings = "".join(f"<si><t>{text}</t></si>" for text in texts)
    parts = {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
    }
    return replaced(path, {name: lambda _, text=text: text.encode() for name, text in parts.items()})  # type: ignore[misc]


def _text(row: int, column: int, number: int) -> str:
    return f'<c r="{chr(64 + column)}{row}" t="s"><v>{number}</v></c>'
