"""`check_tabstops`: tab stops are at the expected positions."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents, expectation
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, text_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

_EMU = 635
"""Twentieths of a point, the unit of positions."""
_SAME = {"start": "left", "num": "left", "end": "right"}
"""Newer names of the same alignments."""


class TabbedParagraph(NamedTuple):
    """A non-empty paragraph with its tab stops: alignment, position in EMU (914,400 per inch)."""

    text: str
    stops: list[tuple[str, int]]


@register(PluginKind.METRIC, "check_tabstops")
def check_tabstops(
    result: str | None,
    expected: str | None,
    *,
    word_number_split_by_tabstop: int | None = None,
    index: int = 0,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 minus the mean distance of tab stops from their expected positions, in text widths.

    0 if the documents differ in paragraphs, in the number of a paragraph's tab stops, or in their alignments.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        word_number_split_by_tabstop: number of words in a part of each line; tabs separate the parts.
        index: which part, from 0.
        strict_upstream: see only what upstream sees of a document, direct runs and links of its paragraphs, and their
            own tab stops in the order of the file.
    """
    width = expectation(expected, _width, as_stored=strict_upstream)
    if width <= 0:
        raise EvaluatorFailed("the page of the expected document has no space for text", code="invalid_reference")

    def judge(actual: list[TabbedParagraph], expected: list[TabbedParagraph]) -> MetricValue:
        if not expected:
            raise EvaluatorFailed("the expected document has no text", code="invalid_reference")
        if len(actual) != len(expected):
            return verdict(met=False, reason=f"{len(actual)} paragraphs with text, expected {len(expected)}")
        if word_number_split_by_tabstop is not None:
            reason = _wrong_words(actual, word_number_split_by_tabstop, index)
            if reason:
                return verdict(met=False, reason=reason)
        return _distance(actual, expected, width)

    read = partial(_lines, direct=strict_upstream)
    return compare_documents(result, expected, read, judge, as_stored=strict_upstream)


def _width(document: "Document") -> int:
    section = document.sections[0]
    sizes = [section.page_width, section.left_margin, section.right_margin]
    page, left, right = [0 if size is None else int(size) for size in sizes]
    return page - left - right


def _lines(document: "Document", *, direct: bool) -> list[TabbedParagraph]:
    styles = DocumentStyles(document, direct=direct)
    return [
        TabbedParagraph(text, _stops(styles.tab_stops(paragraph)))
        for paragraph in paragraphs(document)
        if (text := text_of(paragraph)).strip()
    ]


def _stops(tab_stops: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Ignores cleared tab stops and the default left one at 0."""
    stops = [(_SAME.get(kind, kind), _EMU * position) for kind, position in tab_stops]
    return [(kind, position) for kind, position in stops if kind != "clear" and (kind, position) != ("left", 0)]


def _wrong_words(lines: list[TabbedParagraph], number: int, index: int) -> str:
    for position, line in enumerate(lines, start=1):
        parts = line.text.split("\t")
        words = parts[index].split() if -len(parts) <= index < len(parts) else []
        if len(words) != number:
            return f"line {position} has {len(words)} words in part {index}, expected {number}: {short(line.text)}"
    return ""


def _distance(actual: list[TabbedParagraph], expected: list[TabbedParagraph], width: int) -> MetricValue:
    total = 0.0
    reasons: list[str] = []
    for index, (result, gold) in enumerate(zip(actual, expected, strict=True), start=1):
        if [kind for kind, _ in result.stops] != [kind for kind, _ in gold.stops]:
            return verdict(
                met=False, reason=f"line {index} has tab stops {short(result.stops)}, expected {short(gold.stops)}"
            )
        away = (
            sum(
                abs(stop - expected_stop)
                for (_, stop), (_, expected_stop) in zip(result.stops, gold.stops, strict=True)
            )
            / width
        )
        if away and len(reasons) < 5:  # noqa: PLR2004 - enough for a person.
            reasons.append(f"the tab stops of line {index} are {away:.2%} of the text's width away")
        total += away
    value = max(0.0, 1 - total / len(actual))
    return MetricValue(value=value, reasons=tuple(reasons) or ("all tab stops are at the expected positions",))
