"""`compare_docx_files`: two text documents have the same text."""

from backend.domain.evaluators.metrics.docs._texts import CompareDocxOptions, compare_files
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_docx_files")
def compare_docx_files(  # noqa: PLR0913 - upstream's options.
    result: str | None,
    expected: str | None,
    *,
    ignore_blanks: bool = True,
    ignore_case: bool = False,
    ignore_order: bool = False,
    content_only: bool = False,
    fuzzy_match: bool = False,
    delete_empty_lines: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """Compares the paragraphs of two .docx or two .odt files; text in tables, headers and footers is ignored.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        ignore_blanks: any run of white space, including ends of paragraphs, counts as one blank; else paragraph by
            paragraph.
        ignore_case: ignore case.
        ignore_order: ignore the order of paragraphs.
        content_only: the value is the similarity of the whole texts.
        fuzzy_match: the same; without `ignore_blanks` the mean over the paragraphs.
        delete_empty_lines: ignore empty paragraphs.
        strict_upstream: read .odt files as published, without headings, links and repeated blanks.
    """
    how = CompareDocxOptions(
        ignore_blanks=ignore_blanks,
        ignore_case=ignore_case,
        ignore_order=ignore_order,
        content_only=content_only,
        fuzzy_match=fuzzy_match,
        delete_empty_lines=delete_empty_lines,
        strict_upstream=strict_upstream,
    )
    return compare_files(result, expected, how)
