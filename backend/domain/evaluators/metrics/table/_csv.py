"""Compares two text tables by lines and cells."""

import csv
import re
from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.csvs import read_lines
from backend.domain.model.score import MetricValue

_DELIMITERS = (",", ";", "\t", "|")
_QUOTED_TEXT = re.compile('"[^"]*"')


def compare_cells(  # noqa: PLR0913 - the options of two suites.
    result: str | None,
    expected: str | Sequence[str | None] | None,
    *,
    strict: bool,
    ignore_case: bool,
    keep_mark: bool,
    as_written: bool,
) -> MetricValue:
    """1 if the cells are those of an expected file.

    Args:
        result: path of the file to judge.
        expected: path of the expected file, or several alternatives.
        strict: trailing blanks count.
        ignore_case: ignore case.
        keep_mark: a byte-order mark counts.
        as_written: quotes count even where a cell needs none, and rarer separators end a line.

    Raises:
        EvaluatorFailed: an expected file cannot be read, and no other one matches.
    """

    def plain(lines: list[str]) -> list[str]:
        lines = lines if strict else [line.strip() for line in lines]
        return [line.lower() for line in lines] if ignore_case else lines

    paths = [expected] if isinstance(expected, str) or expected is None else list(expected)
    golds = [read_lines(path, keep_mark=keep_mark, as_published=as_written) for path in paths]
    unread = [reason for lines, reason in golds if lines is None]
    if len(unread) == len(golds):
        raise EvaluatorFailed(f"expected table: {unread[0] if unread else 'none is named'}", code="invalid_reference")
    actual, reason = read_lines(result, keep_mark=keep_mark, as_published=as_written)
    if actual is None:
        return verdict(met=False, reason=reason)
    tables = [plain(lines) for lines, _ in golds if lines is not None]
    own = plain(actual)
    if own in tables:
        return verdict(met=True, reason="the lines are the same")
    if not as_written and any(_same_cells(own, table) for table in tables):
        return verdict(met=True, reason="the cells are the same")
    if unread:
        raise EvaluatorFailed(f"expected table: {unread[0]}", code="invalid_reference")
    return verdict(met=False, reason=_difference(own, tables))


def _same_cells(lines: list[str], expected: list[str]) -> bool:
    """Whether both have the same cells, quoted or not. The delimiter is the expected table's most frequent one."""
    plain = _QUOTED_TEXT.sub("", "\n".join(expected))
    delimiter = max(_DELIMITERS, key=plain.count)
    try:
        return _cells(lines, delimiter) == _cells(expected, delimiter)
    except csv.Error:  # Unbalanced quotes, or a cell of megabytes.
        return False


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    """The cells without empty columns at the end, which some programs write. An empty line is one empty cell."""
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True))
    last = max((number for row in rows for number, cell in enumerate(row, 1) if cell), default=1)
    return [[*row, *[""] * last][:last] for row in rows]


def _difference(lines: list[str], tables: list[list[str]]) -> str:
    pairs = enumerate(zip(lines, tables[0], strict=False), 1)
    words = next((f"line {number} is {short(a)}, expected {short(b)}" for number, (a, b) in pairs if a != b), "")
    words = words or f"{len(lines)} lines, expected {len(tables[0])}"
    return words if len(tables) == 1 else f"{words} (and not as any of the {len(tables) - 1} other tables)"
