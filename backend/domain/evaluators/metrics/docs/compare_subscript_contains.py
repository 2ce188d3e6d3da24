"""`compare_subscript_contains`: two documents have the same subscripts."""

from functools import partial
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, run_text, runs
from backend.domain.formats.word_wrappers import Element, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

Places = dict[int, int]
"""By paragraph, one bit per character or, as published, per run."""


@register(PluginKind.METRIC, "compare_subscript_contains")
def compare_subscript_contains(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the same characters are subscripts in both documents, and some are; blanks do not count.

    Args:
        result: path of the document to judge.
        expected: path of the document with the subscript.
        strict_upstream: a run that is a subscript in both is enough, though applications cut text into runs as they
            like; styles are ignored.
    """
    take = _runs if strict_upstream else _characters
    judge = partial(_judge, overlap=strict_upstream)
    return compare_documents(result, expected, take, judge, as_stored=strict_upstream)


def _judge(actual: Places, expected: Places, *, overlap: bool) -> MetricValue:
    both = {number: bits & expected.get(number, 0) for number, bits in actual.items()}
    result, gold, shared = (sum(bits.bit_count() for bits in places.values()) for places in (actual, expected, both))
    return verdict(
        shared > 0 and (overlap or result == gold == shared),
        f"{result} subscripts, {gold} expected, {shared} at the same position",
    )


def _runs(document: "Document") -> Places:
    styles = DocumentStyles(document, direct=True)
    return {
        number: sum(
            1 << index
            for index, run in enumerate(paragraph.iterchildren(w("r")))
            if styles.position(paragraph, run) == "subscript"
        )
        for number, paragraph in enumerate(paragraphs(document))
    }


def _characters(document: "Document") -> Places:
    styles = DocumentStyles(document)
    return {number: _bits(styles, paragraph) for number, paragraph in enumerate(paragraphs(document))}


def _bits(styles: DocumentStyles, paragraph: Element) -> int:
    """Bit n represents the n-th character."""
    bits = start = 0
    for run in runs(paragraph):
        text = run_text(run)
        if text.strip() and styles.position(paragraph, run) == "subscript":
            bits |= sum(1 << index for index, letter in enumerate(text, start) if not letter.isspace())
        start += len(text)
    return bits
