"""`compare_text_file`: two text files are equal, including the last line's end."""

from backend.domain.evaluators.metrics.vscode._texts import compare_files
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_text_file")
def compare_text_file(
    result: str | None, expected: str | None, *, ignore_blanks: bool = False, ignore_case: bool = False
) -> MetricValue:
    """1 if the texts are equal.

    Args:
        result: path of the file to judge.
        expected: path of the expected file.
        ignore_blanks: any run of white space counts as one blank.
        ignore_case: ignore case.
    """
    return compare_files(
        result, expected, ignore_blanks=ignore_blanks, ignore_case=ignore_case, ignore_last_newline=False
    )


@register(PluginKind.METRIC, "compare_text_file", dialect="starter")
def compare_text_file_starter(
    result: str | None,
    expected: str | None,
    *,
    ignore_blanks: bool = False,
    ignore_case: bool = False,
    ignore_last_newline: bool = True,
) -> MetricValue:
    """`compare_text_file` of our own tasks: two text files are equal, ignoring the last line's end.

    1 if the texts are equal.

    Args:
        result: path of the file to judge.
        expected: path of the expected file.
        ignore_blanks: any run of white space counts as one blank.
        ignore_case: ignore case.
        ignore_last_newline: ignore a newline at the end of the file.
    """
    return compare_files(
        result,
        expected,
        ignore_blanks=ignore_blanks,
        ignore_case=ignore_case,
        ignore_last_newline=ignore_last_newline,
    )
