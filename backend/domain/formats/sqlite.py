"""Queries untrusted SQLite files: read-only, isolated and time-limited."""

import contextlib
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backend.domain.errors import Invalid

MAX_BYTES = 512 * 2**20
MAX_SECONDS = 10.0
MAX_VALUE = 16 * 2**20  # bytes of one text or blob
_STEPS = 10_000  # virtual machine instructions between checks of the time
MAGIC = b"SQLite format 3\0"
_WRONG_SQL = ("syntax error", "incomplete input", "unrecognized token", "one statement at a time")
_NO_FUNCTION = re.compile(r"no such function: (\w+)")
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def first_row(path: str | None, sql: str) -> tuple[tuple[Any, ...] | None, str]:
    """The first row of a SELECT.

    The file is opened `immutable` (no journal, no writes); other statements, other files and extensions are rejected.

    Returns:
        (row, "") or (None, reason): not a database, damaged, too large, missing tables, no row.

    Raises:
        Invalid: the statement itself is wrong.
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    with Path(path).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None, "the file is not a SQLite database"
    try:
        with _open_database(path) as connection:
            row = connection.execute(sql).fetchone()
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeDecodeError) as error:
        if _is_wrong(sql, str(error)):
            raise Invalid(f"{error}", code="invalid_sql", path="sql") from error
        return None, f"the database cannot answer: {error}"
    return (row, "") if row is not None else (None, "the database has no such row")


def _is_wrong(sql: str, message: str) -> bool:
    """Whether the statement is to blame for an error, not a view or an index of the database.

    Words of the database can be in the message, so that the statement is parsed again without it.
    """
    function = _NO_FUNCTION.search(message)
    if function is not None:
        return re.search(rf"(?<!\w){re.escape(function[1])}\s*\(", sql, re.IGNORECASE) is not None
    with contextlib.closing(sqlite3.connect(":memory:")) as empty:
        try:
            empty.execute(f"EXPLAIN {sql}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            return any(words in str(error) for words in _WRONG_SQL)
    return False


@contextlib.contextmanager
def _open_database(path: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(str(Path(path).absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA mmap_size=0")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        connection.text_factory = lambda data: data.decode(errors="replace")
        connection.set_authorizer(_authorise)
        connection.set_progress_handler(_too_late(time.monotonic() + MAX_SECONDS), _STEPS)
        yield connection
    finally:
        connection.close()


def _authorise(action: int, _first: str | None, second: str | None, _base: str | None, _inner: str | None) -> int:
    refused = action not in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second == "load_extension")
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _too_late(deadline: float) -> Callable[[], int]:
    return lambda: int(time.monotonic() > deadline)
