"""Reads sparklines, which Excel and LibreOffice keep in an extension of the sheet (MS-XLSX 2.6.5)."""

from backend.domain.formats.charts import reference
from backend.domain.formats.sheet import Sheet


def read_sparklines(sheet: Sheet) -> dict[str, str]:
    """Cell -> data of its sparkline: `F3` -> `Sheet1!C3:E3`."""
    sparklines = {}
    for item in sheet.root.iterfind(".//{*}sparkline"):
        drawn, source = item.findtext("{*}sqref"), item.findtext("{*}f")
        if drawn:
            sparklines[drawn.replace("$", "")] = reference(source)
    return sparklines
