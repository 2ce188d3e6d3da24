"""Reads a table from a copy of a browser's database, including its journal."""

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any

from backend.domain.formats.sqlite import MAGIC

MAX_BYTES = 256 * 2**20
MAX_ROWS = 200_000
MAX_SECONDS = 10.0
_STEPS = 10_000
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}


def rows(path: Path, query: str) -> tuple[list[tuple[Any, ...]] | None, str]:
    """The rows of a SELECT.

    Applies a journal or log beside the file, as the browser would at its next start; so the file must be a copy.

    Returns:
        (rows, "") or (None, reason).
    """
    if not path.is_file():
        return None, "the file does not exist"
    if path.stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None, "the file is not a SQLite database"
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            deadline = time.monotonic() + MAX_SECONDS
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # Applies the journal.
            connection.text_factory = lambda data: data.decode(errors="replace")
            connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
            )
            connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
            rows = connection.execute(query).fetchmany(MAX_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeDecodeError) as error:
        return None, f"the database is damaged or of another kind: {error}"
    # Those that were left out could be the ones that must be gone.
    return (rows, "") if len(rows) <= MAX_ROWS else (None, f"the table has more than {MAX_ROWS} rows")
