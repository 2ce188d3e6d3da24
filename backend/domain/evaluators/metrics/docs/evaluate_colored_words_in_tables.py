"""`evaluate_colored_words_in_tables`: words that begin with a vowel are red, the others blue."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import with_same_text
from backend.domain.formats.colour_difference import difference
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import cell_paragraphs, run_text, runs
from backend.domain.formats.word_wrappers import Element, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

Color = tuple[int, int, int] | None
Words = list[tuple[str, frozenset[Color]]]
"""Each word with the colours of its letters."""
_RED, _BLUE = (255, 0, 0), (0, 0, 255)


@register(PluginKind.METRIC, "evaluate_colored_words_in_tables")
def evaluate_colored_words_in_tables(
    result: str | None, expected: str | None, *, threshold: float = 3.5, strict_upstream: bool = False
) -> MetricValue:
    """1 if the texts are the same (ignoring blanks), also in tables, and every word in a table has its colour.

    Args:
        result: path of the document to judge.
        expected: path of the document with the same words.
        threshold: maximum colour difference, CIEDE2000.
        strict_upstream: judge pieces of uniform format by their first character of any kind; do not compare the tables'
            words or require tables.
    """
    if strict_upstream:
        return with_same_text(
            result, expected, _pieces, lambda actual, _: _check_colours(actual, threshold), as_stored=True
        )

    def judge(actual: Words, expected: Words) -> MetricValue:
        own, gold = ([word for word, _ in words] for words in (actual, expected))
        if own != gold:
            return verdict(
                met=False, reason=f"the tables have {len(own)} words, different from the {len(gold)} expected ones"
            )
        return _check_colours([word for word in actual if word[0][0].isalpha()], threshold)

    return with_same_text(result, expected, _words, judge)


def _check_colours(words: Words, threshold: float) -> MetricValue:
    from functools import cache

    @cache
    def near(colors: frozenset[Color], expected: tuple[int, int, int]) -> bool:
        other_colors = colors - {expected}
        return all(color is not None and difference(color, expected) <= threshold for color in other_colors)

    wrong = []
    for word, colors in words:
        name, expected = ("red", _RED) if word[0] in "aeiouAEIOU" else ("blue", _BLUE)
        if not near(colors, expected):
            wrong.append(f"{short(word, 40)} should be {name}, it is {_names(colors)}")
    return first_wrong(wrong, f"all {len(words)} words in tables have their colour")


def _names(colors: frozenset[Color]) -> str:
    return " and ".join(sorted("automatic" if color is None else "#" + bytes(color).hex() for color in colors))


def _words(document: "Document") -> Words:
    styles = DocumentStyles(document)
    return [word for paragraph in cell_paragraphs(document) for word in _words_of(styles, paragraph)]


def _words_of(styles: DocumentStyles, paragraph: Element) -> Words:
    pieces = [(run_text(run), styles.color(paragraph, run)) for run in runs(paragraph)]
    text = "".join(piece for piece, _ in pieces)
    colors = frozenset(color for piece, color in pieces if piece.strip())
    if len(colors) == 1:
        return [(word, colors) for word in text.split()]
    letters = [color for piece, color in pieces for _ in piece]
    return [(word.group(), frozenset(letters[word.start() : word.end()])) for word in re.finditer(r"\S+", text)]


def _pieces(document: "Document") -> Words:
    return list(_runs(document))


def _runs(document: "Document") -> Iterator[tuple[str, frozenset[Color]]]:
    styles = DocumentStyles(document, direct=True)
    for paragraph in cell_paragraphs(document, nested=False):
        for run in paragraph.iterchildren(w("r")):
            if run_text(run):
                yield run_text(run), frozenset({styles.color(paragraph, run)})
