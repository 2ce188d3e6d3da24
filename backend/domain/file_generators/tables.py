"""Generates a described table with its values, and merges several descriptions of one file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

from backend.domain.file_generators.prompt import Column, Table, table_of
from backend.domain.file_generators.values import Value, column_values

MAIN = "Sheet1"


@dataclass(frozen=True)
class SheetContent:
    """One sheet: headings, rows, and a footer (None = none)."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: tuple[Value, ...] | None = None


def sheets_of(prompts: Sequence[str], like: str, seed: str, day: date) -> list[SheetContent]:
    """The sheets that all descriptions of one file specify.

    Descriptions of one sheet are one table: the columns of all, as many rows as the longest.
    """
    merged: dict[str, Table] = {}
    for prompt in prompts:
        table = table_of(prompt, like)
        known = merged.get(table.sheet)
        merged[table.sheet] = table if known is None else _both(known, table)
    # The default sheet comes first, because it is shown on opening.
    return [_fill_table(merged[name], seed, day) for name in sorted(merged, key=bool)]


def _both(first: Table, second: Table) -> Table:
    columns = {column.name: column for column in first.columns}
    for column in second.columns:
        known = columns.setdefault(column.name, column)
        if known is not column:
            known.choices = tuple(dict.fromkeys((*known.choices, *column.choices)))
            known.counts = {**column.counts, **known.counts}
            known.note = known.note or column.note
    return Table(list(columns.values()), max(first.rows, second.rows), first.sheet, first.total or second.total)


def _fill_table(table: Table, seed: str, day: date) -> SheetContent:
    columns = [column_values(column, table.rows, seed, day) for column in table.columns]
    names = [column.name for column in table.columns]
    _derive(names, columns, seed)
    if table.real_total is not None:
        _sum_to(table.real_total, columns)
    total = _total(table, columns) if table.total else None
    return SheetContent(table.sheet or MAIN, tuple(names), tuple(zip(*columns, strict=True)), total)


def _derive(names: Sequence[str], columns: list[list[Value]], seed: str) -> None:
    """Columns derived from others: difference, share, sum; a few of two budgets are nearly used up."""
    random = Random(f"{seed}/derived")
    for name, first, second, make in (
        ("差额", "预算金额", "实际支出", lambda a, b: a - b),
        ("应发工资", "基本工资", "奖金", lambda a, b: a + b),
        ("完成率", "任务总数", "已完成数", lambda a, b: round(b / a, 3) if a else 0.0),
    ):
        if {name, first, second} <= set(names):
            first_column, second_column = columns[names.index(first)], columns[names.index(second)]
            if all(map(_is_number, (*first_column, *second_column))):
                columns[names.index(name)] = [make(a, b) for a, b in zip(first_column, second_column, strict=True)]  # type: ignore[no-untyped-call]
    if {"总预算", "已支出"} <= set(names):
        budgets = columns[names.index("总预算")]
        shares = [0.95 if row in {1, 4} else random.uniform(0.4, 0.85) for row in range(len(budgets))]
        known = [budget for budget in budgets if isinstance(budget, int | float)]
        if len(known) == len(budgets):
            spent: list[Value] = [round(budget * share) for budget, share in zip(known, shares, strict=True)]
            columns[names.index("已支出")] = spent


def _sum_to(total: int, columns: list[list[Value]]) -> None:
    """Makes the last numeric column add up to that total."""
    for column in reversed(columns):
        if column and all(_is_number(value) for value in column):
            part = total // len(column)
            column[:] = [part] * (len(column) - 1) + [total - part * (len(column) - 1)]
            return


def _total(table: Table, columns: list[list[Value]]) -> tuple[Value, ...]:
    """The footer: the sum of each column of amounts, or the wrong sum that is specified."""
    cells: list[Value] = ["合计"]
    for column, values in zip(table.columns[1:], columns[1:], strict=True):
        sums = _adds_up(column) and all(_is_number(value) for value in values)
        right = sum(value for value in values if isinstance(value, int | float)) if sums else ""
        cells.append(table.shown_total if sums and table.shown_total is not None else right)
    return tuple(cells)


def _adds_up(column: Column) -> bool:
    return any(word in column.name for word in ("额", "费", "数量", "支出", "收入"))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float)
