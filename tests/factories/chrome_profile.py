"""Files of a Chromium profile, as the browser writes them: real SQLite databases and JSON."""

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_COOKIES = """CREATE TABLE cookies(
    creation_utc INTEGER NOT NULL, host_key TEXT NOT NULL, top_frame_site_key TEXT NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL, encrypted_value BLOB NOT NULL, path TEXT NOT NULL,
    expires_utc INTEGER NOT NULL, is_secure INTEGER NOT NULL, is_httponly INTEGER NOT NULL,
    last_access_utc INTEGER NOT NULL, has_expires INTEGER NOT NULL, is_persistent INTEGER NOT NULL,
    priority INTEGER NOT NULL, samesite INTEGER NOT NULL, source_scheme INTEGER NOT NULL, source_port INTEGER NOT NULL,
    last_update_utc INTEGER NOT NULL, source_type INTEGER NOT NULL, has_cross_site_ancestor INTEGER NOT NULL)"""
_HISTORY = """CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
    visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL,
    hidden INTEGER DEFAULT 0 NOT NULL)"""


def database(statement: str, rows: Iterable[Sequence[Any]] = (), insert: str = "") -> bytes:
    """A SQLite file with one table and its rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sqlite"
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.executemany(insert, rows) if insert else None
        connection.commit()
        connection.close()
        return path.read_bytes()


def cookies(*hosts: str) -> bytes:
    """The file `Cookies` with a cookie of each host."""
    rows = [(13_300_000_000_000_000 + number, host, f"name{number}") for number, host in enumerate(hosts)]
    insert = "INSERT INTO cookies VALUES(?, ?, '', ?, '', x'763130', '/', 0, 1, 0, 0, 0, 1, 1, -1, 2, 443, 0, 0, 0)"
    return database(_COOKIES, rows, insert)


def history(*visits: tuple[str, str, int]) -> bytes:
    """The file `History` with visits of (url, title, time)."""
    return database(_HISTORY, visits, "INSERT INTO urls(url, title, last_visit_time) VALUES(?, ?, ?)")


def as_file(value: Mapping[str, Any]) -> bytes:
    """`Preferences`, `Local State` and the like."""
    return json.dumps(value).encode()


def folder(name: str, *children: Mapping[str, Any]) -> dict[str, Any]:
    """A folder of bookmarks."""
    return {"type": "folder", "name": name, "children": list(children), "id": "1", "date_added": "13300000000000000"}


def page(url: str, name: str = "") -> dict[str, Any]:
    """A bookmark."""
    return {"type": "url", "url": url, "name": name or url, "id": "2", "date_added": "13300000000000000"}


def bookmark_roots(*bar: Mapping[str, Any]) -> dict[str, Any]:
    """The roots of `Bookmarks`, with these on the bar."""
    return {
        "bookmark_bar": folder("Bookmarks bar", *bar),
        "other": folder("Other bookmarks"),
        "synced": folder("Mobile"),
    }


def bookmarks(*bar: Mapping[str, Any]) -> bytes:
    """The file `Bookmarks`."""
    return as_file({"checksum": "", "roots": bookmark_roots(*bar), "version": 1})
