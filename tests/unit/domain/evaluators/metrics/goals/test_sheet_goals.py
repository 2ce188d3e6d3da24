import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook  # type: ignore[import-untyped]

from backend.domain.evaluators.metrics.goals.sheet_goals import sheet_goals


@pytest.fixture
def path(tmp_path: Path) -> str:
    book = Workbook()
    book.active.title = "Sales"
    book.active["A1"], book.active["B1"] = "Total", 358.5
    book.save(tmp_path / "book.xlsx")
    return str(tmp_path / "book.xlsx")


def with_formula(path: str) -> str:
    """Writes a computed cell as an application does: formula and cached value."""
    target = path.replace("book", "computed")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = data.replace(b"<v>358.5</v>", b"<f>SUM(B2:B4)</f><v>358.5</v>")
            new.writestr(name, data)
    return target


class TestSheetGoals:
    @pytest.mark.parametrize("where", ["Sales!B1", "#0!B1"])
    def test_cell_value_is_found_by_sheet_name_or_index(self, path: str, where: str) -> None:
        assert sheet_goals(path, {"cells": {where: {"value": 358.5}}}).value == 1.0

    @pytest.mark.parametrize(
        ("cell", "expected", "value"),
        [(True, 1, 0), (False, 0, 0), (1, True, 0), (0, False, 0), (True, True, 1), (1.0, 1, 1), ("1", 1, 0)],
    )
    def test_values_are_compared_by_type(self, tmp_path: Path, cell: Any, expected: Any, value: float) -> None:
        book = Workbook()
        book.active["A1"] = cell
        book.save(tmp_path / "kinds.xlsx")
        rules = {"cells": {"#0!A1": {"value": expected}}}
        assert sheet_goals(str(tmp_path / "kinds.xlsx"), rules).value == value

    def test_typed_value_does_not_replace_a_formula(self, path: str) -> None:
        assert sheet_goals(path, {"cells": {"Sales!B1": {"value": 358.5, "formula": True}}}).value == 0.0

    def test_computed_value_of_a_formula_passes(self, path: str) -> None:
        rules = {"cells": {"Sales!B1": {"value": 358.5, "formula": True}}}
        assert sheet_goals(with_formula(path), rules).value == 1.0

    def test_text_without_blanks_at_its_ends(self, path: str) -> None:
        assert sheet_goals(path, {"cells": {"Sales!A1": {"value": "Total "}}}).value == 1.0

    def test_sheet_names_and_shares(self, path: str) -> None:
        rules: dict[str, Any] = {"cells": {"Sales!B1": {"value": 1}}, "sheets": ["Sales"], "partial": True}
        assert sheet_goals(path, rules).value == 0.5

    @pytest.mark.parametrize("where", ["Prices!B1", "#7!B1"])
    def test_missing_sheet_scores_0(self, path: str, where: str) -> None:
        assert "there is no sheet" in sheet_goals(path, {"cells": {where: {"value": 1}}}).reasons[0]

    def test_changed_kept_cell_scores_0(self, path: str) -> None:
        rules = {"cells": {"Sales!B1": {"value": 358.5}}, "keeps": {"Sales!A1": {"value": "Sum"}}}
        assert sheet_goals(path, rules).value == 0.0

    def test_absent_empty_and_damaged_files_are_verdicts(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "empty.xlsx").touch()
        (tmp_path / "cut.xlsx").write_bytes(Path(path).read_bytes()[:-200])
        with zipfile.ZipFile(tmp_path / "other.xlsx", "w") as other:
            other.writestr("xl/workbook.xml", "<no")
        for name in ("absent.xlsx", "empty.xlsx", "cut.xlsx", "other.xlsx"):
            assert sheet_goals(str(tmp_path / name), {"cells": {"Sales!B1": {"value": 1}}}).value == 0.0

    def test_a_zip_bomb_is_a_verdict(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as bomb:
            bomb.writestr("xl/workbook.xml", bytes(201 * 2**20))
        assert "unpacks" in sheet_goals(str(tmp_path / "bomb.xlsx"), {"sheets": []}).reasons[0]
