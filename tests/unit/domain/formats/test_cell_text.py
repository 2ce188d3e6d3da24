"""Cells are shown as English versions of spreadsheets show them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook  # type: ignore[import-untyped]

from backend.domain.formats.any_text import read_any_text, read_cell
from backend.domain.formats.cell_text import canonical_format, cell_texts

SHOWN: list[tuple[Any, str, str]] = [
    (0.25, "0%", "25%"),
    (0.256, "0.0%", "25.6%"),
    (1234.5, "#,##0.00", "1,234.50"),
    (1234567, "#,##0", "1,234,567"),
    (-5, "0", "-5"),
    (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
    (1234.5, '"$"#,##0.00', "$1,234.50"),
    (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
    (12, "000", "012"),
    (0.5, "# ?/?", "1/2"),
    (1.5, "# ?/?", "1 1/2"),
    (0.333333, "# ??/??", "1/3"),
    (12345, "0.00E+00", "1.23E+04"),
    (0.00012, "0.0E+0", "1.2E-4"),
    (12345, "##0.0E+0", "12.3E+3"),
    (1500000, '0.0,,"M"', "1.5M"),
    (1500, "0.0,", "1.5"),
    (5551234567, "(000) 000-0000", "(555) 123-4567"),
    (123456789, "000-00-0000", "123-45-6789"),
    (0, '0;-0;"zero"', "zero"),
    (3, '0" pcs"', "3 pcs"),
    (0.1, "General", "0.1"),
    (0.30000000000000004, "General", "0.3"),
    (0.3333333333333333, "General", "0.333333333"),
    (123456789012, "General", "1.23457E+11"),
    (1e-12, "General", "1E-12"),
    (45413, "yyyy-mm-dd", "2024-05-01"),
    (45413, "mm-dd-yy", "05-01-24"),
    (45413, "d mmmm yyyy", "1 May 2024"),
    (45413, "dddd, mmm d", "Wednesday, May 1"),
    (45413.75, "h:mm AM/PM", "6:00 PM"),
    (45413.75, "yyyy/mm/dd hh:mm:ss", "2024/05/01 18:00:00"),
    (1.5, "[h]:mm", "36:00"),
    (0.5, "h:mm", "12:00"),
    (0.0006944444444444444, "mm:ss", "01:00"),
    (45413, 'yyyy"年"m"月"d"日"', "2024年5月1日"),
    (100, '[>50]"big";"small"', "big"),
    (10, '[>50]"big";"small"', "small"),
    (-0.001, "0.00", "0.00"),
    (0.5, "#.##", ".5"),
    (5, "#.##", "5."),
    (1.1, "0.##", "1.1"),
    (2.5, "0", "3"),
    (1.005, "0.00", "1.01"),
    ("a", '@" x"', "a x"),
    ("a", "0", "a"),
    ("a", '0;0;0;"t:"@', "t:a"),
    (True, "General", "TRUE"),
    (7, "[Red]0", "7"),
    (5, "_($* #,##0_)", " $5 "),
    (12, '"a;b"0', "a;b12"),
    (0, '#,##0;-#,##0;"-"', "-"),
    (1e20, "#,##0", "100,000,000,000,000,000,000"),
    (1234, "#,##0 €", "1,234 €"),
    (0.5, "0.00%;[Red]-0.00%", "50.00%"),
    (-0.5, "0.00%;[Red]-0.00%", "-50.00%"),
    (45413.5, "m/d/yy h:mm", "5/1/24 12:00"),
    (0.7512345, "mm:ss.0", "01:46.7"),
    (59, "yyyy-mm-dd", "1900-02-28"),
    (61, "yyyy-mm-dd", "1900-03-01"),
    (1, "yyyy-mm-dd", "1900-01-01"),
    (5, 'General" x"', "5 x"),
    (0.75, "0/8", "6/8"),
    (2.3, "# ?/8", "2 2/8"),
]


@pytest.mark.parametrize(("value", "code", "text"), SHOWN)
def test_number_formats(value: Any, code: str, text: str) -> None:
    """Those of LibreOffice agree, except for dates before March 1900."""
    assert cell_texts(value, code)[0] == text


@pytest.mark.parametrize(
    ("value", "code", "texts"),
    [
        (None, "0.00", []),
        (0, "#,###", ["0"]),
        (0.25, "0%", ["25%", "0.25"]),
        (7, "General", ["7"]),
        (45413, "mm-dd-yy", ["05-01-24", "5/1/2024", "2024-05-01", "45413"]),
        (45413.5, "d.m.yyyy", ["1.5.2024", "2024-05-01 12:00:00", "45413.5"]),
        (0.5, "h:mm", ["12:00", "12:00:00", "0.5"]),
        (-1, "yyyy", ["########", "-1"]),
        (10.0**305, "0.00", [f"1{'0' * 305}.00", f"{int(10.0**305)}"]),
    ],
)
def test_stored_values_follow(value: Any, code: str, texts: list[str]) -> None:
    assert cell_texts(value, code) == texts


def test_dates_that_count_from_1904() -> None:
    assert cell_texts(43951, "yyyy-mm-dd", epoch_1904=True)[0] == "2024-05-01"


def test_cells_of_a_file(tmp_path: Path) -> None:
    book = Workbook()
    for row, (value, code) in enumerate([(0.25, "0%"), (1234.5, "#,##0.00"), ("milk", "0"), (True, "General")], 1):
        cell = book.active.cell(row, 1, value)
        cell.number_format = code
    path = str(tmp_path / "a.xlsx")
    book.save(path)
    assert read_any_text(path) == ("25%\n0.25\n1,234.50\n1234.5\nmilk\nTRUE", "")
    assert read_cell(path, "Sheet", "A2") == ("1,234.50\n1234.5", "")


class TestStrangeFormats:
    """Files may hold formats and numbers that no spreadsheet writes; a metric gives a verdict on them."""

    @pytest.mark.parametrize(
        ("value", "code", "shown"),
        [
            (1.5, "[>1.2.3]0;0.0", "2"),
            (1.5, "[>.]0;0.0", "2"),
            (1.5, "0." + "0" * 1500, "1.5"),
            (1e300, "0" + "%" * 500, "1E+300"),
            (1.5, "# ?/" + "9" * 5000, "1.5"),
            (1.5, "# ?/²", "1 1/2"),
            (float("inf"), "General", "inf"),
            (float("nan"), "0.00", "nan"),
            (10**400, "0", str(10**400)),
            (2_958_465, "yyyy", "9999"),
            (2_958_466, "yyyy", "########"),
            (-1, "yyyy", "########"),
        ],
    )
    def test_value_is_shown(self, value: float, code: str, shown: str) -> None:
        assert cell_texts(value, code)[0] == shown

    @given(
        st.text('0#?.,%/@*_\\"[]<>=-+E;ymdhsaMPG² ¹$1234General', max_size=300),
        st.one_of(st.floats(), st.integers(), st.booleans(), st.text(max_size=9)),
        st.booleans(),
    )
    def test_nothing_raises(self, code: str, value: float | str, epoch_1904: bool) -> None:  # noqa: FBT001 - drawn.
        assert all(isinstance(text, str) for text in cell_texts(value, code, epoch_1904=epoch_1904))
        assert isinstance(canonical_format(code), str)
