"""`check_python_file_by_gold_file`: a program equals the expected one. Upstream has no implementation."""

from collections.abc import Sequence

from backend.domain.evaluators.metrics.vscode._texts import compare_files
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_python_file_by_gold_file")
def check_python_file_by_gold_file(
    result: str | Sequence[str | None] | None, expected: str | None, **_options: object
) -> MetricValue:
    """1 if the first file's text equals the expected file's; upstream has no verdict.

    Args:
        result: path of the program, or of several files with the program first.
        expected: path of the expected program.
    """
    files = [result] if isinstance(result, str) or result is None else list(result)
    first = files[0] if files else None
    return compare_files(first, expected, ignore_blanks=False, ignore_case=False, ignore_last_newline=True)
