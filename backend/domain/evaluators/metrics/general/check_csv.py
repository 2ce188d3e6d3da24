"""`check_csv`: records of a CSV file."""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, mappings
from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

Record = Mapping[str, Any]
_DELIMITERS = ",;\t"
_SEPARATOR_NOTE = re.compile(r"sep=.\n")
"""A first line by which Excel knows the separator."""


@register(PluginKind.METRIC, "check_csv")
def check_csv(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the file has every record of `expect` and none of `unexpect`; a record may omit columns.

    Cells are separated by commas, or by semicolons or tabs if that gives the columns of the rules.
    """
    expect, unexpect = mappings(rules.get("expect"), "`expect`"), mappings(rules.get("unexpect"), "`unexpect`")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    try:
        records = _records(text, {str(name) for record in (*expect, *unexpect) for name in record})
    except csv.Error as error:
        return verdict(met=False, reason=f"the file is not CSV: {error}")
    goals = [(_is_among(rule, records), f"a record {short(dict(rule))} among {len(records)}") for rule in expect]
    goals += [
        (not _is_among(rule, records), f"no record {short(dict(rule))} among {len(records)}") for rule in unexpect
    ]
    return share_of_goals(goals, partial=False)


def _records(text: str, columns: set[str]) -> list[Record]:
    lines = text[note.end() :] if (note := _SEPARATOR_NOTE.match(text)) else text
    tables = [csv.DictReader(io.StringIO(lines, newline=""), delimiter=delimiter) for delimiter in _DELIMITERS]
    return list(next((table for table in tables if columns <= set(table.fieldnames or ())), tables[0]))


def _is_among(expected: Record, records: list[Record]) -> bool:
    return any(
        all(key in record and _fits(record[key], value) for key, value in expected.items()) for record in records
    )


def _fits(cell: Any, expected: Any) -> bool:
    is_number = isinstance(expected, int | float) and not isinstance(expected, bool)
    return bool(cell == (str(expected) if is_number else expected))
