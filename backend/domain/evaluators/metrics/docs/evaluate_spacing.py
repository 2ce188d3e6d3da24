"""`evaluate_spacing`: introduction, body and conclusion have the expected line spacing."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import judge_document
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

_EXPECTED = [("auto", 240), ("auto", 480), ("auto", 360)]


@register(PluginKind.METRIC, "evaluate_spacing")
def evaluate_spacing(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the first three paragraphs have single, double and one and a half spacing.

    Args:
        result: path of the document.
        strict_upstream: styles and the document's defaults are ignored.
    """

    def take(document: "Document") -> list[tuple[str, int] | None]:
        styles = DocumentStyles(document, direct=strict_upstream)
        return [styles.line_spacing(paragraph) for paragraph in paragraphs(document)[:3]]

    def judge(spacings: list[tuple[str, int] | None]) -> MetricValue:
        return verdict(
            spacings == _EXPECTED,
            f"the first paragraphs have line spacings {short(spacings)}, expected {short(_EXPECTED)}",
        )

    return judge_document(result, take, judge, as_stored=strict_upstream)
