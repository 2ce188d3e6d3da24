"""`diff_text_file`: similarity of two text files by lines."""

import difflib
from collections import Counter

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text, split_lines
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_LINES = 5000  # the comparison is quadratic
MAX_PAIRS = 50 * 10**6  # pairs of equal lines in both files
MOST_SHOWN = 5


@register(PluginKind.METRIC, "diff_text_file")
def diff_text_file(result: str | None, expected: str | None) -> MetricValue:
    """Python's `SequenceMatcher.ratio()` over lines: 2 x equal lines / all lines of both."""
    expected_text, reason = read_text(expected)
    if expected_text is None:
        raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    lines, expected_lines = map(split_lines, (text, expected_text))
    if len(lines) > MAX_LINES + len(expected_lines):
        return verdict(met=False, reason=f"the file has {len(lines)} lines, expected {len(expected_lines)}")
    if lines == expected_lines:
        return verdict(met=True, reason="all lines are as expected")
    matcher = difflib.SequenceMatcher(a=lines, b=expected_lines)
    counts = Counter(expected_lines)
    if sum(counts[line] for line in lines) > MAX_PAIRS:
        return verdict(met=False, reason="the file has too many equal lines for a comparison")
    ratio = matcher.ratio()
    return MetricValue(
        value=ratio, reasons=(f"{ratio:.3f} of the lines match", *_first(matcher, lines, expected_lines))
    )


def _first(matcher: difflib.SequenceMatcher[str], actual: list[str], expected: list[str]) -> list[str]:
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return [
        f"line {start + 1}: found {short(actual[start:end])}, expected {short(expected[low:high])}"
        for _, start, end, low, high in changes[:MOST_SHOWN]
    ]
