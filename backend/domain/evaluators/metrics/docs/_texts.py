"""Text comparison of two documents: `compare_docx_files`, and the metrics that build on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents
from backend.domain.formats.documents import read_document, texts
from backend.domain.formats.odt import odt_texts, odt_texts_as_published, read_odt
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue

if TYPE_CHECKING:
    from docx.document import Document

T = TypeVar("T")
MAX_WORK = 2 * 10**10
"""Maximum pairs of characters for a comparison by letters, about a second; above, words are compared."""
_AROUND = 30


@dataclass(frozen=True)
class CompareDocxOptions:
    """Upstream's options; see `compare_docx_files`."""

    ignore_blanks: bool = True
    ignore_case: bool = False
    ignore_order: bool = False
    content_only: bool = False
    fuzzy_match: bool = False
    delete_empty_lines: bool = False
    strict_upstream: bool = False


def compare_files(result: str | None, expected: str | None, how: CompareDocxOptions) -> MetricValue:
    """Reads two .docx or two .odt files, by their suffix, and compares their texts.

    Raises:
        EvaluatorFailed: the expected document cannot be read.
    """
    ending = str(expected).rsplit(".", 1)[-1]
    if ending not in {"docx", "odt"}:
        raise EvaluatorFailed(
            f"the expected document is called {short(str(expected).rsplit('/', 1)[-1])}",
            code="invalid_reference",
        )
    gold, reason = _read(expected, ending, how)
    if gold is None:
        raise EvaluatorFailed(f"expected document: {reason}", code="invalid_reference")
    if result is not None and not result.endswith(f".{ending}"):
        return verdict(met=False, reason=f"the file is not .{ending}")
    actual, reason = _read(result, ending, how)
    return verdict(met=False, reason=reason) if actual is None else compare_texts(actual, gold, how)


def same_text(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue | None:
    """None if both documents have the same text, ignoring blanks; else the verdict with the differences."""
    comparison = compare_files(result, expected, CompareDocxOptions(strict_upstream=strict_upstream))
    return None if comparison.value else comparison


def with_same_text(
    result: str | None,
    expected: str | None,
    take: Callable[["Document"], T],
    judge: Callable[[T, T], MetricValue],
    *,
    as_stored: bool = False,
) -> MetricValue:
    """`judge(actual, expected)` of two .docx files if their texts are equal but for blanks; else their difference.

    Raises:
        EvaluatorFailed: the expected document cannot be read.
    """

    def both(actual: tuple[list[str], T], expected: tuple[list[str], T]) -> MetricValue:
        same = compare_texts(actual[0], expected[0], CompareDocxOptions())
        return judge(actual[1], expected[1]) if same.value else same

    def read(document: "Document") -> tuple[list[str], T]:
        # lxml recreates an element's object when nothing references it, which takes longer than reading it.
        elements = list(document.element.body.iter(w("p"), w("r")))
        content = texts(document), take(document)
        del elements
        return content

    return compare_documents(result, expected, read, both, as_stored=as_stored)


def compare_texts(actual: Sequence[str], expected: Sequence[str], how: CompareDocxOptions) -> MetricValue:
    actual, expected = _prepare(actual, how), _prepare(expected, how)
    if how.content_only or how.ignore_blanks:
        result, gold = _join_paragraphs(actual), _join_paragraphs(expected)
        if how.content_only or how.fuzzy_match:
            return _similar(ratio(result, gold), result, gold)
        return verdict(result == gold, _difference(result, gold))
    if len(actual) != len(expected):
        return verdict(
            met=False, reason=f"{len(actual)} paragraphs, expected {len(expected)}; {_paragraph(actual, expected)}"
        )
    if how.fuzzy_match:
        ratios = [ratio(result, gold) for result, gold in zip(actual, expected, strict=True)]
        mean = sum(ratios) / len(ratios) if ratios else 1.0
        return MetricValue(value=mean, reasons=(f"paragraph similarity {mean:.4f}; {_paragraph(actual, expected)}",))
    return verdict(list(actual) == list(expected), _paragraph(actual, expected))


def ratio(result: str, gold: str) -> float:
    """Similarity of two texts, 0 to 1, as rapidfuzz's `ratio`: 2 x longest common subsequence / sum of lengths.

    Very long texts are compared word by word; for few changes the difference is small.
    """
    from rapidfuzz.distance import Indel

    if result == gold:
        return 1.0
    if len(result) * len(gold) <= MAX_WORK:
        return Indel.normalized_similarity(result, gold)
    return Indel.normalized_similarity(result.split(), gold.split())


def _read(path: str | None, ending: str, how: CompareDocxOptions) -> tuple[list[str] | None, str]:
    if ending == "docx":
        return read_document(path, texts, as_stored=how.strict_upstream)
    return read_odt(path, odt_texts_as_published if how.strict_upstream else odt_texts)


def _prepare(paragraphs: Sequence[str], how: CompareDocxOptions) -> list[str]:
    fold: Callable[[str], str] = str.lower if how.ignore_case else str
    if how.strict_upstream and how.ignore_order:
        # As published, lines are sorted before case folding, so that `b` comes after `A`, but before `a`.
        paragraphs = sorted(paragraphs)
    folded = [fold(text) for text in paragraphs if text.strip() or not how.delete_empty_lines]
    return sorted(folded) if how.ignore_order and not how.strict_upstream else folded


def _join_paragraphs(paragraphs: Sequence[str]) -> str:
    return " ".join("\n".join(paragraphs).split())


def _similar(value: float, result: str, gold: str) -> MetricValue:
    return MetricValue(value=value, reasons=(f"text similarity {value:.4f}; {_difference(result, gold)}",))


def _difference(result: str, gold: str) -> str:
    if result == gold:
        return "the texts are the same"
    pairs = enumerate(zip(result, gold, strict=False))
    start = next(
        (position for position, (line, expected_line) in pairs if line != expected_line), min(len(result), len(gold))
    )
    begin, end = max(0, start - _AROUND), start + _AROUND
    return f"from character {start + 1}: {short(result[begin:end])}, expected {short(gold[begin:end])}"


def _paragraph(actual: Sequence[str], expected: Sequence[str]) -> str:
    for number, (result, gold) in enumerate(zip(actual, expected, strict=False), start=1):
        if result != gold:
            return f"paragraph {number} is {short(result)}, expected {short(gold)}"
    return "the paragraphs are the same" if len(actual) == len(expected) else "one is longer"
