"""`sheet_goals` (ours): cells and sheets of a workbook."""

import math
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.json_values import equal
from backend.domain.formats.sheet import DamagedWorkbook, bounds
from backend.domain.formats.workbook import Workbook, read_workbook
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "sheet_goals")
def sheet_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about an .xlsx file.

    Args:
        result: its path.
        rules: `cells` and `keeps`: `Sheet!B7` (`'My sheet'!B7` as in formulas, `#0!B7` by the sheet's number) ->
            `{value, tolerance, formula}` (`formula`: true = it must be a formula);
            `sheets`: the names of all sheets in order, a goal of its own; `partial`: the value is the share of met
                goals.

    Raises:
        EvaluatorFailed: a rule has an invalid cell reference.
    """
    book, reason = read_workbook(result)
    if book is None:
        return verdict(met=False, reason=reason)
    try:
        goals = [_cell(book, where, expected) for where, expected in rules.get("cells", {}).items()]
        keeps = [_cell(book, where, expected) for where, expected in rules.get("keeps", {}).items()]
    except DamagedWorkbook as error:
        return verdict(met=False, reason=f"the workbook is damaged: {error}")
    if "sheets" in rules:
        names = [sheet.name for sheet in book.places]
        goals.append((names == list(rules["sheets"]), f"the sheets are {short(names)}"))
    return share_of_goals(goals, partial=bool(rules.get("partial")), keeps=keeps)


def _cell(book: Workbook, where: str, expected: Mapping[str, Any]) -> Goal:
    name, _, reference = where.rpartition("!")
    if name.startswith("'") and name.endswith("'"):
        name = name[1:-1].replace("''", "'")
    area = bounds(reference)
    if not name or area is None:
        raise EvaluatorFailed(f"{where!r} is not a cell of a sheet; write Sheet!B7", code="invalid_rule")
    if name.startswith("#") and name[1:].isdecimal() and int(name[1:]) < len(book.places):
        name = book.places[int(name[1:])].name
    sheet = book.sheet(name)
    if sheet is None:
        return False, f"there is no sheet {name!r}"
    cell = sheet.at(area[0], area[1])
    computed = sheet.computes(area[0], area[1])
    origin = " (computed)" if computed else ""
    reason = f"{where} is {short(cell.value)}{origin}, expected {short(dict(expected))}"
    return _are_equal(cell.value, expected) and (not expected.get("formula") or computed), reason


def _are_equal(actual: Any, expected: Mapping[str, Any]) -> bool:
    value = expected.get("value")
    actual, value = ("" if text is None else text for text in (actual, value))  # A formula may give an empty text.
    if isinstance(value, bool) or isinstance(actual, bool):
        return equal(actual, value)
    if isinstance(value, int | float) and isinstance(actual, int | float):
        return math.isclose(actual, value, rel_tol=0.0, abs_tol=float(expected.get("tolerance", 1e-6)))
    if isinstance(value, str) and isinstance(actual, str):
        return actual.strip() == value.strip()
    return bool(actual == value)
