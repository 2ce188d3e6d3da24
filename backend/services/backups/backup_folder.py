"""Layout of a backup folder: all its snapshots of the database, and the artifacts of all of them, each once.

```
artifacts/ab/cd/abcd...           bytes by hash, as in a data folder
snapshots/2026-11-27T04-30-00Z/   manifest.json, a gzipped COPY text for each table, models.toml
```

A snapshot is written under a temporary name and renamed, so one with its final name is complete.
"""

import gzip
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from backend.domain.errors import Conflict, DamagedArtifact, NotFound
from backend.services.artifacts.stores.folder import FolderStore

FORMAT = 1
MANIFEST = "manifest.json"
MODELS = "models.toml"
ARTIFACT_TABLE = "artifact"
_BLOCK = 2**20
_NEW = ".new-"


class SavedTable(BaseModel):
    """A table of a snapshot. `sha256` is that of its rows as COPY text; `bytes` their size before compression."""

    model_config = ConfigDict(frozen=True)

    name: str
    columns: tuple[str, ...]
    rows: int
    bytes: int
    sha256: str


class SnapshotManifest(BaseModel):
    """Contents of a snapshot. `schema_version`: migration of the database; `files`: other files and their hashes."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    created_at: datetime
    release: str
    schema_version: str
    tables: tuple[SavedTable, ...]
    artifacts: int
    artifact_bytes: int
    files: dict[str, str] = {}


class Snapshot:
    """One complete snapshot of the database in a backup folder.

    Raises:
        NotFound: it has no manifest.
        DamagedArtifact: the manifest is damaged.
        Conflict: a newer release wrote it in another format.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        try:
            text = (folder / MANIFEST).read_bytes()
        except OSError as error:
            raise NotFound(f"{folder} is not a snapshot of a backup", code="backup_not_found") from error
        try:
            self.manifest = SnapshotManifest.model_validate_json(text)
        except ValidationError as error:
            raise DamagedArtifact(
                f"the manifest of {folder} is damaged", code="backup_damaged", hint="Use another snapshot."
            ) from error
        if self.manifest.format > FORMAT:
            raise Conflict(
                f"{folder} was written by release {self.manifest.release} in a newer format",
                code="backup_too_new",
                hint="Use that release or a newer one.",
            )

    def rows(self, table: SavedTable) -> Iterator[bytes]:
        """COPY text of a table, in blocks.

        Raises:
            DamagedArtifact: it is missing, or not what was written; after the last block at the latest.
        """
        digest, path = hashlib.sha256(), self.folder / table_file(table.name)
        try:
            with gzip.open(path) as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    yield block
        except FileNotFoundError as error:
            raise DamagedArtifact(f"{path} is missing", code="backup_damaged") from error
        except (OSError, EOFError, ValueError) as error:
            raise DamagedArtifact(f"{path} is damaged: {error}", code="backup_damaged") from error
        if digest.hexdigest() != table.sha256:
            raise DamagedArtifact(f"{path} is damaged: its rows have another hash", code="backup_damaged")

    def artifacts(self) -> Iterator[tuple[str, int]]:
        """Hash and size of every artifact that the snapshot's database knows. Raises DamagedArtifact."""
        table = next((table for table in self.manifest.tables if table.name == ARTIFACT_TABLE), None)
        if table is None:
            return
        sha256, size = table.columns.index("sha256"), table.columns.index("size")
        for line in _lines(self.rows(table)):
            fields = line.split(b"\t")
            yield fields[sha256].decode("ascii"), int(fields[size])

    def file(self, name: str) -> bytes:
        """One of `files`. Raises DamagedArtifact."""
        path = self.folder / name
        data = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(data).hexdigest() != self.manifest.files[name]:
            raise DamagedArtifact(f"{path} is missing or damaged", code="backup_damaged")
        return data


class BackupFolder:
    """A folder with backups of one installation."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = FolderStore(root / "artifacts")
        self._snapshots = root / "snapshots"

    def size_of(self, sha256: str) -> int | None:
        """Bytes of an artifact that the folder has; None if it does not."""
        try:
            return self.store.path(sha256).stat().st_size
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Names of the complete snapshots, oldest first."""
        paths = self._snapshots.glob(f"*/{MANIFEST}") if self._snapshots.is_dir() else ()
        return sorted(path.parent.name for path in paths if not path.parent.name.startswith(_NEW))

    def snapshot(self, name: str = "") -> Snapshot:
        """A snapshot by its name, the newest if there is none.

        Raises:
            NotFound: there is no such one.
        """
        names = self.names()
        if not names or (name and name not in names):
            problem = f"no snapshot {name!r}" if names else "no complete snapshot"
            hint = f"It has {', '.join(names[-5:])}." if names else "`deskarena backup` makes one."
            raise NotFound(f"{self.root} has {problem}", code="backup_not_found", hint=hint)
        return Snapshot(self._snapshots / (name or names[-1]))

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """An empty folder that becomes the snapshot `name` at the end; an error removes it. Raises Conflict."""
        final = self._snapshots / name
        if final.exists():
            raise Conflict(f"{final} exists already", code="backup_exists", hint="Try again in a second.")
        fresh = self._snapshots / f"{_NEW}{name}-{os.getpid()}"
        fresh.mkdir(parents=True, mode=0o700)
        try:
            yield fresh
            fresh.rename(final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def prune(self, keep: int) -> tuple[int, int]:
        """Removes all snapshots but the newest `keep`, and artifacts that no other snapshot has.

        Returns:
            Number of removed snapshots and artifacts.
        """
        names = self.names()
        gone = names[: max(0, len(names) - keep)]
        if not gone:
            return 0, 0
        needed = {sha256 for name in names[len(gone) :] for sha256, _ in self.snapshot(name).artifacts()}
        extra = {sha256 for name in gone for sha256, _ in self.snapshot(name).artifacts()} - needed
        for name in gone:
            shutil.rmtree(self._snapshots / name)
        for sha256 in extra:
            self.store.delete(sha256)
        return len(gone), len(extra)


def table_file(name: str) -> str:
    """File name of a table."""
    return f"{name}.copy.gz"


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    remainder = b""
    for block in blocks:
        *lines, remainder = (remainder + block).split(b"\n")
        yield from lines
