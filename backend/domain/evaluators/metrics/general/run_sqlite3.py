"""`run_sqlite3`: a query checks a database."""

import math
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.sqlite import first_row
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "run_sqlite3")
def run_sqlite3(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """The number in the first column of the first row; capped at 1, NULL counts as 0.

    Args:
        result: path of the database, opened read-only.
        rules: `sql`, one SELECT.
        strict_upstream: as published, a statement that is wrong is 0 like every other error.
    """
    sql = rule(rules, "sql")
    if not isinstance(sql, str):
        raise EvaluatorFailed(f"`sql` is {short(sql)}, expected a text", code="invalid_rule", hint=HINT)
    try:
        row, reason = first_row(result, sql)
    except Invalid as error:
        if strict_upstream:
            return verdict(met=False, reason=f"the query failed: {error.message}")
        raise EvaluatorFailed(f"the query failed: {error.message}", code="invalid_rule", hint=HINT) from error
    if row is None:
        return verdict(met=False, reason=reason)
    try:
        number = float(row[0] or 0)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        return verdict(met=False, reason=f"the query returned {short(row[0])}, which is not a number")
    return MetricValue(value=min(1.0, max(0.0, number)), reasons=(f"the query returned {number:g}",))
