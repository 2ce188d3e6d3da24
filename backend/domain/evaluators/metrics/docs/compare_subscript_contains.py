"""`compare_subscript_contains`: two documents have a subscript in the same place."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.formats.document_styles import Styles
from backend.domain.evaluators.formats.documents import paragraphs, run_text, runs, w
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import compared
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

if TYPE_CHECKING:
    from docx.document import Document

Places = set[tuple[int, int]]
"""Paragraph and place in it, of a character or, as published, of a run."""


@register(Kind.METRIC, "compare_subscript_contains")
def compare_subscript_contains(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if some character is a subscript in both documents.

    Args:
        result: path of the document to judge.
        expected: path of the document with the subscript.
        strict_upstream: count runs, not characters, though applications cut text into runs as they like; what a style
            says does not count.
    """
    take = _runs if strict_upstream else _characters
    return compared(result, expected, take, _judge)


def _judge(found: Places, wanted: Places) -> MetricValue:
    reason = f"{len(found)} subscripts, {len(wanted)} expected, {len(found & wanted)} in the same place"
    return verdict(found & wanted, reason)


def _runs(document: "Document") -> Places:
    styles = Styles(document, direct=True)
    return {
        (number, place)
        for number, paragraph in enumerate(paragraphs(document))
        for place, run in enumerate(paragraph.iterchildren(w("r")))
        if styles.position(paragraph, run) == "subscript"
    }


def _characters(document: "Document") -> Places:
    styles, places = Styles(document), set()
    for number, paragraph in enumerate(paragraphs(document)):
        start = 0
        for run in runs(paragraph):
            text = run_text(run)
            if styles.position(paragraph, run) == "subscript":
                places |= {(number, start + place) for place, letter in enumerate(text) if letter.strip()}
            start += len(text)
    return places
