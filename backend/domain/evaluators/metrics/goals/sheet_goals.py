"""`sheet_goals` (ours): cells and sheets of a workbook."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.formats.packages import check_package
from backend.domain.evaluators.metrics._verdicts import Goal, reached, short, verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue


@register(Kind.METRIC, "sheet_goals")
def sheet_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about an .xlsx file.

    Args:
        result: its path.
        rules: `cells` and `keeps`: `Sheet!B7` (or `#0!B7`, a sheet by its number) -> `{value, tolerance, formula}`
            (`formula`: true = it must be computed);
            `sheets`: the names of all sheets in order, a goal of its own; `partial`: the share of goals counts.
    """
    reason = check_package(result)
    if reason:
        return verdict(met=False, reason=reason)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # What a writer left out is no business of a verdict.
            from openpyxl import load_workbook  # type: ignore[import-untyped]

            values = load_workbook(str(result), data_only=True)
            # Reading takes a second per megabyte: it is done again only where a formula is asked for.
            asked = any("formula" in wanted for part in ("cells", "keeps") for wanted in rules.get(part, {}).values())
            formulas = load_workbook(str(result)) if asked else None
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a damaged file makes it stumble over.
        return verdict(met=False, reason=f"the workbook is damaged: {type(error).__name__}")

    def cell(where: str, wanted: Mapping[str, Any]) -> Goal:
        sheet, address = where.rsplit("!", 1)
        if sheet.startswith("#") and int(sheet[1:]) < len(values.sheetnames):
            sheet = values.sheetnames[int(sheet[1:])]
        if not hasattr(values[sheet] if sheet in values.sheetnames else None, "cell"):
            return False, f"there is no sheet {sheet!r}"
        found = values[sheet][address].value
        source = None if formulas is None else formulas[sheet][address].value
        origin = "" if formulas is None else f" from {short(source)}"
        words = f"{where} is {short(found)}{origin}, wanted {short(dict(wanted))}"
        computed = isinstance(source, str) and source.startswith("=")
        return _equal(found, wanted) and (not wanted.get("formula") or computed), words

    goals = [cell(where, wanted) for where, wanted in rules.get("cells", {}).items()]
    if "sheets" in rules:
        goals.append((values.sheetnames == list(rules["sheets"]), f"the sheets are {values.sheetnames}"))
    kept = [cell(where, wanted) for where, wanted in rules.get("keeps", {}).items()]
    return reached(goals, partial=bool(rules.get("partial")), kept=kept)


def _equal(found: Any, wanted: Mapping[str, Any]) -> bool:
    value = wanted.get("value")
    if isinstance(value, int | float) and isinstance(found, int | float):
        return math.isclose(found, value, rel_tol=0.0, abs_tol=float(wanted.get("tolerance", 1e-6)))
    if isinstance(value, str) and isinstance(found, str):
        return found.strip() == value.strip()
    return bool(found == value)
