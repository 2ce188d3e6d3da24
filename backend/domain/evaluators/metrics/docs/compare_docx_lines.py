"""`compare_docx_lines`: two documents have the same lines, in any order."""

from collections import Counter
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "compare_docx_lines")
def compare_docx_lines(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """Compares the non-empty paragraphs, stripped of blanks.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: repeated lines count once.
    """

    def lines(document: "Document") -> Counter[str]:
        counts = Counter(text.strip() for text in texts(document) if text.strip())
        return Counter(dict.fromkeys(counts, 1)) if strict_upstream else counts

    return compare_documents(result, expected, lines, _judge, as_stored=strict_upstream)


def _judge(actual: Counter[str], expected: Counter[str]) -> MetricValue:
    wrong = [f"the line {short(line)} is missing" for line in expected - actual]
    wrong += [f"the line {short(line)} is unexpected" for line in actual - expected]
    return first_wrong(wrong, f"all {expected.total()} lines are present, and no others")
