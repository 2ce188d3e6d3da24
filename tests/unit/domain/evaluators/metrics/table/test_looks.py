"""Rules of `compare_table` about what cells look like, conditional formats included."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl.formatting.rule import (  # type: ignore[import-untyped]
    CellIsRule,
    ColorScaleRule,
    FormulaRule,
    Rule,
)
from openpyxl.styles import Color, Font, PatternFill  # type: ignore[import-untyped]
from openpyxl.styles.differential import DifferentialStyle  # type: ignore[import-untyped]

from backend.domain.evaluators.metrics.table.compare_table import compare_table
from tests.factories import xlsx

RED = PatternFill("solid", fgColor="FFFF0000")
RED_IF = PatternFill(bgColor="FFFF0000")
DAYS = [["Day"], *([dt.datetime(2024, 1, day)] for day in range(1, 15))]  # noqa: DTZ001 - cells have no zone.


def style(*props: str) -> dict[str, Any]:
    return {"type": "style", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": list(props)}


def cell(coordinate: str, **props: Any) -> dict[str, Any]:
    rules = {name: {"method": "eq", "ref": value} for name, value in props.items()}
    return {"type": "check_cell", "sheet_idx": 0, "coordinate": coordinate, "props": rules}


def score(result: Path, expected: Path | None, rule: dict[str, Any], *, strict: bool = False) -> float:
    gold = None if expected is None else str(expected)
    return compare_table(str(result), gold, rules=[rule], strict_upstream=strict).value


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Workbooks of SALES with a change to their sheet."""

    def make(name: str, change: Callable[[Any], Any] = lambda _: None, rows: Any = xlsx.SALES) -> Path:
        return xlsx.book(tmp_path / f"{name}.xlsx", rows, lambda book: change(book["Sheet1"]))

    return make


def painted(*cells: str) -> Callable[[Any], None]:
    def change(sheet: Any) -> None:
        for where in cells:
            sheet[where].fill = RED

    return change


class TestCheckCell:
    @pytest.fixture
    def book(self, made: Callable[..., Path]) -> Path:
        def change(sheet: Any) -> None:
            sheet["B2"].fill, sheet["B2"].number_format = PatternFill("solid", fgColor="0000FF"), "0.00"
            sheet["B2"].font = Font(name="Arial", size=14, color="FFFFFFFF", bold=True, italic=True, underline="double")
            sheet["C3"].font = Font(color=Color(theme=4))
            sheet["C4"].hyperlink = "http://localhost/page"
            sheet.merge_cells("D1:F1")

        return made("book", change)

    @pytest.mark.parametrize(
        ("coordinate", "props"),
        [
            ("B2", {"value": 1200, "bgcolor": "FF0000FF", "font_color": "FFFFFFFF", "font_bold": True}),
            ("B2", {"number_format": "0.00", "font_name": "Arial", "font_size": 14, "font_italic": True}),
            ("B2", {"font_underline": "double", "fill_type": "patternFill", "fgcolor": "FF0000FF", "merge": False}),
            ("A2", {"value": "January", "font_bold": False, "bgcolor": "00000000", "font_underline": None}),
            ("C3", {"font_color": "FF4F81BD"}),
            ("C4", {"hyperlink": "http://localhost/page"}),
            ("A2", {"hyperlink": ""}),
            ("E1", {"merge": True}),
            ("D1", {"merge": False}),
            ("H9", {"value": None, "font_bold": None}),
        ],
    )
    def test_every_cell_property_is_compared(self, book: Path, coordinate: str, props: dict[str, Any]) -> None:
        assert score(book, None, cell(coordinate, **props)) == 1.0
        for name, value in props.items():
            assert score(book, None, cell(coordinate, **{name: "other" if value != "other" else "x"})) == 0.0

    @pytest.mark.parametrize(
        ("method", "ref", "value"),
        [
            ("approx:0.1", 1200.05, 1.0),
            ("approx:0.01", 1200.05, 0.0),
            ("ge", 1200, 1.0),
            ("lt", 1200, 0.0),
            ("range.te", [1199, 1200], 1.0),
            ("range.et", [1199, 1200], 0.0),
            ("re", "12", 0.0),
        ],
    )
    def test_values_are_compared_by_every_method(self, book: Path, method: str, ref: Any, value: float) -> None:
        rule = cell("B2", value=0) | {"props": {"value": {"method": method, "ref": ref}}}
        assert score(book, None, rule) == value

    def test_text_by_expression(self, book: Path) -> None:
        rule = cell("A2", value=0) | {"props": {"value": {"method": "re.I", "ref": "^JAN"}}}
        assert score(book, None, rule) == 1.0

    def test_truth_values_and_errors(self, made: Callable[..., Path]) -> None:
        book = made("values", rows=[[True, "#N/A"]])
        assert score(book, None, cell("A1", value=True)) == 1.0
        assert score(book, None, cell("A1", value=True), strict=True) == 0.0
        assert score(book, None, cell("B1", value="#N/A")) == 1.0


class TestStyle:
    def test_coloured_cells_must_be_the_expected_ones(self, made: Callable[..., Path]) -> None:
        gold = made("gold", painted("A2", "D9"))
        assert score(made("same", painted("D9", "A2")), gold, style("bgcolor")) == 1.0
        assert score(made("less", painted("A2")), gold, style("bgcolor")) == 0.0
        assert score(made("more", painted("A2", "D9", "B2")), gold, style("bgcolor")) == 0.0

    def test_plain_cells_further_out_do_not_count(self, made: Callable[..., Path]) -> None:
        result = made("result", lambda sheet: sheet.cell(40, 9).__setattr__("number_format", "0.0"))
        assert score(result, made("gold"), style("bgcolor")) == 1.0
        assert score(result, made("gold"), style("bgcolor"), strict=True) == 0.0

    def test_theme_colours_are_resolved(self, made: Callable[..., Path]) -> None:
        def font(**colour: Any) -> Callable[[Any], None]:
            return lambda sheet: setattr(sheet["A2"], "font", Font(name="Calibri", size=11, color=Color(**colour)))

        blue, written = made("blue", font(theme=4)), made("written", font(rgb="FF4F81BD"))
        other = made("other", font(theme=5))
        assert score(blue, written, style("font_color")) == 1.0
        assert score(blue, other, style("font_color")) == 0.0
        assert score(blue, other, style("font_color"), strict=True) == 1.0
        assert score(made("indexed", font(indexed=2)), made("red", font(rgb="FFFF0000")), style("font_color")) == 1.0
        assert score(made("black", font(rgb="FF000000")), made("auto"), style("font_color")) == 1.0

    def test_number_formats_of_formulas(self, made: Callable[..., Path], tmp_path: Path) -> None:
        def formula(code: str) -> Callable[[Any], None]:
            def change(sheet: Any) -> None:
                sheet["B6"], sheet["B6"].number_format = "=SUM(B2:B5)", code

            return change

        one, other = made("one", formula("0.00")), made("other", formula("0%"))
        for book in (one, other):
            data = {
                "xl/worksheets/sheet1.xml": lambda old: (
                    old.replace(b"<v></v>", b"<v>5100</v>")
                    .replace(b"<v/>", b"<v>5100</v>")
                    .replace(b"<v />", b"<v>5100</v>")
                )
            }
            xlsx.replaced(book, data)
        assert score(one, other, style("number_format")) == 0.0
        assert score(one, other, style("number_format"), strict=True) == 1.0

    def test_missing_sheet_scores_0(self, made: Callable[..., Path]) -> None:
        rule = style("bgcolor") | {"sheet_idx0": "RNother"}
        assert score(made("result"), made("gold"), rule) == 0.0


class TestConditionalFormats:
    """Each condition colours the cells that `gold` has in plain red."""

    @pytest.mark.parametrize(
        ("where", "rule", "cells"),
        [
            ("A2:A15", FormulaRule(formula=["WEEKDAY(A2,2)>5"], fill=RED_IF), ["A7", "A8", "A14", "A15"]),
            (
                "A2:A15",
                FormulaRule(formula=["OR(WEEKDAY($A2)=1,WEEKDAY($A2)=7)"], fill=RED_IF),
                ["A7", "A8", "A14", "A15"],
            ),
            ("A2:A15", FormulaRule(formula=['LEFT(TEXT(A2,"ddd"),1)="S"'], fill=RED_IF), ["A7", "A8", "A14", "A15"]),
            ("A2:A15", CellIsRule(operator="lessThan", formula=["45293"], fill=RED_IF), ["A2"]),
            ("A2:A15", CellIsRule(operator="between", formula=["45293", "$A$4"], fill=RED_IF), ["A3", "A4"]),
            ("A2:A15", CellIsRule(operator="notBetween", formula=["A3", "A15"], fill=RED_IF), None),
            ("A1:A3", FormulaRule(formula=["ISTEXT(A1)"], fill=RED_IF), ["A1"]),
            ("A2:A15", FormulaRule(formula=["ISNUMBER(MATCH(A2,$A$3:$A$4,0))"], fill=RED_IF), ["A3", "A4"]),
            (
                "A2:A15",
                FormulaRule(formula=["AND(COUNTIF($A$2:$A$15,A2)=1,MOD(ROW(A2),2)=0,A2<45294+1)"], fill=RED_IF),
                ["A2", "A4"],
            ),
            ("A2:A5", FormulaRule(formula=["MOD(ROW(),2)=COLUMN()-1"], fill=RED_IF), ["A2", "A4"]),
            ("A2:A15", FormulaRule(formula=["A2=INDEX($A$2:$A$15,3)"], fill=RED_IF), ["A4"]),
            ("A2:A15", FormulaRule(formula=["A2=INDEX($A$2:$A$15,2,1)"], fill=RED_IF), ["A3"]),
            ("A2:A15", FormulaRule(formula=["A2=INDEX($A$2:$A$15,99)"], fill=RED_IF), []),
            ("A1:A2", CellIsRule(operator="notEqual", formula=["45292"], fill=RED_IF), ["A1"]),
            ("A1:A2", CellIsRule(operator="greaterThan", formula=["45292"], fill=RED_IF), []),
            ("A2:A15", Rule("top10", rank=2, dxf=DifferentialStyle(fill=RED_IF)), ["A14", "A15"]),
            ("A2:A15", Rule("top10", rank=1, bottom=True, dxf=DifferentialStyle(fill=RED_IF)), ["A2"]),
            (
                "A1:A1",
                Rule(
                    "containsText",
                    operator="containsText",
                    text="day",
                    formula=['NOT(ISERROR(SEARCH("day",A1)))'],
                    dxf=DifferentialStyle(fill=RED_IF),
                ),
                ["A1"],
            ),
            ("A2:A15", Rule("duplicateValues", dxf=DifferentialStyle(fill=RED_IF)), []),
            ("A2:A3", Rule("aboveAverage", dxf=DifferentialStyle(fill=RED_IF)), ["A3"]),
            ("A2:A15", FormulaRule(formula=["TODAY()>A2"], fill=RED_IF), []),
            ("A2:A15", ColorScaleRule(start_type="min", start_color="FF0000", end_type="max", end_color="00FF00"), []),
        ],
    )
    def test_conditional_formats_are_evaluated(
        self, made: Callable[..., Path], where: str, rule: Any, cells: list[str] | None
    ) -> None:
        result = made("result", lambda sheet: sheet.conditional_formatting.add(where, rule), DAYS)
        wanted = ["A15"] if cells is None else cells
        gold = made("gold", painted(*wanted), DAYS)
        assert score(result, gold, style("bgcolor")) == (0.0 if cells is None else 1.0)
        assert score(result, made("other", painted("A9"), DAYS), style("bgcolor")) == 0.0

    def test_unsupported_formats_are_reported(self, made: Callable[..., Path]) -> None:
        rule = FormulaRule(formula=["NETWORKDAYS(A2,A2)=0"], fill=RED_IF)
        result = made("result", lambda sheet: sheet.conditional_formatting.add("A2:A15", rule), DAYS)
        score = compare_table(str(result), str(made("gold", rows=DAYS)), rules=[style("bgcolor")])
        assert score.value == 1.0
        assert any("NETWORKDAYS is not supported" in reason for reason in score.reasons)

    @pytest.mark.parametrize("look", [RED_IF, None])
    def test_stop_if_true_ends_later_conditions(self, made: Callable[..., Path], look: Any) -> None:
        def change(sheet: Any) -> None:
            first = FormulaRule(formula=["A2<45294"], fill=look, stopIfTrue=True)
            sheet.conditional_formatting.add("A2:A15", first)
            second = FormulaRule(formula=["A2<45296"], fill=RED_IF)
            sheet.conditional_formatting.add("A2:A15", second)

        cells = ["A4", "A5"] if look is None else ["A2", "A3", "A4", "A5"]
        assert score(made("result", change, DAYS), made("gold", painted(*cells), DAYS), style("bgcolor")) == 1.0

    def test_the_first_condition_wins(self, made: Callable[..., Path]) -> None:
        def change(sheet: Any) -> None:
            sheet.conditional_formatting.add("A2:A3", FormulaRule(formula=["A2>0"], fill=RED_IF))
            sheet.conditional_formatting.add(
                "A2:A15", FormulaRule(formula=["A2>0"], fill=PatternFill(bgColor="FF00FF00"), font=Font(bold=True))
            )

        def plain(sheet: Any) -> None:
            for row in range(2, 16):
                sheet.cell(row, 1).fill = RED if row < 4 else PatternFill("solid", fgColor="FF00FF00")
                sheet.cell(row, 1).font = Font(name="Calibri", size=11, bold=True)

        rule = style("bgcolor", "font_bold")
        assert score(made("result", change, DAYS), made("gold", plain, DAYS), rule) == 1.0
