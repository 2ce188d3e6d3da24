"""Workbooks of one sheet, written part by part, as programs other than openpyxl write them."""

import zipfile
from pathlib import Path

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DATE = '<cellXfs count="2"><xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'


def workbook(  # noqa: PLR0913 - parts of a file.
    path: Path,
    cells: str,
    *,
    sheet: str = "Sheet1",
    styles: str = DATE,
    before: str = "",
    after: str = "",
    links: str = "",
    properties: str = "",
    row: str = "",
) -> str:
    """One sheet: `cells` are those of row 2, `row` its attributes, `before` and `after` stand around the rows."""
    rels = f'<Relationships xmlns="{_PACKAGE}/relationships">{{}}</Relationships>'
    relation = f'<Relationship Id="{{}}" Type="{_R}/{{}}" Target="{{}}"/>'
    parts = relation.format("a", "worksheet", "worksheets/sheet1.xml") + relation.format("b", "styles", "styles.xml")
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": rels.format(relation.format("a", "officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": rels.format(parts),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_R}">{properties}'
        f'<sheets><sheet name="{sheet}" sheetId="1" r:id="a"/></sheets></workbook>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}" xmlns:r="{_R}">{before}<sheetData><row r="1">'
        f'<c r="A1" t="inlineStr"><is><t>h</t></is></c></row><row r="2" {row}>{cells}</row></sheetData>'
        f"{after}</worksheet>",
        "xl/worksheets/_rels/sheet1.xml.rels": rels.format(links),
    }
    with zipfile.ZipFile(path, "w") as out:
        for name, text in members.items():
            out.writestr(name, text)
    return str(path)
