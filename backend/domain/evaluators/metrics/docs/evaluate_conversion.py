"""`evaluate_conversion`: text in capital letters was converted to lower case."""

from functools import partial
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong, judge_document
from backend.domain.formats.documents import cell_paragraphs, paragraphs, run_text
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "evaluate_conversion")
def evaluate_conversion(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if no piece of uniform format, in tables or outside, is entirely in capital letters.

    Args:
        result: path of the document.
        strict_upstream: a document without text passes.
    """

    def judge(pieces: list[str]) -> MetricValue:
        if not any(map(str.strip, pieces)) and not strict_upstream:
            return verdict(met=False, reason="the document has no text")
        wrong = [f"{short(text, 60)} is in capitals" for text in pieces if text.isupper()]
        return first_wrong(wrong, "no text is in capitals")

    return judge_document(result, partial(_pieces, nested=not strict_upstream), judge, as_stored=strict_upstream)


def _pieces(document: "Document", *, nested: bool) -> list[str]:
    both = (*cell_paragraphs(document, nested=nested), *paragraphs(document))
    return [run_text(run) for paragraph in both for run in paragraph.iterchildren(w("r"))]
