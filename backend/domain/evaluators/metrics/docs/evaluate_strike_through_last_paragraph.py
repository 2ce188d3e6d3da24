"""`evaluate_strike_through_last_paragraph`: the last paragraph is struck through."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import with_same_text
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, run_text, text_of
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "evaluate_strike_through_last_paragraph")
def evaluate_strike_through_last_paragraph(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the texts are the same (ignoring blanks) and the last non-empty paragraph is struck through.

    Args:
        result: path of the document to judge.
        expected: path of the document with the same text.
        strict_upstream: an empty last paragraph passes; blanks must be struck through, links need not; styles are
            ignored.
    """

    def take(document: "Document") -> list[tuple[str, bool]]:
        styles = DocumentStyles(document, direct=strict_upstream)
        body = [paragraph for paragraph in paragraphs(document) if strict_upstream or text_of(paragraph).strip()]
        last = body[-1:]
        return [
            (run_text(run), styles.has("strike", paragraph, run))
            for paragraph in last
            for run in paragraph.iterchildren(w("r"))
            if run_text(run).strip() or strict_upstream
        ]

    def judge(pieces: list[tuple[str, bool]], _: list[tuple[str, bool]]) -> MetricValue:
        if not pieces and not strict_upstream:
            return verdict(met=False, reason="the document has no text")
        wrong = [f"{short(text, 60)} is not struck through" for text, struck in pieces if not struck]
        return first_wrong(wrong, "the last paragraph is struck through")

    return with_same_text(result, expected, take, judge, as_stored=strict_upstream)
