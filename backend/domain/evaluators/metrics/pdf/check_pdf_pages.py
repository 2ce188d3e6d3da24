"""`check_pdf_pages`: a PDF has a certain number of pages."""

import operator
from collections.abc import Callable
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.pdf import PdfRefused, count_pages
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


@register(PluginKind.METRIC, "check_pdf_pages")
def check_pdf_pages(pdf_file: str | None, rules: Any) -> MetricValue:
    """1 if the relation holds for the number of pages.

    Args:
        pdf_file: path; None = absent.
        rules: `{"relation": "eq" | "ne" | "lt" | "le" | "gt" | "ge", "ref_value": number}`.
    """
    relation, expected = rule(rules, "relation"), rule(rules, "ref_value")
    if relation not in _RELATIONS or not isinstance(expected, int | float):
        raise EvaluatorFailed(
            f"{short(relation)} {short(expected)} is not a relation to a number", code="invalid_rule", hint=HINT
        )
    try:
        pages = count_pages(pdf_file)
    except PdfRefused as error:
        return verdict(met=False, reason=str(error))
    return verdict(_RELATIONS[relation](pages, expected), f"{pages} pages, expected {relation} {expected}")
