"""Restores a snapshot: the artifacts first, then the database in one transaction."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from backend.db.compatibility import history
from backend.db.migrate import upgrade
from backend.db.table_copy import clear, copy_in, is_empty, other_clients, replacing, writing
from backend.domain.errors import Conflict, DamagedArtifact, NotFound
from backend.domain.ports.storage import ArtifactStore
from backend.services.backups.backup import AT_ONCE, Tell, in_batches
from backend.services.backups.backup_folder import MODELS, BackupFolder, Snapshot
from backend.services.backups.verification import Verification, verify_files


def restore(  # noqa: PLR0913 - one restoration with everything that belongs to it
    snapshot: Snapshot,
    folder: BackupFolder,
    url: str,
    store: ArtifactStore,
    *,
    models: Path | None,
    replace: bool,
    tell: Tell,
) -> Verification:
    """Puts a snapshot into an empty installation and upgrades it to this release's schema.

    The database's files are verified before anything is written, and each artifact while it is copied. Artifacts that
    are missing or damaged are named and do not stop the rest. Safe to repeat with `replace`.

    Args:
        snapshot: what to restore.
        folder: the backup folder that has it.
        url: address of the database.
        store: where the artifacts go; existing ones stay.
        models: where the file with endpoints goes, unless there is one.
        replace: whether a database that is not empty may be removed.
        tell: called with a line of progress.

    Raises:
        Conflict: the database is not empty, is in use, or the snapshot was written by a newer release.
        DamagedArtifact: a file of the database's snapshot is missing or damaged.
    """
    _refuse_newer(snapshot)
    result = Verification()
    verify_files(snapshot, result)
    if result.damaged:
        raise DamagedArtifact(
            "; ".join(result.damaged.values()),
            code="backup_damaged",
            hint="Nothing was restored; use another snapshot.",
        )
    _make_room(url, replace=replace)
    _restore_artifacts(snapshot, folder, store, result, tell)
    _restore_tables(snapshot, url, tell)
    if models is not None and not models.exists() and MODELS in snapshot.manifest.files:
        models.write_bytes(snapshot.file(MODELS))
    return result


def _refuse_newer(snapshot: Snapshot) -> None:
    if snapshot.manifest.schema_version not in history().revisions:
        raise Conflict(
            f"the snapshot {snapshot.name} of release {snapshot.manifest.release} has schema"
            f" {snapshot.manifest.schema_version}, which this release does not know",
            code="backup_too_new",
            hint="Restore with that release or a newer one.",
        )


def _make_room(url: str, *, replace: bool) -> None:
    with writing(url) as connection:
        if is_empty(connection):
            return
        if not replace:
            raise Conflict(
                "the database is not empty",
                code="database_not_empty",
                hint="Restore into a new data folder or database, or replace everything in it with --replace.",
            )
        if connections := other_clients(connection):
            raise Conflict(
                f"{connections} other connections use the database",
                code="database_in_use",
                hint="Stop API and workers first.",
            )
        clear(connection)


def _restore_artifacts(
    snapshot: Snapshot, folder: BackupFolder, store: ArtifactStore, result: Verification, tell: Tell
) -> None:
    def copy(artifact: tuple[str, int]) -> DamagedArtifact | NotFound | None:
        sha256, _ = artifact
        try:
            data = folder.store.get(sha256)
        except NotFound as error:
            return error
        if store.age(sha256, 0.0) is not None:
            try:
                store.get(sha256)
            except NotFound:  # Writing the same bytes again would trust what is there.
                store.delete(sha256)
            else:
                return None
        store.put(data, "")
        return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for batch in in_batches(snapshot.artifacts()):
            for (sha256, _), error in zip(batch, pool.map(copy, batch), strict=True):
                if error is None:
                    result.artifacts += 1
                elif isinstance(error, DamagedArtifact):
                    result.damaged[sha256] = error.message
                else:
                    result.missing.append(sha256)
            tell(f"{result.artifacts} of {snapshot.manifest.artifacts} artifacts")


def _restore_tables(snapshot: Snapshot, url: str, tell: Tell) -> None:
    """The schema as it was, its rows, then the migrations that are new since."""
    upgrade(url, snapshot.manifest.schema_version)
    try:
        with writing(url) as connection, replacing(connection):
            for table in snapshot.manifest.tables:
                copy_in(connection, table.name, table.columns, snapshot.rows(table))
                tell(f"{table.name}: {table.rows} rows")
    except BaseException:
        with writing(url) as connection:
            clear(connection)  # An empty database can be restored into again.
        raise
    upgrade(url)
