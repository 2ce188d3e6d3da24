"""`compare_line_spacing`: two documents have the same text with the same line spacing."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import with_same_text
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

Spacing = tuple[str, int] | None


@register(PluginKind.METRIC, "compare_line_spacing")
def compare_line_spacing(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """Compares text (ignoring blanks), then the line spacing of every paragraph.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: styles and the document's defaults are ignored.
    """

    def take(document: "Document") -> list[Spacing]:
        styles = DocumentStyles(document, direct=strict_upstream)
        return [styles.line_spacing(paragraph) for paragraph in paragraphs(document)]

    return with_same_text(result, expected, take, _judge, as_stored=strict_upstream)


def _judge(actual: list[Spacing], expected: list[Spacing]) -> MetricValue:
    if len(actual) != len(expected):
        return verdict(met=False, reason=f"{len(actual)} paragraphs, expected {len(expected)}")
    wrong = [
        f"paragraph {number} has line spacing {_words(result)}, expected {_words(gold)}"
        for number, (result, gold) in enumerate(zip(actual, expected, strict=True), start=1)
        if result != gold
    ]
    return first_wrong(wrong, f"the line spacing of all {len(expected)} paragraphs is the same")


def _words(spacing: Spacing) -> str:
    if spacing is None:
        return "of its style"
    return f"{spacing[1] / 240:g}" if spacing[0] == "auto" else f"{spacing[0]} {spacing[1] / 20:g} pt"
