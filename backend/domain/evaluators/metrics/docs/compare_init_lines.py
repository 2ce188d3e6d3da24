"""`compare_init_lines`: two documents begin with the same text."""

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_init_lines")
def compare_init_lines(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the document begins with all paragraphs of the expected one; empty ones at that one's end do not count.

    Args:
        result: path of the document to judge.
        expected: path of the document with the expected beginning.
        strict_upstream: paragraphs are compared up to the length of the shorter document.
    """

    def judge(actual: list[str], expected: list[str]) -> MetricValue:
        while expected and not expected[-1].strip() and not strict_upstream:
            expected = expected[:-1]
        if len(actual) < len(expected) and not strict_upstream:
            return verdict(met=False, reason=f"{len(actual)} paragraphs, expected at least {len(expected)}")
        for number, (own, gold) in enumerate(zip(actual, expected, strict=False), start=1):
            if own != gold:
                return verdict(met=False, reason=f"paragraph {number} is {short(own)}, expected {short(gold)}")
        return verdict(met=True, reason=f"the first {min(len(actual), len(expected))} paragraphs are the same")

    return compare_documents(result, expected, texts, judge, as_stored=strict_upstream)
