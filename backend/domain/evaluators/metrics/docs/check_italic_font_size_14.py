"""`check_italic_font_size_14`: italic text is larger than the rest."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import with_same_text
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, run_text, runs
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

SIZE = 14.0
_FINE = "all italic text has 14 points"


class Piece(NamedTuple):
    """Text of uniform format; size in points, for italics only."""

    text: str
    italic: bool
    size: float | None


@register(PluginKind.METRIC, "check_italic_font_size_14")
def check_italic_font_size_14(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the texts are the same (ignoring blanks) and all italic letters have 14 points.

    Italics that have another size in the expected document (a quotation's style, say) may keep it. Text that is italic
    in 14 points there must still be italic.

    Args:
        result: path of the document to judge.
        expected: path of the document with the same text.
        strict_upstream: styles are ignored; italics may be gone; links are ignored, blanks count.
    """
    if strict_upstream:
        return with_same_text(
            result,
            expected,
            _as_published,
            lambda actual, _: first_wrong(_wrong(actual), _FINE),
            as_stored=True,
        )
    return with_same_text(result, expected, _pieces, _judge)


def _wrong(pieces: list[Piece]) -> list[str]:
    wrong = [piece for piece in pieces if piece.italic and piece.size != SIZE]
    return [f"{short(piece.text, 60)} is italic and has {short(piece.size)} points" for piece in wrong]


def _as_published(document: "Document") -> list[Piece]:
    styles = DocumentStyles(document, direct=True)
    return [
        Piece(run_text(run), styles.has("i", paragraph, run), styles.size(paragraph, run))
        for paragraph in paragraphs(document)
        for run in paragraph.iterchildren(w("r"))
    ]


def _pieces(document: "Document") -> list[Piece]:
    """Pieces without blanks, so that equal texts have equally many letters."""
    styles = DocumentStyles(document)
    return [
        Piece(text, italic, styles.size(paragraph, run) if italic else None)
        for paragraph in paragraphs(document)
        for run in runs(paragraph)
        if (text := "".join(run_text(run).split()))
        for italic in (styles.has("i", paragraph, run),)
    ]


def _align(actual: list[Piece], expected: list[Piece]) -> Iterator[tuple[Piece, Piece]]:
    """Pairs of overlapping pieces of two equal texts."""
    result, gold = iter(actual), iter(expected)
    left = right = 0
    piece = expected_piece = Piece("", italic=False, size=None)
    while True:
        if left == 0:
            piece = next(result, Piece("", italic=False, size=None))
            left = len(piece.text)
        if right == 0:
            expected_piece = next(gold, Piece("", italic=False, size=None))
            right = len(expected_piece.text)
        if not left or not right:
            return
        yield piece, expected_piece
        both = min(left, right)
        left, right = left - both, right - both


def _judge(actual: list[Piece], expected: list[Piece]) -> MetricValue:
    wrong: dict[str, None] = {}
    for result, gold in _align(actual, expected):
        if result.italic and result.size != SIZE and not (gold.italic and gold.size != SIZE):
            wrong[f"{short(result.text, 60)} is italic and has {short(result.size)} points"] = None
        if gold.italic and gold.size == SIZE and not result.italic:
            wrong[f"{short(result.text, 60)} is no longer italic"] = None
    return first_wrong(list(wrong), _FINE)
