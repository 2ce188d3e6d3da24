"""Number formats, heights, fills and addresses that programs write in several ways."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]
from openpyxl.styles import PatternFill  # type: ignore[import-untyped]

from backend.domain.evaluators.metrics.table.compare_table import compare_table
from backend.domain.formats.cell_text import canonical_format
from tests.factories import xlsx
from tests.factories.office import soffice_all

FORMATS = [
    "yyyy-mm-dd", "0.00%", '"$"#,##0.00', "[$€-407] #,##0.00", "d-mmm-yy", "h:mm AM/PM", "#,##0.00_);(#,##0.00)",
    '0" kg"', "#,##0;[Red]-#,##0", "@", "0.00E+00", "[h]:mm:ss", "# ?/?", "mm-dd-yy", "General", "dd/mm/yyyy hh:mm",
    "$#,##0.00", '#,##0.00\\ "€"', 'yyyy"年"m"月"d"日"', "[>100]0;0.0", '_("$"* #,##0.00_)', "0.0,", "(0)",
]  # fmt: skip
HEIGHTS = [10, 12.75, 15, 20, 30.5, 33]
PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}


def formatted(path: Path, formats: list[str]) -> Path:
    def change(book: Any) -> None:
        for row, code in enumerate(formats, 1):
            book["Sheet1"].cell(row, 1, 45413.5).number_format = code
        for row, height in enumerate(HEIGHTS, 1):
            book["Sheet1"].row_dimensions[row].height = height

    return xlsx.book(path, [], change)


def compare(actual: Path | str, gold: Path | str, kind: str, *props: str, strict: bool = False) -> float:
    rule = {"type": kind, **PAIR, "props": list(props)}
    return compare_table(str(actual), str(gold), rules=[rule], strict_upstream=strict).value


def cell(book: Path, name: str, ref: str, *, method: str = "eq", strict: bool = False) -> float:
    props = {name: {"method": method, "ref": ref}}
    rule = {"type": "check_cell", "sheet_idx": 0, "coordinate": "A1", "props": props}
    return compare_table(str(book), None, rules=[rule], strict_upstream=strict).value


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("yyyy-mm-dd", "YYYY-MM-DD", True),
        ("yyyy-mm-dd", "yyyy\\-mm\\-dd", True),
        ("mmm-yy", "[$-409]mmm\\-yy;@", True),
        ("mm-dd-yy", "m/d/yyyy", True),
        ("yyyy-mm-dd", "yy-mm-dd", False),
        ("yyyy-mm-dd", "yyyy/mm/dd", False),
        ('"$"#,##0.00', "$#,##0.00", True),
        ('"$"#,##0.00', "[$$-409]#,##0.00", True),
        ("[$$-409]#,##0.00", "[$$-en-US]#,##0.00", True),
        ('"$"#,##0.00', "[$€-407]#,##0.00", False),
        ('0.00" "%', "0.00\\ %", True),
        ("0.00%", "0%", False),
        ("General", "GENERAL", True),
        ("General", "0", False),
        ("#,##0.00", "#,##0.00;-#,##0.00", True),
        ("0", "0;[Red]-0", False),
        ("0", "0;(0)", False),
        ("0;[Red]-0", "0;[RED]\\-0", True),
        ("0.00e+00", "0.00E+00", True),
        ('0"d"', "0\\d", True),
        ('0"d"', "0d", False),
        ("[>100]0;0.0", "[>50]0;0.0", False),
        ("#,##0", "0,000", False),
        ("_(0_)", "(0)", False),
        ("0", "0.", False),
    ],
)
def test_number_formats(tmp_path: Path, first: str, second: str, *, same: bool) -> None:
    assert (canonical_format(first) == canonical_format(second)) is same
    mine, gold = formatted(tmp_path / "a.xlsx", [first]), formatted(tmp_path / "b.xlsx", [second])
    assert compare(mine, gold, "style", "number_format") == float(same)
    assert cell(mine, "number_format", second) == float(same)
    assert cell(mine, "number_format", second, strict=True) == 0.0


def test_a_rule_may_look_for_a_part_of_a_format(tmp_path: Path) -> None:
    mine = formatted(tmp_path / "a.xlsx", ['"$"#,##0.00'])
    assert [cell(mine, "number_format", ref, method="re") for ref in ('^"\\$"', r"^\\\$")] == [1.0, 0.0]


def test_a_workbook_that_libreoffice_saved(tmp_path: Path) -> None:
    gold = formatted(tmp_path / "gold.xlsx", FORMATS)
    (saved,) = soffice_all([gold], "xlsx")
    written = [load_workbook(saved).active.cell(row, 1).number_format for row in range(1, len(FORMATS) + 1)]
    assert written != FORMATS
    assert compare(saved, gold, "style", "number_format") == 1.0
    assert compare(saved, gold, "row_props", "height") == 1.0
    other = formatted(tmp_path / "other.xlsx", [*FORMATS[1:], FORMATS[0]])
    assert compare(saved, other, "style", "number_format") == 0.0


@pytest.mark.parametrize(("height", "same"), [(20, True), (19.5, True), (20.05, True), (20.25, False), (19.4, False)])
def test_heights_in_whole_pixels(tmp_path: Path, height: float, *, same: bool) -> None:
    def change(size: float) -> Callable[[Any], None]:
        return lambda book: setattr(book["Sheet1"].row_dimensions[1], "height", size)

    mine, gold = (
        xlsx.book(tmp_path / f"{name}.xlsx", [["x"]], change(size)) for name, size in (("a", height), ("b", 20))
    )
    assert compare(mine, gold, "row_props", "height") == float(same)
    assert compare(mine, gold, "row_props", "height", strict=True) == float(height == 20)


@pytest.mark.parametrize(
    ("pattern", "front", "back", "same"),
    [
        ("solid", "FFFFFF00", None, True),
        ("solid", "FFFFFF00", "FF123456", True),
        ("gray125", "FFFFFF00", None, False),
        ("darkGrid", "FFFFFF00", "FFFFFF00", False),
        (None, "FFFFFF00", None, False),
    ],
)
def test_patterns_are_no_plain_color(
    tmp_path: Path, pattern: str | None, front: str, back: str | None, *, same: bool
) -> None:
    def filled(name: str, kind: str | None, **colors: str) -> Path:
        fill = PatternFill(fill_type=kind, **colors)
        return xlsx.book(tmp_path / name, [["x"]], lambda book: setattr(book["Sheet1"]["A1"], "fill", fill))

    mine = filled("a.xlsx", pattern, fgColor=front, **({"bgColor": back} if back else {}))
    assert compare(mine, filled("b.xlsx", "solid", fgColor="FFFFFF00"), "style", "bgcolor") == float(same)
    assert cell(mine, "bgcolor", "FFFFFF00") == float(same)


@pytest.mark.parametrize(
    ("address", "expected", "same"),
    [
        ("https://example.org/", "https://example.org", True),
        ("https://example.org", "https://example.org/", True),
        ("https://example.org/a/", "https://example.org/a", False),
        ("https://example.org/?q=/", "https://example.org?q=/", False),
        ("https://example.org/", "http://example.org", False),
        ("mailto:a@example.org", "mailto:a@example.org/", False),
    ],
)
def test_links_to_a_host(tmp_path: Path, address: str, expected: str, *, same: bool) -> None:
    """Excel adds the slash."""

    def linked(name: str, target: str) -> Path:
        return xlsx.book(tmp_path / name, [["x"]], lambda book: setattr(book["Sheet1"]["A1"], "hyperlink", target))

    mine = linked("a.xlsx", address)
    assert compare(mine, linked("b.xlsx", expected), "style", "hyperlink") == float(same)
    assert [cell(mine, "hyperlink", expected, strict=strict) for strict in (False, True)] == [float(same), 0.0]
