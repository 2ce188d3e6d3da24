"""The same content in the forms of several programs, and what only looks alike."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from backend.domain.evaluators.metrics.goals.sheet_goals import sheet_goals
from backend.domain.evaluators.metrics.table.compare_table import compare_table
from tests.factories.plain_xlsx import DATE, workbook

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DAY = '<c r="A2" s="1"><v>45413</v></c>'
YELLOW = (
    '<fonts><font/><font><b/></font></fonts><fills><fill/><fill/><fill><patternFill patternType="solid">'
    '<fgColor rgb="FFFFFF00"/></patternFill></fill></fills><cellXfs><xf/><xf fillId="2"/><xf fontId="1"/></cellXfs>'
)
FILTER = '<autoFilter ref="A1:B9">{}</autoFilter>'
COLUMN = '<filterColumn colId="0">{}</filterColumn>'
X_OR_Y = FILTER.format(COLUMN.format('<filters><filter val="x"/><filter val="y"/></filters>'))
OVER_5 = FILTER.format(COLUMN.format('<customFilters><customFilter operator="greaterThan" val="5"/></customFilters>'))

SORT = '<sortState ref="A2:B9"><sortCondition ref="A2:A9"/></sortState>'


def with_table(path: Path, filters: str, sort: str = "") -> str:
    """A workbook whose sheet has a table with a filter; none without `filters`."""
    link = f'<Relationship Id="t" Type="{_R}/table" Target="../tables/table1.xml"/>' if filters else ""
    book = workbook(path, "", links=link, after='<tableParts count="1"><tablePart r:id="t"/></tableParts>')
    content = f'<table xmlns="{_MAIN}" id="1" name="T" displayName="T" ref="A1:B9">{filters}{sort}</table>'
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("xl/tables/table1.xml", content)
    return book


def pair(actual: str, expected: str, kind: str, **options: Any) -> float:
    strict = options.pop("strict_upstream", False)
    rule = {"type": kind, "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1", **options}
    return compare_table(actual, expected, rules=[rule], strict_upstream=strict).value


def cell(book: str, coordinate: str, name: str, ref: Any, *, strict_upstream: bool = False) -> float:
    props = {name: {"method": "eq", "ref": ref}}
    rule = {"type": "check_cell", "sheet_idx": "RNSheet1", "coordinate": coordinate, "props": props}
    return compare_table(book, None, rules=[rule], strict_upstream=strict_upstream).value


class TestDates:
    @pytest.mark.parametrize("number", [27, 30, 31, 36, 50, 57, 58])
    def test_formats_built_into_eastern_versions(self, tmp_path: Path, number: int) -> None:
        gold = workbook(tmp_path / "b.xlsx", DAY)
        mine = workbook(tmp_path / "a.xlsx", DAY, styles=DATE.replace('"14"', f'"{number}"'))
        assert [pair(mine, gold, "sheet_data", strict_upstream=strict) for strict in (False, True)] == [1.0, 0.0]

    @pytest.mark.parametrize(
        ("code", "is_date"),
        [
            ("e", True),
            ("gggge", True),
            ("[$-F800]dddd", True),
            ("0.00e+00", False),
            ("General", False),
            ("0\\d", False),
        ],
    )
    def test_years_of_eras(self, tmp_path: Path, code: str, *, is_date: bool) -> None:
        styles = f'<numFmts><numFmt numFmtId="170" formatCode="{code}"/></numFmts>' + DATE.replace('"14"', '"170"')
        mine = workbook(tmp_path / "a.xlsx", DAY, styles=styles)
        assert pair(mine, workbook(tmp_path / "b.xlsx", DAY), "sheet_data") == float(is_date)


class TestFormulas:
    @pytest.mark.parametrize("kind", ["array", "dataTable"])
    @pytest.mark.parametrize("comment", ["", "<!-- read by the slower reader -->"])
    def test_cells_of_an_array_formula_are_told_apart(self, tmp_path: Path, kind: str, comment: str) -> None:
        first = f'{comment}<c r="A2"><f t="{kind}" ref="A2:B2">C2:D2*2</f><v>2</v></c>'
        book = workbook(tmp_path / "a.xlsx", f'{first}<c r="B2"><v>4</v></c><c r="C2"><v>4</v></c>')
        goals = [sheet_goals(book, {"cells": {f"Sheet1!{x}2": {"value": 4, "formula": True}}}).value for x in "BC"]
        assert goals == [1.0, 0.0]

    def test_an_empty_text(self, tmp_path: Path) -> None:
        book = workbook(tmp_path / "a.xlsx", '<c r="A2" t="str"><f>IF(1,"")</f><v></v></c><c r="B2"><v>0</v></c>')
        assert sheet_goals(book, {"cells": {"Sheet1!A2": {"value": "", "formula": True}}}).value == 1.0
        assert sheet_goals(book, {"cells": {"Sheet1!B2": {"value": ""}}}).value == 0.0


class TestFormatsOfRowsAndColumns:
    @pytest.mark.parametrize(
        ("before", "attributes", "shown"),
        [
            ('<cols><col min="2" max="9" style="1"/></cols>', "", True),
            ("", 's="1" customFormat="1"', True),
            ('<cols><col min="2" max="9" style="2"/></cols>', 's="1" customFormat="1"', True),
            ("", 's="1"', False),
            ('<cols><col min="1" max="2" style="1"/></cols>', "", False),
            ('<cols><col min="x" max="9" style="1"/></cols>', "", False),
        ],
    )
    def test_a_cell_that_is_not_stored(self, tmp_path: Path, before: str, attributes: str, *, shown: bool) -> None:
        book = workbook(tmp_path / "a.xlsx", '<c r="A2"><v>1</v></c>', styles=YELLOW, before=before, row=attributes)
        gold = workbook(tmp_path / "b.xlsx", '<c r="A2"><v>1</v></c><c r="C2" s="1"/>', styles=YELLOW)
        assert cell(book, "C2", "bgcolor", "FFFFFF00") == float(shown)
        assert pair(book, gold, "style", props=["bgcolor"]) == pair(gold, book, "style", props=["bgcolor"])
        assert pair(book, gold, "style", props=["bgcolor"]) == float(shown)
        assert cell(book, "C2", "bgcolor", "FFFFFF00", strict_upstream=True) == 0.0

    def test_a_stored_cell_has_its_own(self, tmp_path: Path) -> None:
        before = '<cols><col min="1" max="9" style="1"/></cols>'
        book = workbook(tmp_path / "a.xlsx", '<c r="A2" s="0"><v>1</v></c>', styles=YELLOW, before=before)
        gold = workbook(tmp_path / "b.xlsx", '<c r="A2" s="1"><v>1</v></c>', styles=YELLOW)
        assert cell(book, "A2", "bgcolor", "FFFFFF00") == 0.0
        assert pair(book, gold, "style", props=["bgcolor"]) == 0.0

    @pytest.mark.parametrize("size", ["0", "0.0", "9"])
    def test_without_height_or_width_is_hidden(self, tmp_path: Path, size: str) -> None:
        mine = workbook(
            tmp_path / "a.xlsx", "", before=f'<cols><col min="2" max="2" width="{size}"/></cols>', row=f'ht="{size}"'
        )
        gold = workbook(
            tmp_path / "b.xlsx", "", before='<cols><col min="2" max="2" hidden="1"/></cols>', row='hidden="1"'
        )
        for kind in ("row_props", "col_props"):
            assert pair(mine, gold, kind, props=["hidden"]) == float(size != "9")
            assert pair(mine, gold, kind, props=["hidden"], strict_upstream=True) == 0.0


class TestFilters:
    @pytest.mark.parametrize(
        ("mine", "gold", "same"),
        [
            (X_OR_Y.replace("A1:B9", "$A$1:$B$9"), X_OR_Y, True),
            (
                FILTER.format(
                    COLUMN.format('<customFilters><customFilter val="y"/><customFilter val="x"/></customFilters>')
                ),
                X_OR_Y,
                True,
            ),
            (
                FILTER.format(
                    COLUMN.format(
                        '<customFilters and="1"><customFilter val="y"/><customFilter val="x"/></customFilters>'
                    )
                ),
                X_OR_Y,
                False,
            ),
            (
                FILTER.format(
                    COLUMN.format('<customFilters><customFilter val="y*"/><customFilter val="x"/></customFilters>')
                ),
                X_OR_Y,
                False,
            ),
            (OVER_5.replace("<customFilters>", '<customFilters and="1">').replace('"5"', '"5.0"'), OVER_5, True),
            (OVER_5.replace("greaterThan", "greaterThanOrEqual"), OVER_5, False),
            (X_OR_Y.replace("</autoFilter>", '<filterColumn colId="1"/></autoFilter>'), X_OR_Y, True),
            (X_OR_Y.replace("<filters>", '<filters blank="1">'), X_OR_Y, False),
        ],
    )
    def test_filters_are_equal_if_they_show_the_same(self, tmp_path: Path, mine: str, gold: str, *, same: bool) -> None:
        actual, expected = (workbook(tmp_path / f"{x}.xlsx", "", after=text) for x, text in (("a", mine), ("b", gold)))
        assert pair(actual, expected, "filter") == float(same)
        assert pair(actual, expected, "filter", strict_upstream=True) == 0.0

    @pytest.mark.parametrize(
        ("mine", "gold", "same"),
        [
            ((X_OR_Y, ""), (X_OR_Y, ""), True),
            ((X_OR_Y, ""), (X_OR_Y.replace('"y"', '"z"'), ""), False),
            ((X_OR_Y, ""), (FILTER.format(""), ""), False),
            ((FILTER.format(""), SORT), (FILTER.format(""), ""), False),
            ((FILTER.format(""), SORT), (FILTER.format(""), SORT.replace("A2:A9", "B2:B9")), False),
            ((X_OR_Y, SORT), (X_OR_Y, SORT), True),
            ((X_OR_Y, ""), (X_OR_Y.replace("A1:B9", "A1:B8"), ""), False),
            (("", ""), (FILTER.format(""), ""), True),
        ],
    )
    def test_filters_of_tables(
        self, tmp_path: Path, mine: tuple[str, str], gold: tuple[str, str], *, same: bool
    ) -> None:
        """The filter and the order of a table that covers the cells."""
        actual, expected = (with_table(tmp_path / f"{x}.xlsx", *parts) for x, parts in (("a", mine), ("b", gold)))
        assert [pair(actual, expected, "filter"), pair(expected, actual, "filter")] == [float(same)] * 2
        assert pair(actual, expected, "filter", strict_upstream=True) == 1.0

    def test_a_table_shows_the_same_as_the_sheet(self, tmp_path: Path) -> None:
        table, other = with_table(tmp_path / "a.xlsx", X_OR_Y), with_table(tmp_path / "b.xlsx", OVER_5)
        sheet = workbook(tmp_path / "c.xlsx", "", after=X_OR_Y)
        assert [pair(book, sheet, "filter") for book in (table, other)] == [1.0, 0.0]


class TestOthers:
    def test_defaults_of_validations(self, tmp_path: Path) -> None:
        def fits(attributes: str, name: str, ref: object) -> float:
            item = f'<dataValidation type="whole" sqref="A2" {attributes}><formula1>1</formula1></dataValidation>'
            book = workbook(tmp_path / "a.xlsx", "", after=f"<dataValidations>{item}</dataValidations>")
            props = [{name: {"method": "eq", "ref": ref}}]
            rule = {"type": "data_validation", "sheet_idx": "RNSheet1", "dv_props": props}
            return compare_table(book, None, rules=[rule]).value

        assert [fits("", "operator", ref) for ref in ("between", None, "equal")] == [1.0, 1.0, 0.0]
        assert [fits('operator="between"', "operator", ref) for ref in ("between", None, "equal")] == [1.0, 1.0, 0.0]
        assert [fits("", "errorStyle", ref) for ref in ("stop", "warning")] == [1.0, 0.0]

    def test_frozen_area_must_begin_at_the_same_cell(self, tmp_path: Path) -> None:
        view = '<sheetViews><sheetView {}><pane ySplit="1" topLeftCell="A{}" state="frozen"/></sheetView></sheetViews>'
        gold, scrolled, below, aside = (
            workbook(tmp_path / f"{number}.xlsx", "", before=view.format(*parts))
            for number, parts in enumerate((("", 2), ("", 30), ('topLeftCell="A5"', 6), ('topLeftCell="D1"', 2)))
        )
        assert [pair(book, gold, "freeze") for book in (scrolled, below, aside)] == [1.0, 0.0, 1.0]
        assert pair(below, gold, "freeze", strict_upstream=True) == 1.0

    def test_links_over_several_cells(self, tmp_path: Path) -> None:
        links = f'<Relationship Id="l" Type="{_R}/hyperlink" Target="https://a.org/" TargetMode="External"/>'
        book = workbook(
            tmp_path / "a.xlsx",
            '<c r="A2"><v>1</v></c><c r="B2"><v>1</v></c><c r="C2"><v>1</v></c>',
            after='<hyperlinks><hyperlink ref="A2:B2" r:id="l"/>'
            '<hyperlink ref="C2" r:id="l" location="b"/></hyperlinks>',
            links=links,
        )
        for coordinate, target in (("B2", "https://a.org/"), ("C2", "https://a.org/#b")):
            assert cell(book, coordinate, "hyperlink", target) == 1.0
            assert cell(book, coordinate, "hyperlink", target, strict_upstream=True) == 0.0
