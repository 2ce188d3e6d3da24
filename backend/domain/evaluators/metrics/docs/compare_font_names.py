"""`compare_font_names`: all text is in one font."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong, judge_document
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, run_text
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

Fonts = list[tuple[int, str, set[str | None]]]
"""Paragraph, text and fonts of each run."""


@register(PluginKind.METRIC, "compare_font_names")
def compare_font_names(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if every letter of the body's paragraphs has the font; tables, headers and footers are ignored.

    Args:
        result: path of the document.
        rules: `font_name`.
        strict_upstream: what a style or the document's defaults say are ignored, runs without text count, links do not,
            and a document without text passes.
    """
    expected = rules.get("font_name")
    if not isinstance(expected, str):
        raise EvaluatorFailed("`rules.font_name` is missing", code="invalid_rule")

    def take(document: "Document") -> Fonts:
        styles = DocumentStyles(document, direct=strict_upstream)
        return [
            (number, text, styles.fonts(paragraph, run, text))
            for number, paragraph in enumerate(paragraphs(document), start=1)
            for run in paragraph.iterchildren(w("r"))
            if (text := run_text(run)).strip() or strict_upstream
        ]

    def judge(fonts: Fonts) -> MetricValue:
        if not fonts and not strict_upstream:
            return verdict(met=False, reason="the document has no text")
        wrong = [
            f"paragraph {number}: {short(text, 40)} is in {_names(used)}, expected {expected!r}"
            for number, text, used in fonts
            if used != {expected}
            and (strict_upstream or {str(font).casefold() for font in used} != {expected.casefold()})
        ]
        return first_wrong(wrong, f"all text is in {expected}")

    return judge_document(result, take, judge, as_stored=strict_upstream)


def _names(fonts: set[str | None]) -> str:
    return " and ".join(sorted(map(short, fonts)))
