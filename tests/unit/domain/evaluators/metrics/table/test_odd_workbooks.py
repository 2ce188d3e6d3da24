"""Workbooks that other programs write, or nobody should: values in rarer forms, names, numbers that are none."""

import re
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.goals.sheet_goals import sheet_goals
from backend.domain.evaluators.metrics.table.compare_table import compare_table
from tests.factories.plain_xlsx import DATE, workbook
from tests.factories.xlsx import book, replaced


def table(actual: str, expected: str, kind: str = "sheet_data", **options: Any) -> float:
    rule = {"type": kind, "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1", **options}
    strict = rule.pop("strict_upstream", False)
    return compare_table(actual, expected, rules=[rule], strict_upstream=strict).value


OLD = '<workbookPr date1904="1"/>'


class TestDates:
    @pytest.mark.parametrize(
        ("iso", "number", "properties"),
        [
            ("2024-05-01", "45413", ""),
            ("2024-05-01T00:00:00", "45413", ""),
            ("2024-05-01T12:00:00Z", "45413.5", ""),
            ("2024-05-01T06:00:00.000", "45413.25", ""),
            ("T18:00:00", "0.75", ""),
            ("18:00:00", "0.75", ""),
            ("1900-01-01", "1", ""),
            ("1900-02-28", "59", ""),
            ("1900-03-01", "61", ""),
            ("1999-12-31", "36525", ""),
            ("2024-05-01", "43951", OLD),
            ("1904-01-02", "1", OLD),
        ],
    )
    def test_iso_dates_equal_serial_dates(self, tmp_path: Path, iso: str, number: str, properties: str) -> None:
        mine = workbook(tmp_path / "a.xlsx", f'<c r="A2" s="1" t="d"><v>{iso}</v></c>', properties=properties)
        gold = workbook(tmp_path / "b.xlsx", f'<c r="A2" s="1"><v>{number}</v></c>', properties=properties)
        other = workbook(tmp_path / "c.xlsx", '<c r="A2" s="1"><v>40000</v></c>', properties=properties)
        assert [table(mine, gold), table(mine, other)] == [1.0, 0.0]
        assert sheet_goals(mine, {"cells": {"Sheet1!A2": {"value": float(number)}}}).value == 1.0

    @pytest.mark.parametrize(("iso", "number"), [("2024-05-01", "45413"), ("2024-05-01T06:00:00", "45413.25")])
    def test_iso_date_without_a_date_format_is_a_date(self, tmp_path: Path, iso: str, number: str) -> None:
        mine = workbook(tmp_path / "a.xlsx", f'<c r="A2" t="d"><v>{iso}</v></c>')
        gold, plain = (
            workbook(tmp_path / f"{style}.xlsx", f'<c r="A2" s="{style}"><v>{number}</v></c>') for style in (1, 0)
        )
        assert [table(mine, gold), table(gold, mine), table(mine, plain), table(mine, mine)] == [1.0, 1.0, 0.0, 1.0]
        assert table(mine, gold, strict_upstream=True) == 1.0
        assert table(mine, gold, kind="style", props=["number_format"]) == 1.0
        huge = workbook(tmp_path / "huge.xlsx", f'<c r="A2" s="{10**15}"><v>{number}</v></c>')
        assert [table(huge, plain), table(huge, gold)] == [1.0, 0.0]

    @pytest.mark.parametrize("text", ["2024-13-01", "yesterday", "", "T", "12:00:99"])
    def test_text_that_is_not_a_date(self, tmp_path: Path, text: str) -> None:
        mine = workbook(tmp_path / "a.xlsx", f'<c r="A2" s="1" t="d"><v>{text}</v></c>')
        assert table(mine, workbook(tmp_path / "b.xlsx", '<c r="A2"><v>1</v></c>')) == 0.0


def test_strict_upstream_renames_repeated_columns_like_pandas(tmp_path: Path) -> None:
    def heads(name: str, *texts: str) -> str:
        return str(book(tmp_path / f"{name}.xlsx", {"Sheet1": [list(texts), [1, 2, 3]]}))

    mine, gold, other = heads("a", "x", "x", "x.1"), heads("b", "x", "x.2", "x.1"), heads("c", "x", "x.1", "x.1")
    assert [table(mine, one, strict_upstream=True) for one in (gold, other, mine)] == [1.0, 0.0, 1.0]
    assert [table(mine, one) for one in (gold, other)] == [0.0, 0.0]


class TestEpochs:
    """Days are counted from 1904 on old Macs."""

    CELL = '<c r="A2" s="1"><v>{}</v></c>'

    def test_the_same_number_is_another_date(self, tmp_path: Path) -> None:
        gold = workbook(tmp_path / "g.xlsx", self.CELL.format(45413))
        old = workbook(tmp_path / "o.xlsx", self.CELL.format(45413), properties=OLD)
        same = workbook(tmp_path / "s.xlsx", self.CELL.format(43951), properties=OLD)
        assert [table(mine, gold) for mine in (gold, old, same)] == [1, 0, 1]

    def test_a_plain_number_is_the_same(self, tmp_path: Path) -> None:
        gold = workbook(tmp_path / "g.xlsx", '<c r="A2"><v>45413</v></c>')
        assert table(workbook(tmp_path / "o.xlsx", '<c r="A2"><v>45413</v></c>', properties=OLD), gold) == 1


class TestValues:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("_xD83D__xDE00_", "\U0001f600"),
            ("a_xD83D__xDE00__x0041_", "a\U0001f600A"),
            ("_x005F_x0041_", "_x0041_"),
            ("_x0009_", "\t"),
            ("_xZZZZ_", "_xZZZZ_"),
        ],
    )
    def test_character_escapes_are_decoded(self, tmp_path: Path, text: str, shown: str) -> None:
        mine = workbook(tmp_path / "a.xlsx", f'<c r="A2" t="inlineStr"><is><t>x{text}</t></is></c>')
        assert sheet_goals(mine, {"cells": {"Sheet1!A2": {"value": f"x{shown}"}}}).value == 1.0

    def test_half_a_character(self, tmp_path: Path) -> None:
        mine = workbook(tmp_path / "a.xlsx", '<c r="A2" t="inlineStr"><is><t>x_xD83D_</t></is></c>')
        assert sheet_goals(mine, {"cells": {"Sheet1!A2": {"value": "x"}}}).value == 0.0

    @pytest.mark.parametrize("text", ["1_000", "1_0.5", "inf", "nan", "-Infinity", "1e999", "0x10", "1,5"])
    @pytest.mark.parametrize("cell", ['<c r="A2"><v>{}</v></c>', '<c r="A2" ><v>{}</v></c>'])
    def test_text_that_is_not_a_number(self, tmp_path: Path, text: str, cell: str) -> None:
        """In the usual form and in one that the quick reader leaves to the parser."""
        mine = workbook(tmp_path / "a.xlsx", cell.format(text))
        gold = workbook(tmp_path / "b.xlsx", '<c r="A2"><v>1000</v></c>')
        assert table(mine, gold) == 0.0
        assert sheet_goals(mine, {"cells": {"Sheet1!A2": {"value": 1000}}}).value == 0.0

    @pytest.mark.parametrize(
        ("kind", "text"),
        [("s", "-1"), ("s", "0_1"), ("s", "\N{ARABIC-INDIC DIGIT ONE}"), ("s", "5"), ("b", "2"), ("b", "yes")],
    )
    def test_invalid_texts_and_booleans_are_empty(self, tmp_path: Path, kind: str, text: str) -> None:
        path = book(tmp_path / "a.xlsx", [["first"], ["last"]])

        def change(sheet: bytes) -> bytes:
            cells = f'<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="{kind}"><v>{text}</v></c></row>'
            return re.sub(b"<sheetData>.*</sheetData>", f"{cells}</sheetData>".encode(), sheet)

        replaced(path, {"xl/worksheets/sheet1.xml": change})
        assert sheet_goals(str(path), {"cells": {"Sheet1!A1": {"value": "first"}}}).value == 0

    def test_typed_error_text_is_not_an_error(self, tmp_path: Path) -> None:
        typed = workbook(tmp_path / "a.xlsx", '<c r="A2" t="inlineStr"><is><t>#REF!</t></is></c>')
        error = workbook(tmp_path / "b.xlsx", '<c r="A2" t="e"><v>#REF!</v></c>')
        assert [table(typed, error), table(error, typed), table(error, error), table(typed, typed)] == [0, 0, 1, 1]


ONE = '<c r="A2"><v>1</v></c>'


class TestNames:
    @pytest.mark.parametrize(
        ("sheet", "where"),
        [
            ("Sheet1", "Sheet1!A2"),
            ("Sheet1", "'Sheet1'!A2"),
            ("Sheet1", "sheet1!A2"),
            ("Sheet1", "#0!A2"),
            ("Sheet1", "Sheet1!$A$2"),
            ("My sheet", "'my sheet'!A2"),
            ("Bob's", "'Bob''s'!A2"),
            ("Bob's", "Bob's!A2"),
            ("a!b", "a!b!A2"),
            ("Straße", "STRASSE!A2"),
        ],
    )
    def test_sheet_names_are_matched_ignoring_quotes_and_case(self, tmp_path: Path, sheet: str, where: str) -> None:
        mine = workbook(tmp_path / "a.xlsx", ONE, sheet=sheet)
        assert sheet_goals(mine, {"cells": {where: {"value": 1}}}).value == 1.0

    @pytest.mark.parametrize("where", ["A2", "!A2", "Sheet1!", "Sheet1", "Sheet1!2", "''!A2"])
    def test_a_rule_without_cell_is_the_tasks_fault(self, tmp_path: Path, where: str) -> None:
        with pytest.raises(EvaluatorFailed) as failure:
            sheet_goals(workbook(tmp_path / "a.xlsx", ONE), {"cells": {where: {"value": 1}}})
        assert failure.value.code == "invalid_rule"

    def test_a_sheet_without_a_name_is_the_agents(self, tmp_path: Path) -> None:
        mine = workbook(tmp_path / "a.xlsx", ONE, sheet="")
        assert sheet_goals(mine, {"cells": {"#0!A2": {"value": 2}}}).value == 0.0
        assert sheet_goals(mine, {"cells": {"#0!A2": {"value": 1}}}).value == 1.0

    def test_upstream_knows_sheets_by_their_exact_names(self, tmp_path: Path) -> None:
        mine = workbook(tmp_path / "a.xlsx", ONE, sheet="SHEET1")
        gold = workbook(tmp_path / "b.xlsx", ONE)
        assert [table(mine, gold), table(mine, gold, strict_upstream=True)] == [1.0, 0.0]


BROKEN: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "columns by letters": ("col_props", {"props": ["width"]}, {"before": '<cols><col min="x" max="2"/></cols>'}),
    "columns below zero": ("col_props", {"props": ["min"]}, {"before": '<cols><col min="-3" max="2"/></cols>'}),
    "columns backwards": ("col_props", {"props": ["width"]}, {"before": '<cols><col min="3" max="2"/></cols>'}),
    "a million columns": ("col_props", {"props": ["width"]}, {"before": '<cols><col min="1" max="1000000"/></cols>'}),
    "columns again and again": (
        "col_props",
        {"props": ["hidden"]},
        {"before": "<cols>" + '<col min="1" max="16384" hidden="1"/>' * 2000 + "</cols>"},
    ),
    "wide": ("col_props", {"props": ["width"]}, {"before": '<cols><col min="1" max="2" width="wide"/></cols>'}),
    "plain height": ("row_props", {"props": ["height"]}, {"before": '<sheetFormatPr defaultRowHeight="x"/>'}),
    "outline": (
        "col_props",
        {"props": ["outlineLevel"]},
        {"before": '<cols><col min="1" max="2" outlineLevel="q"/></cols>'},
    ),
}


class TestBroken:
    @pytest.mark.parametrize("name", BROKEN)
    def test_the_agents_file_is_0_the_tasks_an_error(self, tmp_path: Path, name: str) -> None:
        kind, options, parts = BROKEN[name]
        mine = workbook(tmp_path / "a.xlsx", ONE, **parts)
        gold = workbook(tmp_path / "b.xlsx", ONE)
        for strict in (False, True):
            assert table(mine, gold, kind, **options, strict_upstream=strict) == 0.0
        with pytest.raises(EvaluatorFailed) as failure:
            table(gold, mine, kind, **options)
        assert failure.value.code == "invalid_reference"

    def test_a_number_format_without_number(self, tmp_path: Path) -> None:
        styles = f'<numFmts><numFmt numFmtId="x" formatCode="0.00"/></numFmts>{DATE}'
        mine = workbook(tmp_path / "a.xlsx", '<c r="A2" s="1"><v>1</v></c>', styles=styles)
        gold = workbook(tmp_path / "b.xlsx", '<c r="A2" s="1"><v>1</v></c>')
        assert table(mine, gold) == 1.0
        assert table(mine, gold, "style", props=["number_format"]) == 1.0
