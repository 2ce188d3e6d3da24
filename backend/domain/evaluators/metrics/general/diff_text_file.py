"""`diff_text_file`: how much of a text file is as expected."""

import difflib

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.formats.text import read_text
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

MAX_LINES = 5000  # the comparison takes the square of it


@register(Kind.METRIC, "diff_text_file")
def diff_text_file(result: str | None, expected: str | None) -> MetricValue:
    """Python's `SequenceMatcher.ratio()` over lines: 2 x equal lines / all lines of both."""
    wanted, reason = read_text(expected)
    if wanted is None:
        raise EvaluatorFailed(f"the file to compare with: {reason}")
    found, reason = read_text(result)
    if found is None:
        return verdict(met=False, reason=reason)
    lines, expected_lines = found.splitlines(), wanted.splitlines()
    if len(lines) > MAX_LINES + len(expected_lines):
        return verdict(met=False, reason=f"the file has {len(lines)} lines, expected {len(expected_lines)}")
    ratio = difflib.SequenceMatcher(a=lines, b=expected_lines).ratio()
    return MetricValue(value=ratio, reasons=(f"{ratio:.3f} of the lines are as expected",))
