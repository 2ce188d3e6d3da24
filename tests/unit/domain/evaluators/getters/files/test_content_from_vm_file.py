"""Values as OSWorld's getter gave them with pandas 2.3 for the same rows."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.evaluators.getters.files import _last_row
from backend.domain.evaluators.getters.files.content_from_vm_file import ContentFromVmFile
from backend.domain.model.score import Blob
from tests.factories.office import soffice
from tests.factories.workbooks import workbook

PARAMETERS = {"path": "/a.xlsx", "file_type": "xlsx", "file_content": "last_row"}


def last_row(data: bytes | None, folder: Path) -> Any:
    return ContentFromVmFile().read([Blob(name="/a.xlsx", data=data, note="absent")], PARAMETERS, folder)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Ann", 12, 3], ["Bob", 7, 4]], ["Bob", "7", "4"]),
        ([["Ann", None], ["Bob", 7]], ["Bob", "7.0"]),
        ([["Ann", 1.5], ["Bob", 7]], ["Bob", "7.0"]),
        ([[1, 2.5], [3, 4]], ["3.0", "4.0"]),
        ([["Ann", "7"], ["Bob", "8"]], ["Bob", "8"]),
        ([["Ann", 7.0], ["Bob", 8.0]], ["Bob", "8"]),
        ([["Ann", "x"], ["Bob", None]], ["Bob", "nan"]),
        ([["Ann", "NA"], ["Bob", "n/a"]], ["Bob", "nan"]),
        ([["Ann", True], ["Bob", False]], ["Bob", "False"]),
        ([["Ann", "TRUE"], ["Bob", "false"]], ["Bob", "False"]),
        ([["Ann", 1], ["Bob", True]], ["Bob", "1"]),
        ([["Ann", datetime(2024, 1, 2)], ["Bob", datetime(2024, 3, 4, 5)]], ["Bob", "2024-03-04 05:00:00"]),  # noqa: DTZ001
        ([["Ann", datetime(2024, 1, 2)], ["Bob", None]], ["Bob", "NaT"]),  # noqa: DTZ001
        ([["Ann", 7], [None, None]], ["Ann", "7"]),
    ],
)
def test_last_row_is_returned_as_texts(rows: list[list[Any]], expected: list[str], tmp_path: Path) -> None:
    assert last_row(workbook([[f"c{place}" for place in range(len(rows[0]))], *rows]), tmp_path) == expected


def test_huge_integers_are_read_as_floats(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["a", "b"], ["1" + "0" * 400, "1.5"], ["2" * 20, 1]]
    assert last_row(workbook(rows), tmp_path) == ["2.222222222222222e+19", "1.0"]


@pytest.mark.parametrize("data", [None, b"", b"no workbook", workbook([["only", "a head"]]), workbook([])])
def test_workbook_without_data_rows_is_none(data: bytes | None, tmp_path: Path) -> None:
    assert last_row(data, tmp_path) is None


def test_damaged_workbook_is_none(tmp_path: Path) -> None:
    data = workbook([["a"], [1]])
    assert last_row(data[: len(data) // 2] + b"\0" * 500 + data[len(data) // 2 :], tmp_path) is None


def test_workbook_saved_by_libreoffice_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook([["Name", "Cited", "h"], ["Ann", 12, 1], ["Bob Wu", 79881, 1.5]]))
    assert last_row(soffice(path, "xlsx").read_bytes(), tmp_path / "out") == ["Bob Wu", "79881", "1.5"]


def test_sheet_with_too_many_cells_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cell in the last column makes a row of 16,384."""
    monkeypatch.setattr(_last_row, "MAX_CELLS", 100)
    assert last_row(workbook([[*[None] * 59, "a"], [*[None] * 59, 1]]), tmp_path) is None
    assert last_row(workbook([["a"], [1]]), tmp_path) == ["1"]


@pytest.mark.parametrize("wrong", [{"file_type": "csv"}, {"file_content": "first_row"}])
def test_unknown_options_are_rejected(wrong: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        ContentFromVmFile().check({**PARAMETERS, **wrong})
