"""`compare_text_file`: two text files are the same."""

import re

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.formats.text import read_text
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue


@register(Kind.METRIC, "compare_text_file")
def compare_text_file(
    result: str | None,
    expected: str | None,
    *,
    ignore_blanks: bool = False,
    ignore_case: bool = False,
    ignore_last_newline: bool = True,
) -> MetricValue:
    """1 if the texts are equal.

    Args:
        result: path of the file to judge.
        expected: path of the file it should equal.
        ignore_blanks: any run of white space counts as one blank.
        ignore_case: upper and lower case are the same.
        ignore_last_newline: ours; an editor may end the last line or not.
    """
    texts = []
    for path, whose in ((result, "result"), (expected, "expectation")):
        text, reason = read_text(path)
        if text is None and whose == "expectation":
            raise EvaluatorFailed(f"the file to compare with: {reason}")
        if text is None:
            return verdict(met=False, reason=reason)
        text = text.rstrip("\n") if ignore_last_newline else text
        text = re.sub(r"\s+", " ", text).strip() if ignore_blanks else text
        texts.append(text.lower() if ignore_case else text)
    return verdict(texts[0] == texts[1], _difference(texts[0].split("\n"), texts[1].split("\n")))


def _difference(found: list[str], wanted: list[str]) -> str:
    for number, (mine, other) in enumerate(zip(found, wanted, strict=False), start=1):
        if mine != other:
            return f"line {number} is {short(mine)}, expected {short(other)}"
    if len(found) != len(wanted):
        return f"{len(found)} lines, expected {len(wanted)}"
    return "the texts are the same"
