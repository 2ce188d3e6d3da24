"""`compare_conference_city_in_order`: column C of a workbook lists cities in the right order."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.sheet import DamagedWorkbook
from backend.domain.formats.workbook import Workbook, read_workbook
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

FIRST_ROW, LAST_ROW, COLUMN = 2, 22, 3


@register(PluginKind.METRIC, "compare_conference_city_in_order")
def compare_conference_city_in_order(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if each of the cells C2:C22 of the active sheet names the expected city.

    Case and accents are ignored, and a cell may contain more than the city. The name must appear as whole words: "LA"
    is not in "Atlanta", unlike upstream.

    Args:
        result: path of the .xlsx file.
        rules: `expected`: 21 names, or lists of alternatives.
        strict_upstream: parts of words count.
    """
    cities = _cities(rules)
    book, reason = read_workbook(result)
    if book is None:
        return verdict(met=False, reason=reason)
    try:
        cells = _column(book)
    except DamagedWorkbook as error:
        return verdict(met=False, reason=f"the workbook is damaged: {error}")
    wrong = [
        f"C{row}: got {short(cell)}, expected {short(names[0] if len(names) == 1 else names)}"
        for row, (cell, names) in enumerate(zip(cells, cities, strict=True), FIRST_ROW)
        if not any(_names(cell, city, whole=not strict_upstream) for city in names)
    ]
    return MetricValue(value=float(not wrong), reasons=tuple(wrong[:20]) or ("all cities are in order",))


def _cities(rules: Mapping[str, Any]) -> list[list[str]]:
    entries = rules.get("expected")
    entries = entries if isinstance(entries, Sequence) and not isinstance(entries, str) else []
    cities = [
        [entry] if isinstance(entry, str) else list(entry) if isinstance(entry, list | tuple) else []
        for entry in entries
    ]
    needed = LAST_ROW - FIRST_ROW + 1
    if len(cities) < needed or not all(city and all(isinstance(name, str) for name in city) for city in cities):
        raise EvaluatorFailed(f"`expected` needs {needed} names of cities, or lists of names", code="invalid_rule")
    return cities[:needed]


def _column(book: Workbook) -> list[Any]:
    sheet = book.sheet(book.active) or book.sheet(book.names[0] if book.names else "")
    rows = range(FIRST_ROW, LAST_ROW + 1)
    return [None] * len(rows) if sheet is None else [sheet.at(row, COLUMN).value for row in rows]


def _names(cell: Any, city: str, *, whole: bool) -> bool:
    text, name = _plain("" if cell is None else str(cell)), _plain(city)
    if not name:
        return False
    return f" {name} " in f" {text} " if whole else name in text


def _plain(text: str) -> str:
    letters = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9]+", " ", letters.lower()).strip()
