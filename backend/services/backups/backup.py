"""Makes a backup: the database in one snapshot, and each artifact that the backup folder does not have yet."""

import gzip
import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from psycopg import Connection

from backend.db.table_copy import TableColumns, artifacts_of, copy_out, read_snapshot, schema_of, tables
from backend.domain.errors import Conflict, NotFound
from backend.domain.ports.storage import ArtifactStore
from backend.services.backups.backup_folder import (
    MANIFEST,
    MODELS,
    BackupFolder,
    SavedTable,
    SnapshotManifest,
    table_file,
)

AT_ONCE = 8
BATCH = 500

Tell = Callable[[str], None]


@dataclass
class BackupReport:
    """Result of a backup.

    Attributes:
        snapshot: name of the new snapshot.
        rows: number of rows of all tables.
        copied: number of artifacts that were copied; `copied_bytes` their size.
        there: number of artifacts that an earlier backup had copied.
        bad: artifacts that are missing or damaged in the installation: hash -> reason.
    """

    snapshot: str = ""
    rows: int = 0
    copied: int = 0
    copied_bytes: int = 0
    there: int = 0
    bad: dict[str, str] = field(default_factory=dict)


def make_backup(  # noqa: PLR0913 - one backup with everything that belongs to it
    url: str, store: ArtifactStore, folder: BackupFolder, *, release: str, models: Path | None, tell: Tell
) -> BackupReport:
    """Backs up a running or stopped installation. What is damaged there is named and does not stop the rest.

    Artifacts are copied before the database's snapshot and once more after it: an artifact is removed a day after its
    last use at the earliest, so each one that the snapshot knows was there in one of the two passes.

    Args:
        url: address of the database.
        store: the installation's artifacts.
        folder: where to; created if missing.
        release: name of this release, for the manifest.
        models: file with endpoints and prices, if it exists.
        tell: called with a line of progress.

    Raises:
        Conflict: the database has no schema, or another backup began in the same second.
        Unavailable: the store does not answer, or the disk is full.
    """
    folder.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    report = BackupReport()
    with read_snapshot(url) as connection:
        if not schema_of(connection):
            raise Conflict("the database has no schema: there is nothing to back up", code="backup_empty")
        early = artifacts_of(connection)
    _copy_artifacts(early, store, folder, report, tell)
    now = datetime.now(UTC)
    report.snapshot = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    with folder.new(report.snapshot) as fresh:
        with read_snapshot(url) as connection:
            schema = schema_of(connection)
            artifacts = artifacts_of(connection)
            saved = tuple(_save_table(connection, table, fresh, tell) for table in tables(connection))
        _copy_artifacts(dict(artifacts.items() - early.items()), store, folder, report, tell)
        report.rows = sum(table.rows for table in saved)
        report.bad = {sha256: reason for sha256, reason in report.bad.items() if sha256 in artifacts}
        manifest = SnapshotManifest(
            created_at=now,
            release=release,
            schema_version=schema,
            tables=saved,
            artifacts=len(artifacts),
            artifact_bytes=sum(artifacts.values()),
            files=_save_models(models, fresh),
        )
        _write(fresh / MANIFEST, manifest.model_dump_json(indent=2).encode())
    return report


def in_batches(artifacts: Iterable[tuple[str, int]]) -> Iterable[list[tuple[str, int]]]:
    """Hashes and sizes in lists of a size that threads can share."""
    batch: list[tuple[str, int]] = []
    for artifact in artifacts:
        batch.append(artifact)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _copy_artifacts(
    artifacts: dict[str, int], store: ArtifactStore, folder: BackupFolder, report: BackupReport, tell: Tell
) -> None:
    def copy(artifact: tuple[str, int]) -> bool | str:
        """True: copied; False: there already; text: why it cannot be copied."""
        sha256, size = artifact
        if folder.size_of(sha256) == size:
            return False
        try:
            folder.store.put(store.get(sha256), "")
        except NotFound as error:
            return error.message
        return True

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for batch in in_batches(artifacts.items()):
            for (sha256, size), result in zip(batch, pool.map(copy, batch), strict=True):
                if isinstance(result, str):
                    report.bad[sha256] = result
                elif result:
                    report.copied, report.copied_bytes = report.copied + 1, report.copied_bytes + size
                else:
                    report.there += 1
            tell(f"{report.copied + report.there + len(report.bad)} of {len(artifacts)} artifacts")


def _save_table(connection: Connection, table: TableColumns, fresh: Path, tell: Tell) -> SavedTable:
    digest, size, rows = hashlib.sha256(), 0, 0
    path = fresh / table_file(table.name)
    with path.open("wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=5, mtime=0, filename="") as file:
            for block in copy_out(connection, table):
                digest.update(block)
                size, rows = size + len(block), rows + block.count(b"\n")
                file.write(block)
        raw.flush()
        os.fsync(raw.fileno())
    tell(f"{table.name}: {rows} rows")
    return SavedTable(name=table.name, columns=table.columns, rows=rows, bytes=size, sha256=digest.hexdigest())


def _save_models(models: Path | None, fresh: Path) -> dict[str, str]:
    if models is None or not models.is_file():
        return {}
    data = models.read_bytes()
    _write(fresh / MODELS, data)
    return {MODELS: hashlib.sha256(data).hexdigest()}


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
