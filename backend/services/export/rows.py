"""Rows of training data as bytes: JSON lines or a Parquet table."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, Protocol

from backend.domain.errors import Invalid
from backend.domain.ports.training import Column

Row = Mapping[str, Any]
COMPRESSION = "zstd"
ROW_GROUP = 1000
"""Rows in memory at the same time."""


class RowWriter(Protocol):
    """Writes rows into one file."""

    suffix: str

    def write(self, rows: Iterable[Row], file: IO[bytes]) -> int:
        """Writes all rows; returns their number. The same rows give the same bytes."""
        ...


def json_line(row: Row) -> bytes:
    """One row with line end. A lone surrogate, invalid in UTF-8, is written as a JSON escape."""
    try:
        return f"{json.dumps(row, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(row)}\n".encode()


class JsonLines:
    """One JSON object per line."""

    suffix = "jsonl"

    def write(self, rows: Iterable[Row], file: IO[bytes]) -> int:
        number = 0
        for number, row in enumerate(rows, 1):  # noqa: B007 - the last number is the answer
            file.write(json_line(row))
        return number


def load_arrow() -> tuple[Any, Any]:
    """(pyarrow, pyarrow.parquet). Raises Invalid if they are not installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise Invalid(
            "Parquet cannot be written here: pyarrow is not installed",
            code="parquet_not_installed",
            path="format",
            hint="Install deskarena[parquet], or ask for another format.",
        ) from None
    return pa, parquet


class Parquet:
    """A Parquet table. The bytes depend on the version of pyarrow, too."""

    suffix = "parquet"

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Args: columns: of the form. Raises Unavailable if pyarrow is not installed."""
        pa, parquet = load_arrow()
        self._arrow, self._parquet = pa, parquet
        self._columns = dict(columns)
        self._schema = pa.schema([(name, self._type(column)) for name, column in columns.items()])

    def write(self, rows: Iterable[Row], file: IO[bytes]) -> int:
        number = 0
        with self._parquet.ParquetWriter(file, self._schema, compression=COMPRESSION) as target:
            for some in _batches(rows):
                plain_rows = [plain(row, self._columns) for row in some]
                target.write_table(self._arrow.Table.from_pylist(plain_rows, schema=self._schema))
                number += len(plain_rows)
        return number

    def _type(self, column: Column) -> Any:
        if isinstance(column, list):
            return self._arrow.list_(self._type(column[0]))
        if isinstance(column, dict):
            return self._arrow.struct([(name, self._type(inner)) for name, inner in column.items()])
        arrow = self._arrow
        return {
            "text": arrow.string(),
            "json": arrow.string(),
            "integer": arrow.int64(),
            "number": arrow.float64(),
            "flag": arrow.bool_(),
        }[column]


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while some := list(islice(remaining, ROW_GROUP)):
        yield some


def plain(value: Any, column: Column) -> Any:
    """A row's value for its column: JSON as text, missing keys as None."""
    if value is None:
        return None
    if isinstance(column, list):
        return [plain(inner, column[0]) for inner in value]
    if isinstance(column, dict):
        return {name: plain(value.get(name), inner) for name, inner in column.items()}
    if column == "json":
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def writer_of(file_format: str, columns: Mapping[str, Column] | None) -> RowWriter:
    """The writer. Raises Unavailable."""
    return Parquet(columns) if file_format == "parquet" and columns is not None else JsonLines()
