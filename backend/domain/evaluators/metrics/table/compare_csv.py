"""`compare_csv`: a text table has the lines of another."""

from collections.abc import Sequence

from backend.domain.evaluators.metrics.table._csv import compare_cells
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_csv")
def compare_csv(
    result: str | None,
    expected: str | Sequence[str | None] | None,
    *,
    strict: bool = True,
    ignore_case: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if all lines are the same. OSWorld's behaviour.

    Quotes that a cell does not need are ignored: `"a","b"` equals `a,b`; so are empty columns at the end.

    Args:
        result: path of the file to judge.
        expected: path of the expected file, or several alternatives.
        strict: trailing blanks count.
        ignore_case: ignore case.
        strict_upstream: quotes count.
    """
    return compare_cells(
        result,
        expected,
        strict=strict,
        ignore_case=ignore_case,
        keep_mark=False,
        as_written=strict_upstream,
    )


@register(PluginKind.METRIC, "compare_csv", dialect="waa")
def compare_csv_waa(
    result: str | None,
    expected: str | Sequence[str | None] | None,
    *,
    strict: bool = True,
    ignore_case: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """`compare_csv` of WAA: as the common one, but `strict_upstream` keeps the byte-order mark, as WAA does.

    1 if all lines are the same; see the common one.
    """
    return compare_cells(
        result,
        expected,
        strict=strict,
        ignore_case=ignore_case,
        keep_mark=strict_upstream,
        as_written=strict_upstream,
    )
