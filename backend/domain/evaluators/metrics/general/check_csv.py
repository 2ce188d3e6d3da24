"""`check_csv`: records of a CSV file."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, mappings
from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

Record = Mapping[str, Any]


@register(PluginKind.METRIC, "check_csv")
def check_csv(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the file has every record of `expect` and none of `unexpect`; a record may omit columns."""
    expect, unexpect = mappings(rules.get("expect"), "`expect`"), mappings(rules.get("unexpect"), "`unexpect`")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    try:
        records: list[Record] = list(csv.DictReader(io.StringIO(text, newline="")))
    except csv.Error as error:
        return verdict(met=False, reason=f"the file is not CSV: {error}")
    goals = [(_is_among(rule, records), f"a record {short(dict(rule))} among {len(records)}") for rule in expect]
    goals += [
        (not _is_among(rule, records), f"no record {short(dict(rule))} among {len(records)}") for rule in unexpect
    ]
    return share_of_goals(goals, partial=False)


def _is_among(expected: Record, records: list[Record]) -> bool:
    return any(all(key in record and record[key] == value for key, value in expected.items()) for record in records)
