"""Compares two text files; dialects differ in whether the last line must end with a newline."""

import re

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue


def compare_files(
    result: str | None, expected: str | None, *, ignore_blanks: bool, ignore_case: bool, ignore_last_newline: bool
) -> MetricValue:
    """1 if the texts are equal. Line ends of any system and a byte-order mark are ignored.

    Raises:
        EvaluatorFailed: the expected file cannot be read.
    """
    texts = []
    for path, whose in ((expected, "expectation"), (result, "result")):
        text, reason = read_text(path)
        if text is None and whose == "expectation":
            raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
        if text is None:
            return verdict(met=False, reason=reason)
        text = text.rstrip("\n") if ignore_last_newline else text
        text = re.sub(r"\s+", " ", text).strip() if ignore_blanks else text
        texts.append(text.lower() if ignore_case else text)
    gold, actual = texts
    return verdict(actual == gold, _difference(actual.split("\n"), gold.split("\n")))


def _difference(actual: list[str], expected: list[str]) -> str:
    for number, (result, gold) in enumerate(zip(actual, expected, strict=False), start=1):
        if result != gold:
            return f"line {number} is {short(result)}, expected {short(gold)}"
    if len(actual) != len(expected):
        return f"{len(actual)} lines, expected {len(expected)}"
    return "the texts are the same"
