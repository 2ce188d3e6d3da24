"""SQLite databases written by tests."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

MESSAGES = (
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, folderID INTEGER, body TEXT)",
    "CREATE TABLE messageAttributes (attributeID INTEGER, messageID INTEGER, value INTEGER)",
)
"""Columns of Thunderbird's index of messages, as far as tasks ask it."""


def database(
    path: Path,
    statements: Iterable[str] = MESSAGES,
    rows: Iterable[tuple[str, Sequence[Any]]] = (),
    *,
    wal: bool = False,
) -> str:
    """Makes a database; `wal` leaves it in write-ahead mode, as browsers do. Returns its path."""
    with closing(sqlite3.connect(path)) as connection:
        if wal:
            connection.execute("PRAGMA journal_mode=WAL")
        for statement in statements:
            connection.execute(statement)
        for statement, values in rows:
            connection.execute(statement, values)
        connection.commit()
    return str(path)


def starred(path: Path, *, stars: int, messages: int = 3, body: str = "hello") -> str:
    """Messages of folder 13, of which some have a star (attribute 58)."""
    rows: list[tuple[str, Sequence[Any]]] = [
        ("INSERT INTO messages VALUES (?, 13, ?)", (number, body)) for number in range(messages)
    ]
    rows += [("INSERT INTO messageAttributes VALUES (58, ?, 1)", (number,)) for number in range(stars)]
    return database(path, rows=rows)
