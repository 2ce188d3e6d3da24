"""`literal_match`: two values have the same text."""

from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "literal_match")
def literal_match(
    result: Any,
    expected: Any,
    *,
    type: str = "str",  # noqa: A002 - upstream's name, which tasks write.
    ignore_case: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if both values are equal as text.

    Args:
        result: the value to judge.
        expected: the expected value, for example the info of a web page.
        type: `str` compares the two values, `list` two lists element by element.
        ignore_case: ignore case.
        strict_upstream: as published, None equals the text "None".
    """
    if type not in {"str", "list"}:
        raise EvaluatorFailed(f"option `type` is {short(type)}, expected `str` or `list`", code="invalid_rule")
    text = f"expected {short(expected)}, found {short(result)}"
    if expected is None and not strict_upstream:
        raise EvaluatorFailed("there is no expectation", code="invalid_reference")
    if result is None and not strict_upstream:
        return verdict(met=False, reason=text)
    if type == "str":
        return verdict(_to_text(result, ignore_case) == _to_text(expected, ignore_case), text)
    if not isinstance(result, list | tuple) or not isinstance(expected, list | tuple):
        return verdict(met=False, reason=f"{text}: not two lists")
    left, right = ([_to_text(value, ignore_case) for value in values] for values in (result, expected))
    return verdict(left == right, text)


def _to_text(value: Any, ignore_case: bool) -> str:  # noqa: FBT001 - a private helper's second word.
    return str(value).lower() if ignore_case else str(value)
