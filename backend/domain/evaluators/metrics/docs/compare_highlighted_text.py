"""`compare_highlighted_text`: two documents highlight the same text."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import run_text, runs
from backend.domain.formats.word_wrappers import Element, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "compare_highlighted_text")
def compare_highlighted_text(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the highlighted letters of all paragraphs, including tables, are the same in the same order.

    Highlighting may be a highlight or a shading (LibreOffice writes either), in one piece or several.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: compare the set of highlighted pieces; shadings and what styles say do not count.
    """
    take = _as_published if strict_upstream else _highlighted_texts
    return compare_documents(result, expected, take, _judge, as_stored=strict_upstream)


def _judge(actual: Sequence[str], expected: Sequence[str]) -> MetricValue:
    wrong = [
        f"highlighted: {short(result)}, expected {short(gold)}"
        for result, gold in zip_longest(actual, expected)
        if result != gold
    ]
    return first_wrong(wrong, f"{len(expected)} highlighted texts, all as expected")


def _highlighted_texts(document: "Document") -> list[str]:
    styles = DocumentStyles(document)
    texts = ("".join(_letters(styles, paragraph)) for paragraph in document.element.body.iter(w("p")))
    return [text for text in texts if text]


def _letters(styles: DocumentStyles, paragraph: Element) -> list[str]:
    """Without blanks: whether a blank beside a highlighted word is highlighted is arbitrary."""
    return ["".join(run_text(run).split()) for run in runs(paragraph) if styles.highlight(paragraph, run)]


def _as_published(document: "Document") -> list[str]:
    texts = set()
    for run in document.element.iter(w("r")):
        mark, text = next(run.iter(w("highlight")), None), next(run.iter(w("t")), None)
        if mark is not None and mark.get(w("val")) != "none" and text is not None:
            texts.add(text.text or "")
    return sorted(texts)
