"""Stand-ins for tasks of Calc."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from openpyxl.styles import Font, PatternFill  # type: ignore[import-untyped]
from openpyxl.worksheet.datavalidation import DataValidation  # type: ignore[import-untyped]

from tests.factories.xlsx import Change, book, chart
from tests.integration.osworld.stand_in import Maker, StandIn

Rows = Sequence[Sequence[Any]]
Table = list[list[Any]]


def sheets(rows: Rows = (), change: Change | None = None, **more: Rows) -> Maker:
    """A workbook with `Sheet1` and more sheets."""
    return lambda path: book(path, {"Sheet1": rows, **more}, change)


def columns(rows: Rows, *numbers: int) -> list[list[Any]]:
    """Some columns of rows."""
    return [[row[number] for number in numbers] for row in rows]


def blanked(rows: Rows, *numbers: int) -> list[list[Any]]:
    """Rows whose columns of these numbers are still to be filled below the header."""
    return [list(rows[0])] + [
        [None if number in numbers else value for number, value in enumerate(row)] for row in rows[1:]
    ]


INCOME: Table = [["Month", "Revenue", "Total Expenses"], ["Jan", 410, 120], ["Feb", 395.5, 130.25], ["Mar", 502, 99]]
TOTALS: Table = [["Total Revenue", "Total Expenses"], [1307.5, 349.25]]
ZONES: Table = [
    ["Zone", "Q1", "Q2", "Total"],
    ["North", 12, 30, 42],
    ["South", 7, 8, 15],
    ["Total", 19, 38, 57],
]
ZONES_OPEN: Table = [ZONES[0], ["North", 12, 30, None], ["South", 7, 8, None], ["Total", None, None, None]]
OFFICERS: Table = [["Branch", "Officer", None, "Head office", "Officer name"]] + [
    [branch, officer, None, asked, answer]
    for branch, officer, asked, answer in [
        ("Leeds", "Ada Hill", "York", "Ben Cole"),
        ("York", "Ben Cole", "Hull", "Cy Dunn"),
        ("Hull", "Cy Dunn", "Leeds", "Ada Hill"),
    ]
]
BALANCE: Table = [["Year", "Current Assets", "Fixed Assets", "Other Assets"]] + [
    [2014 + n, 100 * 2**n, 80 + 20 * n, 10 * (n + 1)] for n in range(6)
]
CHANGES: Table = [["Year", "CA changes", "FA changes", "OA changes"]] + [
    [BALANCE[row][0]] + [BALANCE[row][col] / BALANCE[row - 1][col] - 1 for col in (1, 2, 3)] for row in range(2, 7)
]
NAMES = ["Ana", "Bo", "Ana", "Cleo", "Bo", "Dan"]
UNIQUE = ["Ana", "Bo", "Cleo", "Dan", None, None]
PEOPLE: Table = [["Information", "First Name", "Last Name", "Rank"]] + [
    [f"{first} {last} Rank {rank}", first, last, rank]
    for first, last, rank in [("Ada", "Hill", "1"), ("Ben", "Cole", "2"), ("Cy", "Dunn", "3")]
]
REPS: Table = [["Rep", "Jan", "Feb", "Mar"], ["Ana", 10, 20, 30], ["Bo", 5, 15, 25]]
REPS_TOTAL: Table = [*REPS, ["Total", 15, 35, 55]]
GRADES: Table = [["Student", "Mark", "Grade"], ["Ana", 91, "A"], ["Bo", 72, "B"], ["Cleo", 55, "C"]]
STATEMENT: Table = [["Year", "Sales", "Expenses", "Gross Profit"], [2018, 900, 400, 500], [2019, 1000, 450, 550]]
ORDERS: Table = [["Seq No.", "Order", "Sales"]] + [[f"No. {n}", f"O-{n}", 11.5 * n] for n in range(1, 5)]
AMOUNTS: Table = [["Item", "Amount"], ["c", 30], ["a", 10.5], ["d", 41], ["b", 20]]
WEEKS: Table = [["Week", "Sales", "COGS"], [1, 900, 500], [2, 850, 430], [3, 990, 610]]
PROFIT: Table = [[*WEEKS[0], "Profit"]] + [[*row, row[1] - row[2]] for row in WEEKS[1:]]
MARKS: Table = [
    ["Name", "Maths", "Art", "Music", "Sport"],
    ["Ana", 1, 2, 3, 4],
    ["Bo", 5, 6, 7, 8],
    ["Cleo", 9, 10, 11, 12],
]
AT_B2: Table = [[None] * 6, *[[None, *row] for row in MARKS]]
TURNED: Table = [*AT_B2, [None] * 6, [None] * 6, *[[None, *row] for row in zip(*MARKS, strict=True)]]
LEVELS: Table = [["No", "Level", "Class"], [1, "low", "A"], [2, "low", "A"], [3, "high", "A"], [4, "high", "B"]]
GAPS: Table = [["No", "Level", "Class"], [1, "low", "A"], [2, None, None], [3, "high", None], [4, None, "B"]]
TITLES: Table = [
    ["Garbage Movie Titles", "Clean Movie Titles"],
    ["  the   LONG road ", "The Long Road"],
    ["NIGHT  at sea", "Night At Sea"],
]
MOVED: Table = [
    ["Date", "First Name", "Last Name", "Order ID", "Sales"],
    ["d1", "Ana", "Ng", 7, 11],
    ["d2", "Bo", "Li", 8, 12],
]
LOANS: Table = [
    ["Loan", "Start", "Months", "Maturity Date"],
    ["L1", date(2020, 1, 15), 12, date(2021, 1, 15)],
    ["L2", date(2020, 3, 1), 6, date(2020, 9, 1)],
]
BUDGET: Table = [["Date", "Budget"], ["d1", 10], ["d2", "N/A"], ["d3", 30], ["d4", "N/A"]]
DAYS: Table = [["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], list(range(1, 8)), list(range(8, 15))]
RATES: Table = [["Year", "Value"], [2019, 100], [2020, 150], [2021, 165]]
RATED: Table = [["Year", "Value", "Period Rate (%)"], [2019, 100, None], [2020, 150, 50], [2021, 165, 10]]
CHECKS: Table = [["No", "Order", "Amount", "Pass/Fail/Held"]] + [[n, f"O-{n}", 3 * n, None] for n in range(1, 29)]
HOURS: Table = [[None] * 5, ["Day", "Hours", None, "Rate", "Earned"], ["Total", "7:40", None, 25, 191.6667]]
COSTS: Table = [["Month", "2019", "2020"], ["Jan", 3, 4], ["Feb", 5, 2], ["Mar", 6, 9]]


def _frozen(made: Any) -> None:
    made.active.freeze_panes = "C2"


def _zoom(scale: int) -> Change:
    def change(made: Any) -> None:
        made.active.sheet_view.zoomScale = scale

    return change


def _hidden(made: Any) -> None:
    for row in (3, 5):
        made.active.row_dimensions[row].hidden = True


def _red(made: Any) -> None:
    for row in made.active.iter_rows(min_row=2, min_col=6, max_col=7):
        for cell in row:
            cell.fill = PatternFill("solid", fgColor="FFFF0000")


def _green(made: Any) -> None:
    made.active["C3"].font = Font(color="FF00FF00")


def _choice(made: Any) -> None:
    rule = DataValidation(type="list", formula1='"Pass,Fail,Held"')
    rule.add("D2:D29")
    made.active.add_data_validation(rule)


def _charted(kind: str, at: str, title: str | None = None, sheet: str | None = None, **how: Any) -> Change:
    def change(made: Any) -> None:
        target = made[sheet] if sheet else made.active
        target.add_chart(chart(kind, made["Sheet1"], title=title, **how), at)

    return change


def _two_charts(made: Any) -> None:
    for column, at in ((2, "F2"), (3, "F20")):
        _charted("bar", at, columns=(column,), span=(1, 4))(made)


def _csv(path: Path) -> None:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in INCOME), encoding="utf-8")


STAND_INS: Mapping[str, StandIn] = {
    f"libreoffice_calc/{key}": own
    for key, own in {
        "357ef137": StandIn(sheets([*HOURS[:2], [*HOURS[2][:4], None]]), sheets(HOURS)),
        "42e0a640": StandIn(sheets(INCOME), sheets(INCOME, Sheet2=TOTALS)),
        "1273e544": StandIn(sheets(INCOME), sheets(INCOME, Sheet2=columns(INCOME, 1))),
        "f9584479": StandIn(sheets(ZONES_OPEN), sheets(ZONES)),
        "7e429b8d": StandIn(sheets(blanked(OFFICERS, 4)), sheets(OFFICERS)),
        "04d9aeaf": StandIn(sheets(BALANCE), sheets(BALANCE, Sheet2=CHANGES)),
        "abed40dc": StandIn(
            sheets([["Names with duplicates", "Unique Names"], *[[name, None] for name in NAMES]]),
            sheets([["Names with duplicates", "Unique Names"], *zip(NAMES, UNIQUE, strict=True)]),
        ),
        "37608790": StandIn(sheets(blanked(PEOPLE, 1, 2, 3)), sheets(PEOPLE)),
        "26a8440e": StandIn(
            sheets(REPS), sheets(REPS, Sheet2=[["Month", "Total"], ["Jan", 15], ["Feb", 35], ["Mar", 55]])
        ),
        "d681960f": StandIn(sheets(blanked(GRADES, 2)), sheets(GRADES)),
        "035f41ba": StandIn(
            sheets(blanked(STATEMENT, 3)),
            sheets(STATEMENT, Sheet2=[["Year_Profit"], ["2018_500"], ["2019_550"]]),
        ),
        "7efeb4b1": StandIn(sheets(blanked(ORDERS, 0)), sheets(ORDERS)),
        "51b11269": StandIn(sheets(AMOUNTS), sheets([AMOUNTS[0], *sorted(AMOUNTS[1:], key=lambda row: row[1])])),
        "1e8df695": StandIn(sheets(WEEKS), sheets(PROFIT)),
        "4188d3a4": StandIn(sheets(WEEKS), sheets(WEEKS, _frozen)),
        "eb03d19a": StandIn(sheets(AT_B2), sheets(TURNED)),
        "01b269ae": StandIn(sheets(GAPS), sheets(LEVELS)),
        "a9f325aa": StandIn(sheets(blanked(TITLES, 1)), sheets(TITLES)),
        "7a4e4bc8": StandIn(sheets(columns(MOVED, 1, 2, 3, 0, 4)), sheets(MOVED)),
        "4172ea6e": StandIn(sheets(columns(LOANS, 0, 1, 2)), sheets(LOANS)),
        "1334ca3e": StandIn(sheets(WEEKS, _zoom(260)), sheets(WEEKS, _zoom(120))),
        "6054afcb": StandIn(sheets(BUDGET), sheets(BUDGET, _hidden)),
        "8b1ce5f2": StandIn(sheets(DAYS), sheets(DAYS, _red)),
        "21ab7b40": StandIn(sheets(RATES), sheets(RATED, _green)),
        "ecb0df7a": StandIn(sheets(CHECKS), sheets(CHECKS, _choice)),
        "0a2e43bf": StandIn(sheets(REPS), sheets(REPS_TOTAL, _charted("line", "G2", span=(1, 4)))),
        "12382c62": StandIn(
            sheets(WEEKS),
            sheets(
                WEEKS,
                _charted("bar", "B2", "Sales & COGS", "Sheet2", columns=(2, 3), span=(1, 4), direction="col"),
                Sheet2=(),
            ),
        ),
        "347ef137": StandIn(sheets(COSTS), sheets(COSTS, _two_charts)),
        "3aaa4e37": StandIn(sheets(INCOME), _csv),
    }.items()
}
