"""Tables of pages as files: CSV, or Parquet with typed columns. One dependency of every route that offers a table."""

import io
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Header, Query
from fastapi.responses import Response

from backend.domain.formats.foreign_text import csv_text
from backend.services.export.rows import COMPRESSION, load_arrow

PARQUET = "application/vnd.apache.parquet"
Rows = Iterable[Sequence[Any]]
TableWriter = Callable[[str, Sequence[str], Rows], Response]
"""Takes the file's name without suffix, the names of the columns, and the rows."""


class TableFormat(StrEnum):
    """Format of a table."""

    CSV = "csv"
    PARQUET = "parquet"


async def table_writer(
    format: Annotated[TableFormat | None, Query(description="Default: what `Accept` names, else CSV.")] = None,  # noqa: A002 - the parameter's name in the address
    accept: Annotated[str, Header()] = "",
) -> TableWriter:
    """The writer for the format in the address, else in the header."""
    parquet = format is TableFormat.PARQUET or (format is None and PARQUET in accept)
    return parquet_file if parquet else csv_file


TableDep = Annotated[TableWriter, Depends(table_writer)]


def csv_file(name: str, head: Sequence[str], rows: Rows) -> Response:
    return _download(f"{name}.csv", csv_text(head, rows), "text/csv; charset=utf-8")


def parquet_file(name: str, head: Sequence[str], rows: Rows) -> Response:
    """A Parquet download: numbers, flags and times have their types. Raises Unavailable without pyarrow."""
    arrow, parquet = load_arrow()
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    target = io.BytesIO()
    table = arrow.table([_column(arrow, values) for values in columns], names=_different(head))
    parquet.write_table(table, target, compression=COMPRESSION)
    return _download(f"{name}.parquet", target.getvalue(), PARQUET)


def _column(arrow: Any, values: Sequence[Any]) -> Any:
    """An array of the type that all values have, else of texts."""
    plain = [_plain(value) for value in values]
    if any(isinstance(value, int | float | datetime) for value in plain):
        plain = [None if value == "" else value for value in plain]
    try:
        return arrow.array(plain)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):
        return arrow.array([None if value is None else str(value) for value in plain], arrow.string())


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value).encode(errors="replace").decode()
    return str(value) if isinstance(value, UUID) else value


def _different(head: Sequence[str]) -> list[str]:
    """The names, numbered where one occurs again: readers refer to columns by name."""
    names: list[str] = []
    for name in map(str, head):
        number = 1
        while (f"{name} {number}" if number > 1 else name) in names:
            number += 1
        names.append(f"{name} {number}" if number > 1 else name)
    return names


def _download(name: str, data: str | bytes, media_type: str) -> Response:
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-._") else "-" for char in name)
    headers = {"Content-Disposition": f'attachment; filename="{plain}"', "Vary": "Accept"}
    return Response(data, media_type=media_type, headers=headers)
