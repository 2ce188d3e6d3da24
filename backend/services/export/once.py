"""Set of pictures of a long export, on disk, so that memory stays small."""

import sqlite3
from collections.abc import Iterable, Iterator

from backend.domain.model.trajectory_export import PictureRef


class Pictures:
    """A set of pictures, sorted by hash. Used by one thread at a time, not necessarily the same."""

    def __init__(self) -> None:
        # An empty name is a temporary database that vanishes with the connection.
        self._known = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._known.execute("CREATE TABLE picture (sha256 TEXT PRIMARY KEY, media_type TEXT) WITHOUT ROWID")

    def add(self, pictures: Iterable[PictureRef]) -> None:
        rows = [(picture.sha256, picture.media_type) for picture in pictures]
        self._known.execute("BEGIN")
        self._known.executemany("INSERT OR IGNORE INTO picture VALUES (?, ?)", rows)
        self._known.execute("COMMIT")

    def __iter__(self) -> Iterator[PictureRef]:
        return (
            PictureRef(*row) for row in self._known.execute("SELECT sha256, media_type FROM picture ORDER BY sha256")
        )

    def __len__(self) -> int:
        number: int = self._known.execute("SELECT count(*) FROM picture").fetchone()[0]
        return number

    def close(self) -> None:
        self._known.close()
