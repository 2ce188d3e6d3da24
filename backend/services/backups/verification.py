"""Verifies a backup or an installation: every table's rows and every artifact's bytes against their hashes."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from backend.db.table_copy import artifacts_of, read_snapshot
from backend.domain.errors import DamagedArtifact, NotFound
from backend.domain.ports.storage import ArtifactStore
from backend.services.backups.backup import AT_ONCE, Tell, in_batches
from backend.services.backups.backup_folder import BackupFolder, Snapshot

MISSING = "missing"


@dataclass
class Verification:
    """Result of a verification.

    Attributes:
        rows: number of rows whose table has the right hash.
        artifacts: number of artifacts whose bytes have the right hash.
        missing: hashes of artifacts that are not there.
        damaged: hashes of artifacts whose bytes have changed, and files of the snapshot -> what is wrong.
    """

    rows: int = 0
    artifacts: int = 0
    missing: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Whether nothing is missing or damaged."""
        return not self.missing and not self.damaged


def verify_backup(folder: BackupFolder, snapshot: Snapshot, tell: Tell) -> Verification:
    """Reads everything that belongs to a snapshot."""
    result = Verification()
    verify_files(snapshot, result)
    try:
        check_artifacts(snapshot.artifacts(), folder.store, result, tell)
    except DamagedArtifact as error:  # The table of artifacts itself.
        result.damaged.setdefault(snapshot.name, error.message)
    return result


def verify_files(snapshot: Snapshot, result: Verification) -> None:
    """Reads the tables and other files of a snapshot."""
    for table in snapshot.manifest.tables:
        try:
            for _ in snapshot.rows(table):
                pass
        except DamagedArtifact as error:
            result.damaged[table.name] = error.message
        else:
            result.rows += table.rows
    for name in snapshot.manifest.files:
        try:
            snapshot.file(name)
        except DamagedArtifact as error:
            result.damaged[name] = error.message


def verify_installation(url: str, store: ArtifactStore, tell: Tell) -> Verification:
    """Reads every artifact that the database knows, while the installation runs.

    One that was removed meanwhile, because nothing referred to it any more, is not missing.
    """
    with read_snapshot(url) as connection:
        artifacts = artifacts_of(connection)
    result = Verification()
    check_artifacts(artifacts.items(), store, result, tell)
    if result.missing:
        with read_snapshot(url) as connection:
            still = artifacts_of(connection)
        result.missing = [sha256 for sha256 in result.missing if sha256 in still]
    return result


def check_artifacts(
    artifacts: Iterable[tuple[str, int]], store: ArtifactStore, result: Verification, tell: Tell
) -> None:
    """Reads artifacts from a store, which checks their hashes. Raises Unavailable."""

    def problem(artifact: tuple[str, int]) -> str:
        try:
            data = store.get(artifact[0])
        except DamagedArtifact as error:
            return error.message
        except NotFound:
            return MISSING
        return "" if len(data) == artifact[1] else f"{len(data)} bytes, the database says {artifact[1]}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for batch in in_batches(artifacts):
            for (sha256, _), trouble in zip(batch, pool.map(problem, batch), strict=True):
                if trouble == MISSING:
                    result.missing.append(sha256)
                elif trouble:
                    result.damaged[sha256] = trouble
                else:
                    result.artifacts += 1
            tell(f"{result.artifacts} artifacts verified")
