"""`compare_result_files`: a file has the expected result, a number or text."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.formats.text_numbers import numbers_in
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

TOLERANCE = 1e-4


@register(PluginKind.METRIC, "compare_result_files")
def compare_result_files(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the file has the expected number, alone or in a sentence, or else the expected text.

    Args:
        result: path of the file to judge; see `text_numbers` for the forms of numbers.
        expected: path of the file with the number or text.
        strict_upstream: the expected digits may be part of another number (42 in 142).
    """
    gold, reason = read_text(expected)
    if gold is None:
        raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
    actual, reason = read_text(result)
    if actual is None:
        return verdict(met=False, reason=reason)
    actual, gold = actual.strip(), gold.strip()
    text = f"the file says {short(actual)}, expected {short(gold)}"
    number = _number(gold)
    if number is None:
        return verdict(actual == gold, text)
    if strict_upstream:
        alone = _number(actual)
        close = alone is not None and abs(alone - number) < TOLERANCE
        return verdict(gold in actual or close or actual == gold, text)
    right = any(value is not None and abs(value - number) < TOLERANCE for value in numbers_in(actual))
    return verdict(actual == gold or right, text)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
