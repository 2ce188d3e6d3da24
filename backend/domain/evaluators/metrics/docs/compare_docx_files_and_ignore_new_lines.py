"""`compare_docx_files_and_ignore_new_lines`: two documents have the same text, ignoring empty paragraphs."""

from backend.domain.evaluators.metrics.docs._documents import compare_documents
from backend.domain.evaluators.metrics.docs._texts import CompareDocxOptions, compare_texts
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_docx_files_and_ignore_new_lines")
def compare_docx_files_and_ignore_new_lines(
    result: str | None, expected: str | None, *, ignore_blanks: bool = True, strict_upstream: bool = False
) -> MetricValue:
    """Compares two .docx files.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        ignore_blanks: any run of white space, including ends of paragraphs, counts as one blank; else paragraph by
            paragraph.
        strict_upstream: see only what upstream sees of a document, direct runs and links of its paragraphs.
    """
    how = CompareDocxOptions(ignore_blanks=ignore_blanks)
    return compare_documents(
        result,
        expected,
        lambda document: [text for text in texts(document) if text],
        lambda actual, expected: compare_texts(actual, expected, how),
        as_stored=strict_upstream,
    )
