"""`is_first_line_centered`: a document begins with a centred line."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import judge_document
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, text_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "is_first_line_centered")
def is_first_line_centered(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the first non-empty paragraph is centred, directly or by its style.

    Args:
        result: path of the document.
        strict_upstream: the first paragraph, empty or not, must be centred directly.
    """

    def take(document: "Document") -> tuple[str, str]:
        styles, body = DocumentStyles(document, direct=strict_upstream), paragraphs(document)
        first = next((paragraph for paragraph in body if strict_upstream or text_of(paragraph).strip()), None)
        return ("", "") if first is None else (text_of(first), styles.alignment(first))

    def judge(first_line: tuple[str, str]) -> MetricValue:
        text, alignment = first_line
        if not alignment:
            return verdict(met=False, reason="the document has no text")
        return verdict(alignment == "center", f"the first line {short(text, 60)} is aligned {alignment!r}")

    return judge_document(result, take, judge, as_stored=strict_upstream)
