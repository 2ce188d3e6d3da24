"""Links of cells: those that are set for cells, and those that the function HYPERLINK makes."""

import re

from backend.domain.evaluators.metrics.table._formula_values import (
    FormulaContext,
    FormulaError,
    NotUnderstood,
    scalar,
    text,
    values_of,
)
from backend.domain.evaluators.metrics.table._formulas import compile_formula
from backend.domain.formats.sheet import Bounds, LinkFormula, Sheet, bounds
from backend.domain.formats.workbook import Workbook, relation

_MOST_LINKS = 200_000
"""Cells with links that are listed one by one."""
_CALL = re.compile(r"\s*HYPERLINK\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"""(?:"[^"]*"|'[^']*'|\((?:"[^"]*"|[^()"])*\)|[^,;"'])+""")
"""An argument: commas in texts, in quoted names of sheets and in parentheses are part of it."""


def links_of(book: Workbook, sheet: Sheet, *, published: bool) -> dict[tuple[int, int], str]:
    """Cell -> target of its link: an address, or a place in the workbook.

    As published, a link over several cells is the first one's, the part of a page that it leads to is left out, and
    formulas make no links.
    """
    links = {} if published else _links_by_formulas(book, sheet)
    related = None
    for item in sheet.root.iterfind("{*}hyperlinks/{*}hyperlink"):
        related = book.related(sheet.place.part) if related is None else related
        area = bounds(item.get("ref", ""))
        target, place = related.get(relation(item), ("", ""))[1], item.get("location", "")
        if not target or (place and not published):
            target += f"#{place}"
        if area is not None:
            links |= dict.fromkeys([area[:2]] if published else _cells_of(area, _MOST_LINKS - len(links)), target)
    return links


def _links_by_formulas(book: Workbook, sheet: Sheet) -> dict[tuple[int, int], str]:
    """The targets of the formulas that are a call of HYPERLINK, as far as they can be computed."""
    steps = [0]
    links: dict[tuple[int, int], str] = {}
    for (row, column), formula in sheet.link_formulas.items():
        target = _target(book, sheet, (row, column), formula, steps)
        if target:
            links[row, column] = target
    return links


def _target(book: Workbook, sheet: Sheet, cell: tuple[int, int], formula: LinkFormula, steps: list[int]) -> str | None:
    call = _CALL.fullmatch(formula.text)
    argument = None if call is None else _PART.match(call[1])
    if argument is None:
        return None
    down, right = cell[0] - formula.origin[0], cell[1] - formula.origin[1]
    context = FormulaContext(*cell, down, right, lambda area: values_of(book, sheet, area), steps)
    try:
        return text(scalar(compile_formula(argument[0])(context), context))
    except (NotUnderstood, FormulaError):
        return None


def _cells_of(area: Bounds, most: int) -> list[tuple[int, int]]:
    """The cells of an area, the first one alone if there are too many."""
    top, left, bottom, right = area
    if (bottom - top + 1) * (right - left + 1) > most:
        return [(top, left)]
    return [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]
