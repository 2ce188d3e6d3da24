"""`compare_pdfs`: similarity of the texts of PDFs."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.chrome._pictures import alike_pages
from backend.domain.formats.pdf import PdfRefused, draw_pages, read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_WORK = 4 * 10**9
"""Maximum product of both lengths for a comparison letter by letter without a bound."""
_FAR = 10_000
"""Above that, texts that differ by more letters are compared by lines."""
Paths = str | list[str | None] | None


@register(PluginKind.METRIC, "compare_pdfs")
def compare_pdfs(pdf1_path: Paths, pdf2_path: Paths, *, strict_upstream: bool = False) -> MetricValue:
    """The mean similarity of the texts, pair by pair: 1 - indel distance / (length + length).

    Args:
        pdf1_path: the file to judge, or a list.
        pdf2_path: the file to compare with, or a list of the same length.
        strict_upstream: as upstream: files without text are equal. Otherwise the look of their pages is compared.
    """
    paths = pdf1_path if isinstance(pdf1_path, list) else [pdf1_path]
    expected_paths = pdf2_path if isinstance(pdf2_path, list) else [pdf2_path]
    if not expected_paths:
        raise EvaluatorFailed("there is no expected file", code="invalid_reference")
    values, reasons = [], []
    for position, expected in enumerate(expected_paths):
        actual = paths[position] if position < len(paths) else None
        value, reason = _pair(actual, expected, strict=strict_upstream)
        values.append(value)
        reasons.append(f"file {position + 1}: {reason}" if len(expected_paths) > 1 else reason)
    return MetricValue(value=sum(values) / len(values), reasons=tuple(reasons[:20]))


def _pair(path: str | None, expected_path: str | None, *, strict: bool) -> tuple[float, str]:
    try:
        expected = read_text(expected_path)
    except PdfRefused as error:
        raise EvaluatorFailed(f"expected file: {error}", code="invalid_reference") from error
    try:
        text = read_text(path)
        if not text and not expected and not strict:
            return _similar_pages(path, expected_path)
    except PdfRefused as error:
        return 0.0, str(error)
    value = _likeness(text, expected)
    if value >= 1.0:
        return 1.0, f"the texts of {len(text)} letters are the same"
    return value, f"text similarity {value:.4f}: {short(text, 60)} and {short(expected, 60)}"


def _likeness(first: str, second: str) -> float:
    from rapidfuzz.distance import Indel

    if len(first) * len(second) <= _WORK:
        return float(Indel.normalized_similarity(first, second))
    distance = Indel.distance(first, second, score_cutoff=_FAR)
    if distance <= _FAR:
        return 1.0 - distance / (len(first) + len(second))
    return float(Indel.normalized_similarity(first.split("\n"), second.split("\n")))


def _similar_pages(path: str | None, expected_path: str | None) -> tuple[float, str]:
    """The share of pages that look alike, for scans."""
    pages, expected_pages = draw_pages(path), draw_pages(expected_path)
    if len(pages) != len(expected_pages) or not expected_pages:
        return 0.0, f"neither file has text; {len(pages)} pages, expected {len(expected_pages)}"
    same = sum(alike_pages(page, other_page) for page, other_page in zip(pages, expected_pages, strict=True))
    return same / len(expected_pages), f"neither file has text; {same} of {len(expected_pages)} pages look alike"
