"""Calls of the metrics of tables."""

from pathlib import Path
from typing import Any

from openpyxl.styles import Font, PatternFill  # type: ignore[import-untyped]

from tests.factories import xlsx
from tests.factories.metric_cases import Call, MetricCase

PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}
RULES: list[dict[str, Any]] = [
    {"type": "sheet_name"},
    {"type": "sheet_data", **PAIR},
    {"type": "style", **PAIR, "props": ["bgcolor", "font_bold"]},
    {"type": "chart", **PAIR, "chart_props": ["type", "title"]},
    {"type": "freeze", **PAIR},
    {"type": "check_cell", "sheet_idx": 0, "coordinate": "B2", "props": {"value": {"method": "eq", "ref": 1200}}},
]
CITIES: list[Any] = [["Montreal", "Montréal"], ["Los Angeles", "LA"], *(f"City {number}" for number in range(19))]


def _made(path: Path, colour: str) -> str:
    def change(workbook: Any) -> None:
        sheet = workbook["Sheet1"]
        sheet["A1"].fill, sheet["A1"].font = PatternFill("solid", fgColor=colour), Font(bold=True)
        sheet.freeze_panes = "A2"
        sheet.add_chart(xlsx.chart("bar", sheet, title="Rent"), "E2")

    return str(xlsx.book(path, xlsx.SALES, change))


def _table(folder: Path, colour: str) -> Call:
    return Call((_made(folder / "result.xlsx", colour), _made(folder / "gold.xlsx", "FFFF0000")), {"rules": RULES})


def _sized(folder: Path, size: int) -> Call:
    path = str(xlsx.sized(folder / "large.xlsx", size))
    return Call((path, path), {"rules": [{"type": "sheet_data", **PAIR}]})


def _csv(folder: Path, last: str) -> Call:
    result, gold = folder / "result.csv", folder / "gold.csv"
    result.write_bytes(f"\ufeffname,amount\r\nAnn,5\r\nBob,{last}\r\n".encode())
    gold.write_text("name,amount\nAnn,5\nBob,7\n")
    return Call((str(result), [str(gold), str(gold)]))


def _sized_csv(folder: Path, size: int) -> Call:
    path = folder / "large.csv"
    path.write_text("".join(f"row {number},{number * 7919 % 10007}\n" for number in range(size // 16)))
    return Call((str(path), str(path)))


def _cities(folder: Path, second: str) -> Call:
    names = ["Montréal, Canada", second, *(f"City {number} (x)" for number in range(19))]
    rows: list[list[Any]] = [["Name", "Year", "Place"], *(["ICML", 2001, name] for name in names)]
    return Call((str(xlsx.book(folder / "cities.xlsx", rows)), {"expected": CITIES}))


def _sized_cities(folder: Path, size: int) -> Call:
    return Call((str(xlsx.sized(folder / "large.xlsx", size)), {"expected": CITIES}))


_TABLE = MetricCase(
    passing=lambda folder: _table(folder, "FFFF0000"),
    near_miss=lambda folder: _table(folder, "FFFE0000"),
    sized=_sized,
    kinds=("xlsx",),
)
_CSV = MetricCase(
    passing=lambda folder: _csv(folder, "7"), near_miss=lambda folder: _csv(folder, "8"), sized=_sized_csv
)
CASES = {
    "compare_table": _TABLE,
    "compare_table@waa": _TABLE,
    "compare_csv": _CSV,
    "compare_csv@waa": _CSV,
    "compare_conference_city_in_order": MetricCase(
        passing=lambda folder: _cities(folder, "Long Beach / LA"),
        near_miss=lambda folder: _cities(folder, "Atlanta"),
        sized=_sized_cities,
        kinds=("xlsx",),
    ),
}
