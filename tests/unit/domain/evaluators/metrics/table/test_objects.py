"""Rules of `compare_table` about charts, pivot tables and other things that lie on sheets or are set for them."""

from pathlib import Path
from typing import Any, ClassVar

import pytest
from openpyxl.worksheet.datavalidation import DataValidation  # type: ignore[import-untyped]

from backend.domain.evaluators.metrics.table.compare_table import compare_table, compare_table_waa
from tests.factories import xlsx

PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}


def score(result: Path, expected: Path | None, rule: dict[str, Any], *, strict: bool = False) -> float:
    gold = None if expected is None else str(expected)
    return compare_table(str(result), gold, rules=[rule], strict_upstream=strict).value


def book(path: Path, change: Any = None) -> Path:
    return xlsx.book(path, xlsx.SALES, None if change is None else lambda made: change(made["Sheet1"]))


class TestChart:
    @staticmethod
    def rule(*props: str) -> dict[str, Any]:
        return {"type": "chart", **PAIR, "chart_props": list(props)}

    @pytest.mark.parametrize(
        ("prop", "kind", "change"),
        [
            ("type", "line", {}),
            ("title", "bar", {"title": "Rents"}),
            ("legend", "bar", {"legend": "b"}),
            ("legend", "bar", {"legend": None}),
            ("direction", "bar", {"direction": "bar"}),
            ("xtitle", "bar", {"titles": ("Week", "Euro")}),
            ("ytitle", "bar", {"titles": ("Month", "Dollar")}),
            ("anchor", "bar", {"anchor": "F2"}),
            ("anchor", "bar", {"anchor": xlsx.two_cells((4, 1), (9, 12))}),
            ("width", "bar", {"anchor": xlsx.one_cell((4, 1), (8_000_000, 2_700_000))}),
            ("height", "bar", {"anchor": xlsx.one_cell((4, 1), (5_400_000, 6_000_000))}),
        ],
    )
    def test_every_chart_property_is_compared(
        self, tmp_path: Path, prop: str, kind: str, change: dict[str, Any]
    ) -> None:
        usual: dict[str, Any] = {"title": "Rent", "direction": "col", "titles": ("Month", "Euro")}
        gold = xlsx.charted(tmp_path / "gold.xlsx", **usual)
        result = xlsx.charted(tmp_path / "result.xlsx", kind, **{**usual, **change})
        assert score(gold, gold, self.rule(prop)) == 1.0
        assert score(result, gold, self.rule(prop)) == 0.0
        assert score(result, gold, self.rule()) == 1.0

    def test_letter_case_of_a_sheet(self, tmp_path: Path) -> None:
        gold = xlsx.charted(tmp_path / "gold.xlsx")
        lower = {"xl/charts/chart1.xml": lambda data: data.replace(b"Sheet1", b"sHEET1")}
        mine = xlsx.replaced(gold, lower, tmp_path / "mine.xlsx")
        other = {"xl/charts/chart1.xml": lambda data: data.replace(b"Sheet1", b"Sheet2")}
        wrong = xlsx.replaced(gold, other, tmp_path / "wrong.xlsx")
        assert [score(book, gold, self.rule()) for book in (mine, wrong)] == [1.0, 0.0]
        assert score(mine, gold, self.rule(), strict=True) == 0.0

    def test_chart_data_is_compared(self, tmp_path: Path) -> None:
        gold = xlsx.charted(tmp_path / "gold.xlsx")
        changes: dict[str, dict[str, Any]] = {
            "other": {"columns": (3,)}, "both": {"columns": (2, 3)}, "less": {"span": (1, 4)},
        }  # fmt: skip
        for name, change in changes.items():
            assert score(xlsx.charted(tmp_path / f"{name}.xlsx", **change), gold, self.rule()) == 0.0
        assert score(book(tmp_path / "none.xlsx"), gold, self.rule()) == 0.0

    def test_scatter_plots_have_data(self, tmp_path: Path) -> None:
        rows: list[list[Any]] = [["x", "y", "z"], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]
        gold = xlsx.charted(tmp_path / "gold.xlsx", "scatter", rows)
        other = xlsx.charted(tmp_path / "other.xlsx", "scatter", rows, columns=(3,))
        assert score(other, gold, self.rule("type")) == 0.0
        assert score(other, gold, self.rule("type"), strict=True) == 1.0

    def test_line_chart_has_no_direction(self, tmp_path: Path) -> None:
        line = xlsx.charted(tmp_path / "line.xlsx", "line")
        assert score(line, line, self.rule("type", "direction")) == 1.0
        assert score(line, line, self.rule("type", "direction"), strict=True) == 0.0

    def test_anchor_by_one_cell_is_read(self, tmp_path: Path) -> None:
        one = xlsx.charted(tmp_path / "one.xlsx")
        assert score(one, one, self.rule("anchor")) == 1.0
        assert score(one, one, self.rule("anchor"), strict=True) == 0.0

    def test_quotes_around_sheet_names(self, tmp_path: Path) -> None:
        """LibreOffice and Excel leave out quotes that a name does not need, openpyxl writes them."""
        gold = xlsx.charted(tmp_path / "gold.xlsx")
        part = {"xl/charts/chart1.xml": lambda old: old.replace(b"'Sheet1'!", b"Sheet1!")}
        result = xlsx.replaced(gold, part, tmp_path / "result.xlsx")
        assert score(result, gold, self.rule("type")) == 1.0
        assert score(result, gold, self.rule("type"), strict=True) == 0.0

    def test_titles_of_several_runs(self, tmp_path: Path) -> None:
        gold = xlsx.charted(tmp_path / "gold.xlsx", title="Rent")
        runs = b"<a:t>Rent</a:t></a:r><a:r><a:t> of 2024</a:t></a:r>"
        part = {"xl/charts/chart1.xml": lambda old: old.replace(b"<a:t>Rent</a:t></a:r>", runs)}
        result = xlsx.replaced(gold, part, tmp_path / "result.xlsx")
        assert score(result, gold, self.rule("title")) == 0.0
        assert score(result, gold, self.rule("title"), strict=True) == 1.0


class TestPivotTable:
    RULE: ClassVar[Any] = {
        "type": "pivot_table",
        "sheet_idx0": "RNSheet2",
        "sheet_idx1": "ENSheet2",
        "pivot_props": ["col_fields", "filter", "row_fields", "data_fields"],
    }

    @pytest.mark.parametrize(
        "change",
        [
            {"data": ((1, "count"),)},
            {"data": ((2, "sum"),)},
            {"row_fields": (), "column_fields": (0,)},
            {"row_fields": (2,), "page_fields": (0,)},
            {"data": ((1, "sum"), (2, "average")), "column_fields": (-2,)},
            {"hidden": {0: ["March"]}},
            {"source": "A1:C4"},
        ],
    )
    def test_nearly_equal_pivot_tables_score_0(self, tmp_path: Path, change: dict[str, Any]) -> None:
        gold, result = xlsx.pivoted(tmp_path / "gold.xlsx"), xlsx.pivoted(tmp_path / "result.xlsx", **change)
        for strict in (False, True):
            assert score(result, gold, self.RULE, strict=strict) == 0.0
            assert score(result, result, self.RULE, strict=strict) == 1.0

    def test_pivot_name_counts_only_on_request(self, tmp_path: Path) -> None:
        gold, result = xlsx.pivoted(tmp_path / "gold.xlsx"), xlsx.pivoted(tmp_path / "result.xlsx", name="Other")
        assert score(result, gold, self.RULE) == 1.0
        assert score(result, gold, {**self.RULE, "pivot_props": ["name"]}) == 0.0

    def test_unused_columns_of_the_source_do_not_count(self, tmp_path: Path) -> None:
        gold = xlsx.pivoted(tmp_path / "gold.xlsx")
        wider = [[*row, "more"] for row in xlsx.SALES]
        assert score(xlsx.pivoted(tmp_path / "result.xlsx", wider), gold, self.RULE) == 1.0

    def test_hidden_items_count_by_their_value(self, tmp_path: Path) -> None:
        gold = xlsx.pivoted(tmp_path / "gold.xlsx", hidden={0: ["March"]})
        same = xlsx.pivoted(tmp_path / "same.xlsx", hidden={0: ["March"]}, backwards=True)
        other = xlsx.pivoted(tmp_path / "other.xlsx", hidden={0: ["February"]}, backwards=True)
        assert [score(same, gold, self.RULE), score(other, gold, self.RULE)] == [1.0, 0.0]
        assert [score(same, gold, self.RULE, strict=True), score(other, gold, self.RULE, strict=True)] == [0.0, 1.0]

    def test_missing_sheet_scores_0(self, tmp_path: Path) -> None:
        gold = xlsx.pivoted(tmp_path / "gold.xlsx")
        result = compare_table(str(book(tmp_path / "result.xlsx")), str(gold), rules=[self.RULE])
        assert (result.value, result.reasons[0][-35:]) == (0.0, "there is no sheet 'RNSheet2', only Sheet1"[-35:])


class TestSparkline:
    RULE: ClassVar[Any] = {"type": "sparkline", **PAIR}

    def test_sparklines_are_compared_by_cell_and_range(self, tmp_path: Path) -> None:
        lines = {"F2": "Sheet1!B2:C2", "F3": "Sheet1!B3:C3"}
        gold = xlsx.sparkled(book(tmp_path / "gold.xlsx"), lines)
        quoted = {"F3": "'Sheet1'!$B$3:$C$3", "F2": "Sheet1!B2:C2"}
        assert score(xlsx.sparkled(book(tmp_path / "same.xlsx"), quoted), gold, self.RULE) == 1.0
        assert score(xlsx.sparkled(book(tmp_path / "less.xlsx"), {"F2": "Sheet1!B2:C2"}), gold, self.RULE) == 0.0
        assert score(book(tmp_path / "none.xlsx"), gold, self.RULE) == 0.0

    def test_sparklines_of_a_recreated_sheet_are_found(self, tmp_path: Path) -> None:
        lines = {"F2": "Sheet1!B2:C2"}
        gold = xlsx.sparkled(book(tmp_path / "gold.xlsx"), lines)
        result = xlsx.renumbered(xlsx.sparkled(book(tmp_path / "result.xlsx"), lines))
        assert score(result, gold, self.RULE) == 1.0
        assert score(result, gold, self.RULE, strict=True) == 0.0


class TestFreeze:
    RULE: ClassVar[Any] = {"type": "freeze", **PAIR}

    @pytest.mark.parametrize(("where", "value"), [("B2", 1.0), ("A2", 0.0), ("B1", 0.0), (None, 0.0)])
    def test_frozen_area_is_compared(self, tmp_path: Path, where: str | None, value: float) -> None:
        gold = book(tmp_path / "gold.xlsx", lambda sheet: setattr(sheet, "freeze_panes", "B2"))
        result = book(tmp_path / "result.xlsx", lambda sheet: setattr(sheet, "freeze_panes", where))
        assert score(result, gold, self.RULE) == value

    def test_scrolling_does_not_count(self, tmp_path: Path) -> None:
        gold = book(tmp_path / "gold.xlsx", lambda sheet: setattr(sheet, "freeze_panes", "B2"))
        part = {"xl/worksheets/sheet1.xml": lambda old: old.replace(b'topLeftCell="B2"', b'topLeftCell="B40"')}
        result = xlsx.replaced(gold, part, tmp_path / "result.xlsx")
        assert score(result, gold, self.RULE) == 1.0
        as_waa = compare_table_waa(str(result), str(gold), rules=[self.RULE], strict_upstream=True)
        assert as_waa.value == 0.0


class TestZoom:
    @pytest.mark.parametrize(("zoom", "value"), [(80, 1.0), (259, 1.0), (260, 0.0), (None, 1.0)])
    def test_zoom_is_compared_with_the_limit(self, tmp_path: Path, zoom: int | None, value: float) -> None:
        result = book(tmp_path / "result.xlsx", lambda sheet: setattr(sheet.sheet_view, "zoomScale", zoom))
        assert score(result, None, {"type": "zoom", "sheet_idx": 0, "method": "lt", "ref": 260}) == value


class TestDataValidation:
    PASS_FAIL: ClassVar[Any] = {
        "ranges": {"method": "spreadsheet_range", "ref": ["D2:D29", "D1:D1048576"]},
        "type": {"method": "eq", "ref": "list"},
        "formula1": {"method": "str_set_eq", "ref": ["Pass", "Fail", "Held"]},
    }

    @pytest.mark.parametrize(
        ("validations", "ours", "upstream"),
        [
            ([("D2:D29", "Pass,Fail,Held")], 1.0, 1.0),
            ([("D2:D40", "Held,Pass,Fail")], 1.0, 1.0),
            ([("D2:D20", "Pass,Fail,Held")], 0.0, 0.0),
            ([("C2:D29", "Pass,Fail,Held")], 0.0, 0.0),
            ([("D2:D29", "Pass,Fail")], 0.0, 0.0),
            ([], 0.0, 0.0),
            ([("D2:D29", "Pass,Fail,Held"), ("A1", "x")], 0.0, 0.0),
            ([("D2:D29", "Pass, Fail, Held")], 1.0, 0.0),
        ],
    )
    def test_list_validations_are_compared_by_cells_and_entries(
        self, tmp_path: Path, validations: list[tuple[str, str]], ours: float, upstream: float
    ) -> None:
        def change(sheet: Any) -> None:
            for cells, entries in validations:
                made = DataValidation(type="list", formula1=f'"{entries}"')
                made.add(cells)
                sheet.add_data_validation(made)

        rule = {"type": "data_validation", "sheet_idx": 0, "dv_props": [self.PASS_FAIL]}
        result = book(tmp_path / "result.xlsx", change)
        assert [score(result, None, rule), score(result, None, rule, strict=True)] == [ours, upstream]

    def test_every_description_is_needed(self, tmp_path: Path) -> None:
        def change(sheet: Any) -> None:
            for cells in ("A1", "A2"):
                made = DataValidation(type="whole", formula1="1")
                made.add(cells)
                sheet.add_data_validation(made)

        props = [{"type": {"method": "eq", "ref": kind}} for kind in ("whole", "list")]
        rule = {"type": "data_validation", "sheet_idx": 0, "dv_props": props}
        result = book(tmp_path / "result.xlsx", change)
        assert [score(result, None, rule), score(result, None, rule, strict=True)] == [0.0, 1.0]


class TestRowsAndColumns:
    ROWS: ClassVar[Any] = {"type": "row_props", **PAIR, "props": ["hidden"]}
    COLUMNS: ClassVar[Any] = {"type": "col_props", **PAIR, "props": ["hidden", "width"]}

    def test_hidden_rows_are_compared(self, tmp_path: Path) -> None:
        gold = book(tmp_path / "gold.xlsx", lambda sheet: setattr(sheet.row_dimensions[3], "hidden", True))
        other = book(tmp_path / "other.xlsx", lambda sheet: setattr(sheet.row_dimensions[4], "hidden", True))
        assert score(gold, gold, self.ROWS) == 1.0
        assert score(other, gold, self.ROWS) == 0.0
        assert score(book(tmp_path / "none.xlsx"), gold, self.ROWS) == 0.0

    def test_unstored_row_counts_as_shown(self, tmp_path: Path) -> None:
        said = book(tmp_path / "said.xlsx", lambda sheet: setattr(sheet.row_dimensions[3], "height", 15))
        assert score(said, book(tmp_path / "none.xlsx"), self.ROWS) == 1.0
        assert score(said, book(tmp_path / "none.xlsx"), self.ROWS, strict=True) == 0.0

    def test_column_properties_are_compared(self, tmp_path: Path) -> None:
        gold = book(tmp_path / "gold.xlsx", lambda sheet: setattr(sheet.column_dimensions["B"], "width", 30))
        other = book(tmp_path / "other.xlsx", lambda sheet: setattr(sheet.column_dimensions["B"], "width", 20))
        assert score(gold, gold, self.COLUMNS) == 1.0
        assert score(other, gold, self.COLUMNS) == 0.0
        assert score(other, gold, {**self.COLUMNS, "props": ["hidden"]}) == 1.0


class TestFilter:
    RULE: ClassVar[Any] = {"type": "filter", **PAIR}

    def filtered(self, path: Path, *values: str, ref: str = "A1:C5") -> Path:
        def change(sheet: Any) -> None:
            sheet.auto_filter.ref = ref
            sheet.auto_filter.add_filter_column(0, list(values))

        return book(path, change)

    def test_rows_shown_by_a_filter(self, tmp_path: Path) -> None:
        gold = self.filtered(tmp_path / "gold.xlsx", "May", "January")
        assert score(self.filtered(tmp_path / "same.xlsx", "January", "May"), gold, self.RULE) == 1.0
        assert score(self.filtered(tmp_path / "less.xlsx", "May"), gold, self.RULE) == 0.0
        assert score(self.filtered(tmp_path / "area.xlsx", "May", "January", ref="A1:B5"), gold, self.RULE) == 0.0
        assert score(book(tmp_path / "none.xlsx"), gold, self.RULE) == 0.0

    def test_filters_by_rank(self, tmp_path: Path) -> None:
        gold = self.filtered(tmp_path / "gold.xlsx", "May")
        paths = []
        for rank in (b"3", b"5"):
            new = b'<top10 val="' + rank + b'"/></filterColumn>'
            part = {"xl/worksheets/sheet1.xml": lambda old, new=new: old.replace(b"</filterColumn>", new)}
            paths.append(xlsx.replaced(gold, part, tmp_path / f"{rank.decode()}.xlsx"))
        three, five = paths
        assert [score(three, five, self.RULE), score(three, five, self.RULE, strict=True)] == [0.0, 1.0]
