"""`compare_init_lines`: two documents begin with the same text."""

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compared
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_init_lines")
def compare_init_lines(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the paragraphs are equal up to the length of the shorter document.

    Args:
        result: path of the document to judge.
        expected: path of the document with the expected beginning.
        strict_upstream: a document without paragraphs matches every other.
    """

    def judge(actual: list[str], expected: list[str]) -> MetricValue:
        if not actual and expected and not strict_upstream:
            return verdict(met=False, reason="the document has no paragraphs")
        for number, (mine, other) in enumerate(zip(actual, expected, strict=False), start=1):
            if mine != other:
                return verdict(met=False, reason=f"paragraph {number} is {short(mine)}, expected {short(other)}")
        return verdict(met=True, reason=f"the first {min(len(actual), len(expected))} paragraphs are the same")

    return compared(result, expected, texts, judge, as_stored=strict_upstream)
