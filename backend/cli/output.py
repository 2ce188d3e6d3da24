"""Output of commands: results to stdout as a table, JSON or JSON lines; everything else to stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table

from backend.domain.formats.foreign_text import VisibleStream, visible

Row = Mapping[str, Any]
Columns = Mapping[str, Callable[[Any], Any]]


class Output(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


@dataclass
class ErrorForm:
    """How an error of the command is printed: for programs if its results are."""

    as_json: bool = False


def progress(text: str) -> None:
    """Prints a message to stderr."""
    print(visible(text), file=sys.stderr, flush=True)


def print_notice(submitted: Row) -> None:
    """Prints what the submitter of a run or study should know, if anything, to stderr."""
    if notice := submitted.get("notice"):
        progress(notice)


def print_error(message: str, code: str, form: ErrorForm) -> None:
    """Prints an error to stderr: as a line of text, or for programs as `{"error": {"code": ..., "message": ...}}`."""
    if form.as_json:
        progress(json.dumps({"error": {"code": code, "message": message}}))
    else:
        progress(f"deskarena: {message}")


def print_bytes(pieces: Iterable[bytes]) -> None:
    """Prints a file as it is to a pipe, and visibly to a terminal."""
    if sys.stdout.isatty():
        for piece in pieces:
            print(piece.decode(errors="replace"), end="")
    else:
        sys.stdout.buffer.writelines(pieces)


def print_rows(rows: Iterable[Row], output: Output, columns: Columns, empty: str = "No results.") -> None:
    """Prints a list: one JSON array, one object per line, or a table.

    Args:
        rows: Objects as the API returns them.
        output: Output format.
        columns: Table head -> function that returns a row's cell.
        empty: Message on stderr in place of an empty table.
    """
    if output is Output.JSONL:
        for row in rows:
            print(json.dumps(row), flush=True)
        return
    items = list(rows)
    if output is Output.JSON:
        print(json.dumps(items, indent=2))
    elif items:
        print_table(items, columns)
    else:
        progress(empty)


def print_object(value: Row, output: Output, show: Callable[[Row], None]) -> None:
    """Prints one object: as JSON (on one line for `jsonl`), or with `show`."""
    if output is Output.TABLE:
        show(value)
    else:
        print(json.dumps(value, indent=2 if output is Output.JSON else None))


def print_table(rows: Sequence[Row], columns: Columns) -> None:
    """Prints a plain table; wide in pipes, wrapped on terminals."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in columns:
        table.add_column(heading, overflow="fold")
    for row in rows:
        # Text of tasks and models must not be parsed as markup.
        table.add_row(*(plain(cell(row)) for cell in columns.values()))
    console().print(table, markup=False)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Prints names and values, one per line."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        print(f"{name:<{width}}  {plain(value)}")


def console() -> Console:
    """Console for tables: as wide as the terminal, 200 columns in a pipe."""
    stream = sys.stdout.stream if isinstance(sys.stdout, VisibleStream) else sys.stdout  # Its styles are its own.
    return Console(file=stream, width=None if stream.isatty() else 200, highlight=False, markup=False)


def plain(value: Any) -> str:
    """Text of a cell: `-` for None, three digits for rates and seconds, escapes for control characters."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"  # noqa: PLR2004  four digits need no fraction
    if isinstance(value, bool):
        return "yes" if value else "no"
    return visible(str(value))


def rate(value: float | None, interval: Sequence[float] | None = None) -> str:
    """A rate with its interval, such as `75.0 % (55.1-88.0)`."""
    if value is None:
        return "-"
    ends = f" ({interval[0] * 100:.1f}-{interval[1] * 100:.1f})" if interval else ""
    return f"{value * 100:.1f} %{ends}"
