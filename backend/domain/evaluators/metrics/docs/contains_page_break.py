"""`contains_page_break`: a document has page breaks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import judge_document
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs
from backend.domain.formats.word_wrappers import Element, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "contains_page_break")
def contains_page_break(
    result: str | None, rules: Mapping[str, Any] | None = None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if there is a page break, or with a rule, as many as the rule has.

    A break is a character of the text, or a paragraph, other than the first, that starts a new page. Rules do not say
    which kind they count: either the number of characters or the number of all breaks may match.

    Args:
        result: path of the document.
        rules: `page_break_count`, optional; WindowsAgentArena has no rules.
        strict_upstream: only characters in the body's runs count.
    """
    expected = (rules or {}).get("page_break_count")
    if expected is not None and (not isinstance(expected, int) or isinstance(expected, bool)):
        raise EvaluatorFailed(f"`page_break_count` is {expected!r}, which is not a number", code="invalid_rule")

    def judge(counts: set[int]) -> MetricValue:
        met = max(counts) > 0 and (expected is None or expected in counts)
        words = " or ".join(map(str, sorted(counts)))
        return verdict(met, f"{words} page breaks, expected {'at least one' if expected is None else expected}")

    published = judge_document(result, _published_breaks, judge, as_stored=True)
    return published if published.value or strict_upstream else judge_document(result, _breaks, judge)


def _published_breaks(document: "Document") -> set[int]:
    runs = (run for paragraph in paragraphs(document) for run in paragraph.iterchildren(w("r")))
    return {sum(_is_break(element) for run in runs for element in run.iter(w("br")))}


def _breaks(document: "Document") -> set[int]:
    """The number of break characters, without and with the paragraphs that start a page."""
    styles = DocumentStyles(document)
    characters = sum(map(_is_break, document.element.body.iter(w("br"))))
    return {
        characters,
        characters
        + sum(
            styles.breaks_before(paragraph) for paragraph in paragraphs(document) if paragraph.getprevious() is not None
        ),
    }


def _is_break(element: Element) -> bool:
    return bool(element.get(w("type")) == "page")
