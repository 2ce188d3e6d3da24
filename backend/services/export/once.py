"""Remembers which pictures a long export has named, on disk, so that memory stays small."""

import sqlite3
from collections.abc import Iterable, Iterator

from backend.domain.model.trajectory_export import PictureRef


class Pictures:
    """A set of pictures, sorted by hash. Used by one thread at a time, which need not be the same."""

    def __init__(self) -> None:
        # An empty name is a database in a temporary file that vanishes with the connection.
        self._known = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._known.execute("CREATE TABLE picture (sha256 TEXT PRIMARY KEY, media_type TEXT) WITHOUT ROWID")

    def add(self, pictures: Iterable[PictureRef]) -> None:
        """Remembers these."""
        rows = [(picture.sha256, picture.media_type) for picture in pictures]
        self._known.execute("BEGIN")
        self._known.executemany("INSERT OR IGNORE INTO picture VALUES (?, ?)", rows)
        self._known.execute("COMMIT")

    def __iter__(self) -> Iterator[PictureRef]:
        """Each once."""
        return (
            PictureRef(*row) for row in self._known.execute("SELECT sha256, media_type FROM picture ORDER BY sha256")
        )

    def __len__(self) -> int:
        number: int = self._known.execute("SELECT count(*) FROM picture").fetchone()[0]
        return number

    def close(self) -> None:
        """Forgets everything."""
        self._known.close()
