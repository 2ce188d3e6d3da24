"""`compare_docx_tables`: two documents have the same tables."""

from functools import partial
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.formats.documents import columns, grid
from backend.domain.formats.word_wrappers import w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

Table = tuple[int, list[list[str]]]
"""Columns of the layout, and the texts of the cells by row."""


@register(PluginKind.METRIC, "compare_docx_tables")
def compare_docx_tables(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """Compares number, size and cells of the body's tables; blanks at the ends of a cell are ignored.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: see only what upstream sees, without tables in cells.
    """
    return compare_documents(
        result, expected, partial(_tables, nested=not strict_upstream), _judge, as_stored=strict_upstream
    )


def _tables(document: "Document", *, nested: bool) -> list[Table]:
    tables = document.element.body.iterchildren(w("tbl"))
    return [(columns(table), grid(table, nested=nested)) for table in tables]


def _judge(actual: list[Table], expected: list[Table]) -> MetricValue:
    if len(actual) != len(expected):
        return verdict(met=False, reason=f"the document has {len(actual)} tables, expected {len(expected)}")
    wrong = [
        reason
        for number, (result, gold) in enumerate(zip(actual, expected, strict=True), start=1)
        for reason in _differences(f"table {number}", result, gold)
    ]
    return first_wrong(wrong, f"all {len(expected)} tables are the same")


def _differences(name: str, actual: Table, expected: Table) -> list[str]:
    result, gold = ((layout, len(cells)) for layout, cells in (actual, expected))
    if result != gold:
        return [f"{name} has {result[1]} rows of {result[0]} columns, expected {gold[1]} of {gold[0]}"]
    wrong = []
    for row, (cells, expected_cells) in enumerate(zip(actual[1], expected[1], strict=True), start=1):
        if len(cells) != len(expected_cells):
            wrong.append(f"{name}, row {row} has {len(cells)} cells, expected {len(expected_cells)}")
            continue
        wrong += [
            f"{name}, row {row}, column {column}: got {short(cell)}, expected {short(expected_cell)}"
            for column, (cell, expected_cell) in enumerate(zip(cells, expected_cells, strict=True), start=1)
            if cell != expected_cell
        ]
    return wrong
