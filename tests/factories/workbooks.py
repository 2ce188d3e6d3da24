"""Small workbooks."""

import io
from collections.abc import Sequence
from typing import Any


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    """An .xlsx file with one sheet."""
    from openpyxl import Workbook  # type: ignore[import-untyped]

    book = Workbook()
    for row in rows:
        book.active.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
