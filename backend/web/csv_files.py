"""Tables of pages as CSV files."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from fastapi.responses import Response


def attachment(name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """A CSV download of that name. Texts come from tasks and agents: none is interpreted as a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(cell, head))
    writer.writerows([cell(value) for value in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def cell(value: Any) -> Any:
    """Text that spreadsheets do not interpret as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def _plain(name: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-._") else "-" for char in name)
