"""Rules of `compare_table` about what cells hold. The literal verdicts of `strict_upstream` are upstream's own."""

import datetime as dt
from pathlib import Path
from typing import Any, ClassVar

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.table._matching import ValueRule
from backend.domain.evaluators.metrics.table.compare_table import compare_table
from tests.error_codes import raises_code
from tests.factories import xlsx

PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}
DATA = {"type": "sheet_data", **PAIR}
DAY = dt.datetime(2024, 1, 5)  # noqa: DTZ001 - cells have no time zone.


def score(result: Path, expected: Path | None, *rules: dict[str, Any], strict: bool = False) -> float:
    gold = None if expected is None else str(expected)
    return compare_table(str(result), gold, rules=list(rules), strict_upstream=strict).value


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return xlsx.book(tmp_path / "gold.xlsx", xlsx.SALES)


class TestSheetName:
    def test_same_names_in_order(self, tmp_path: Path) -> None:
        one = xlsx.book(tmp_path / "one.xlsx", {"A": [], "B": []})
        other = xlsx.book(tmp_path / "other.xlsx", {"B": [], "A": []})
        assert score(one, one, {"type": "sheet_name"}) == 1.0
        assert score(one, other, {"type": "sheet_name"}) == 0.0

    def test_needs_an_expectation(self, gold: Path) -> None:
        with raises_code(EvaluatorFailed, "invalid_rule"):
            score(gold, None, {"type": "sheet_name"})


class TestSheetData:
    @pytest.mark.parametrize(
        ("row", "column", "value", "ours", "upstream"),
        [
            (2, 2, 295.25001, 1.0, 1.0),
            (2, 2, 295.2502, 0.0, 0.0),
            (2, 2, "295.25", 1.0, 1.0),
            (1, 1, "1200", 1.0, 1.0),
            (1, 1, "x", 0.0, 0.0),
            (1, 1, True, 0.0, 0.0),
            (1, 1, None, 0.0, 0.0),
            (1, 1, "NA", 0.0, 0.0),
            (1, 1, DAY, 0.0, 0.0),
            (1, 0, "january", 0.0, 0.0),
            (4, 0, "April ", 0.0, 0.0),
            (0, 1, "rent", 0.0, 0.0),
            (1, 1, 1200.00000001, 1.0, 0.0),  # pandas: a column of whole numbers is no column of fractions
        ],
    )
    def test_one_changed_cell_decides_by_its_type_and_rounding(  # noqa: PLR0913, PLR0917
        self, gold: Path, tmp_path: Path, row: int, column: int, value: Any, ours: float, upstream: float
    ) -> None:
        rows = [list(line) for line in xlsx.SALES]
        rows[row][column] = value
        result = xlsx.book(tmp_path / "result.xlsx", rows)
        assert score(result, gold, DATA) == ours
        assert score(result, gold, DATA, strict=True) == upstream

    @pytest.mark.parametrize(
        ("found", "wanted", "ours", "upstream"),
        [
            ([["a"], [1], ["#DIV/0!"], [2]], [["a"], [1], [None], [2]], 0.0, 1.0),
            ([["a"], [1], ["NA"], [2]], [["a"], [1], [None], [2]], 0.0, 1.0),
            ([["a"], [1], ["NA"], [2]], [["a"], [1], ["#N/A"], [2]], 1.0, 1.0),
            ([["a"], ["x"], [1.234567]], [["a"], ["x"], [1.234569]], 1.0, 0.0),
            ([["a"], ["TRUE"], ["FALSE"]], [["a"], [True], [False]], 1.0, 1.0),
            ([["a"], [1], [0]], [["a"], [True], [False]], 0.0, 0.0),
            ([["id"], ["0000123"], ["0004567"]], [["id"], [123], [4567]], 1.0, 1.0),
            ([["id"], ["0000123"], ["x"]], [["id"], [123], ["x"]], 0.0, 0.0),
            ([["a", "Unnamed: 1"], [1, 2]], [["a", None], [1, 2]], 0.0, 1.0),
            ([["a"], [45296]], [["a"], [DAY]], 0.0, 0.0),
            ([["a"], [dt.time(1, 2, 3)]], [["a"], [dt.time(1, 2, 3)]], 1.0, 1.0),
            ([["a"], [dt.timedelta(hours=30)]], [["a"], [dt.timedelta(hours=31)]], 0.0, 0.0),
            ([["a"], [1], [None]], [["a"], [1]], 1.0, 1.0),
            ([["a", "b"], [1, 2]], [["a"], [1]], 0.0, 0.0),
        ],
    )
    def test_kinds_of_values(
        self, tmp_path: Path, found: list[Any], wanted: list[Any], ours: float, upstream: float
    ) -> None:
        result, gold = xlsx.book(tmp_path / "result.xlsx", found), xlsx.book(tmp_path / "gold.xlsx", wanted)
        assert score(result, gold, DATA) == ours
        assert score(result, gold, DATA, strict=True) == upstream

    def test_ignore_case_is_honoured(self, gold: Path, tmp_path: Path) -> None:
        rows = [[each.upper() if isinstance(each, str) else each for each in line] for line in xlsx.SALES]
        result = xlsx.book(tmp_path / "result.xlsx", rows)
        assert score(result, gold, {**DATA, "ignore_case": True}) == 1.0
        assert score(result, gold, {**DATA, "ignore_case": True}, strict=True) == 0.0

    def test_precision_sets_the_rounding(self, tmp_path: Path) -> None:
        result, gold = (xlsx.book(tmp_path / f"{value}.xlsx", [["a"], [value]]) for value in (2.4, 2.3))
        assert score(result, gold, {**DATA, "precision": 0}) == 1.0
        assert score(result, gold, DATA) == 0.0

    def test_cached_values_of_formulas_count(self, gold: Path, tmp_path: Path) -> None:
        result = xlsx.computed(xlsx.book(tmp_path / "result.xlsx", xlsx.SALES), {"B3": ("B2+50", 1250)})
        assert score(result, gold, DATA) == 1.0
        wrong = xlsx.computed(xlsx.book(tmp_path / "wrong.xlsx", xlsx.SALES), {"B3": ("B2+50", "#NAME?")})
        assert score(wrong, gold, DATA) == 0.0

    def test_two_sheets_of_the_result(self, gold: Path, tmp_path: Path) -> None:
        result = xlsx.book(tmp_path / "result.xlsx", {"A": xlsx.SALES, "B": xlsx.SALES})
        assert score(result, gold, {**DATA, "sheet_idx1": 1}) == 1.0
        assert score(gold, result, {**DATA, "sheet_idx1": 1}) == 0.0

    def test_sheets_by_name(self, tmp_path: Path) -> None:
        both = xlsx.book(tmp_path / "both.xlsx", {"A": [["x"]], "B": xlsx.SALES})
        assert score(both, both, {**DATA, "sheet_idx0": "RNB", "sheet_idx1": "EI1"}) == 1.0
        assert score(both, both, {**DATA, "sheet_idx0": "RI-1", "sheet_idx1": "ENB"}) == 1.0

    def test_the_expectation_lacks_the_sheet(self, gold: Path) -> None:
        with raises_code(EvaluatorFailed, "invalid_reference", mentions="ENother"):
            score(gold, gold, {**DATA, "sheet_idx1": "ENother"})

    def test_reasons_name_the_cell(self, gold: Path, tmp_path: Path) -> None:
        rows = [list(line) for line in xlsx.SALES]
        rows[1][1] = 7
        result = compare_table(str(xlsx.book(tmp_path / "result.xlsx", rows)), str(gold), rules=[DATA])
        assert result.reasons == ("rule 1 (sheet_data): B2: got 7, expected 1200",)


class TestSheetPrint:
    RULE: ClassVar[Any] = {"type": "sheet_print", "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1"}

    def books(self, folder: Path, found: str, wanted: str) -> tuple[Path, Path]:
        made = []
        for name, text in (("result", found), ("gold", wanted)):
            made.append(xlsx.book(folder / f"{name}.xlsx", xlsx.SALES))
            (folder / f"{name}-Sheet1.csv").write_text(text)
        return made[0], made[1]

    def test_blanks_at_the_ends_do_not_count(self, tmp_path: Path) -> None:
        assert score(*self.books(tmp_path, "a,1.50 \n\n\n", "a,1.50"), self.RULE) == 1.0

    def test_digits_that_are_shown_count(self, tmp_path: Path) -> None:
        assert score(*self.books(tmp_path, "a,1.5", "a,1.50"), self.RULE) == 0.0

    def test_ignore_case_is_honoured(self, tmp_path: Path) -> None:
        books = self.books(tmp_path, "A,1.5M", "a,1.5m")
        assert score(*books, self.RULE) == 0.0
        assert score(*books, {**self.RULE, "ignore_case": True}) == 1.0

    def test_without_the_csv_file(self, tmp_path: Path) -> None:
        result, gold = self.books(tmp_path, "a", "a")
        (tmp_path / "result-Sheet1.csv").unlink()
        assert score(result, gold, self.RULE) == 0.0
        (tmp_path / "gold-Sheet1.csv").unlink()
        with raises_code(EvaluatorFailed, "invalid_reference"):
            score(gold, gold, self.RULE)

    def test_copies_in_numbered_folders(self, tmp_path: Path) -> None:
        result = xlsx.book(tmp_path / "0" / "result.xlsx", xlsx.SALES)
        (tmp_path / "1").mkdir()
        (tmp_path / "1" / "result-Sheet1.csv").write_text("a")
        gold = self.books(tmp_path, "b", "a")[1]
        assert score(result, gold, self.RULE) == 1.0

    def test_a_sheet_cannot_name_a_file_elsewhere(self, tmp_path: Path) -> None:
        gold = self.books(tmp_path, "a", "a")[1]
        result = xlsx.book(tmp_path / "deep" / "result.xlsx", {"x": []})
        (tmp_path / "deep" / "result-").mkdir()
        secret = {"xl/workbook.xml": lambda data: data.replace(b'name="x"', b'name="/../../gold-Sheet1"')}
        assert score(xlsx.replaced(result, secret), gold, {**self.RULE, "sheet_idx0": 0}) == 0.0


class TestSheetFuzzy:
    def rule(self, kind: str, cells: str, **options: Any) -> dict[str, Any]:
        return {"type": "sheet_fuzzy", **PAIR, "rules": [{"range": [cells], "type": kind, **options}]}

    @pytest.fixture
    def books(self, tmp_path: Path) -> tuple[Path, Path]:
        result: list[list[Any]] = [["name ", "+44 (20) 7"], ["12 Main St", 12], [None, "None"]]
        wanted: list[list[Any]] = [["Name", "44207"], ["12 Main Street", 12], [None, None]]
        return xlsx.book(tmp_path / "result.xlsx", result), xlsx.book(tmp_path / "gold.xlsx", wanted)

    @pytest.mark.parametrize(
        ("kind", "cells", "options", "value"),
        [
            ("exact_match", "A1", {}, 0.0),
            ("exact_match", "A1", {"ignore_case": True, "trim_trailings": " "}, 1.0),
            ("includes", "A1", {"ignore_case": True}, 1.0),
            ("included_by", "A1", {"ignore_case": True}, 0.0),
            ("included_by", "A2", {}, 1.0),
            ("fuzzy_match", "A2", {}, 0.0),
            ("fuzzy_match", "A2", {"threshold": 80}, 1.0),
            ("fuzzy_match", "A2", {"normalization": [["Street", "St"]]}, 1.0),
            ("includes", "B1", {"trim_leadings": "+ ", "ignore_chars": " ()-"}, 1.0),
            ("exact_match", "A3:A9", {}, 1.0),
            ("exact_match", "B2", {}, 1.0),
            ("exact_match", "A1:B2", {}, 0.0),
        ],
    )
    def test_every_comparison_method_works(
        self, books: tuple[Path, Path], kind: str, cells: str, options: dict[str, Any], value: float
    ) -> None:
        assert score(*books, self.rule(kind, cells, **options)) == value

    def test_empty_cell_does_not_equal_the_text_none(self, books: tuple[Path, Path]) -> None:
        assert score(*books, self.rule("exact_match", "B3")) == 0.0
        assert score(*books, self.rule("exact_match", "B3"), strict=True) == 1.0

    def test_every_cell_counts(self, tmp_path: Path, gold: Path) -> None:
        rows = [list(line) for line in xlsx.SALES]
        rows[1][1] = 7
        result = xlsx.book(tmp_path / "result.xlsx", rows)
        assert score(result, gold, self.rule("exact_match", "A1:C5")) == 0.0

    def test_recreated_sheet_is_found(self, tmp_path: Path, gold: Path) -> None:
        result = xlsx.renumbered(xlsx.book(tmp_path / "result.xlsx", xlsx.SALES))
        assert score(result, gold, self.rule("exact_match", "A1:C5")) == 1.0
        assert score(result, gold, self.rule("exact_match", "A1:C5"), strict=True) == 0.0


class TestValueRule:
    @pytest.mark.parametrize(
        ("value", "method", "ref", "ours", "upstream"),
        [
            (True, "eq", 1, False, True),
            (False, "eq", 0.0, False, True),
            (1.0, "eq", True, False, True),
            (1.0, "eq", 1, True, True),
            (True, "ne", 1, True, False),
            (True, "ge", 1, False, True),
            (True, "approx:0.1", 1, False, True),
            (True, "range.ee", [0, 2], False, True),
            (10**400, "approx:0.1", 1, False, False),
            (1.05, "approx:0.1", 1, True, True),
        ],
    )
    def test_values_by_type(  # noqa: PLR0913, PLR0917
        self, value: Any, method: str, ref: Any, ours: object, upstream: object
    ) -> None:
        rule = ValueRule(method=method, ref=ref)
        assert rule.matches(value) is ours
        assert rule.matches(value, strict=True) is upstream
