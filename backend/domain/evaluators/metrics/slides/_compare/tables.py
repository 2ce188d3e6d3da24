"""Compares tables cell by cell."""

from collections.abc import Iterator
from itertools import chain

from backend.domain.evaluators.metrics.slides._compare.looks import fills
from backend.domain.evaluators.metrics.slides._compare.options import CompareSlidesOptions
from backend.domain.evaluators.metrics.slides._compare.text import TextRules, texts
from backend.domain.formats.slides import Shape, SlideTableCell

Rows = tuple[tuple[SlideTableCell, ...], ...]


def tables(actual: Shape, gold: Shape, where: str, o: CompareSlidesOptions) -> Iterator[str]:
    """Differences of two tables."""
    if actual.rows is None or gold.rows is None:
        if (actual.rows is None) != (gold.rows is None) and not o.manner.strict:
            yield f"{where}: {'no table' if actual.rows is None else 'a table'}, expected the opposite"
        return
    size, gold_size = _size(actual.rows), _size(gold.rows)
    if size != gold_size:
        yield f"{where}: a table of {size[0]} rows and {size[1]} columns, expected {gold_size[0]} and {gold_size[1]}"
        return
    # An empty table was just inserted, in the editor's default design.
    filled = any(cell.text.strip() for cell in chain.from_iterable(gold.rows))
    for row, (result, model) in enumerate(zip(actual.rows, gold.rows, strict=True), 1):
        for column, (cell, expected) in enumerate(zip(result, model, strict=False), 1):
            cell_path = f"{where}, cell {row},{column}"
            yield from texts(cell.paragraphs, expected.paragraphs, TextRules(cell_path, o, in_table=True))
            if filled and o.color_rgb and not o.manner.strict:
                yield from fills(cell.fill, expected.fill, cell_path)


def _size(rows: Rows) -> tuple[int, int]:
    return len(rows), max((len(row) for row in rows), default=0)
