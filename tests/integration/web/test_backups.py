"""Backup, destroy, restore: the same boards byte for byte, and every artifact; what is damaged is named."""

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from backend.db.migrate import version
from backend.db.session import make_engine
from backend.domain.errors import Conflict, DamagedArtifact, NotFound
from backend.services.artifacts.artifacts import collect_garbage
from backend.services.artifacts.stores.bucket import BucketStore
from backend.services.artifacts.stores.folder import FolderStore
from backend.services.backups.backup import BackupReport, make_backup
from backend.services.backups.backup_folder import MANIFEST, BackupFolder
from backend.services.backups.restore import restore
from backend.services.backups.verification import verify_backup, verify_installation
from tests import databases
from tests.error_codes import raises_code
from tests.factories.records import World, stored, world
from tests.factories.scene import PageScene
from tests.fakes.s3 import place_at, s3_server
from tests.fakes.store import MemoryStore
from tests.integration.web.conftest import lent

PAGES = (
    "/api/v1/leaderboards/starter",
    "/leaderboards/starter/rows.csv",
    "/leaderboards/starter/costs.csv",
    "/api/v1/runs",
    "/api/v1/benchmarks",
)


def quiet(_: str) -> None:
    """Nobody reads the progress."""


def url_of(made: World) -> str:
    return str(made.factory.kw["bind"].url.render_as_string(hide_password=False))


def back_up(made: World, folder: BackupFolder, models: Path | None = None) -> BackupReport:
    return make_backup(url_of(made), made.store, folder, release="0.2.0", models=models, tell=quiet)


@pytest.fixture
def folder(tmp_path: Path) -> BackupFolder:
    return BackupFolder(tmp_path / "backup")


@pytest.fixture
def kept(scene: PageScene, folder: BackupFolder) -> BackupFolder:
    """A backup of the scene."""
    assert back_up(scene.world, folder).bad == {}
    return folder


@pytest.fixture
def target(postgres_server: str) -> Iterator[str]:
    """An empty machine's database."""
    with databases.empty(postgres_server) as url:
        yield url


def boards(made: World, folder: Path) -> dict[str, bytes]:
    with lent(made, folder) as client:
        replies = {page: client.get(page) for page in PAGES}
    assert {page: reply.status_code for page, reply in replies.items()} == dict.fromkeys(PAGES, 200)
    return {page: reply.content for page, reply in replies.items()}


def one_artifact(kept: BackupFolder) -> str:
    return next(sha256 for sha256, _ in kept.snapshot().artifacts())


class TestRestore:
    def test_restored_installation_shows_identical_boards(
        self, scene: PageScene, kept: BackupFolder, target: str, tmp_path: Path
    ) -> None:
        store, before = FolderStore(tmp_path / "artifacts"), boards(scene.world, tmp_path)
        result = restore(kept.snapshot(), kept, target, store, models=None, replace=False, tell=quiet)
        assert result.is_good
        assert result.artifacts == len(dict(kept.snapshot().artifacts())) > 10
        with world(target) as made:
            made.store = store  # type: ignore[assignment] # a folder in place of the fake
            assert boards(made, tmp_path) == before
            again = BackupFolder(tmp_path / "again")
            back_up(made, again)
            made.submit()  # Numbers go on where they were.
        first, second = kept.snapshot().manifest, again.snapshot().manifest
        assert first.tables == second.tables
        assert {table.name for table in first.tables} >= {"run", "episode", "step", "event", "project"}
        assert verify_installation(target, store, quiet).is_good

    def test_restores_into_and_from_a_bucket(self, kept: BackupFolder, target: str, tmp_path: Path) -> None:
        with s3_server() as endpoint:
            store = BucketStore(place_at(endpoint))
            assert restore(kept.snapshot(), kept, target, store, models=None, replace=False, tell=quiet).is_good
            assert verify_installation(target, store, quiet).is_good
            again = BackupFolder(tmp_path / "again")
            made = make_backup(target, store, again, release="0.2.0", models=None, tell=quiet)
            assert (made.copied, made.bad) == (len(dict(kept.snapshot().artifacts())), {})
            assert verify_backup(again, again.snapshot(), quiet).is_good
            sha256 = one_artifact(kept)
            store.delete(sha256)
            assert verify_installation(target, store, quiet).missing == [sha256]

    def test_replaces_only_on_request(self, kept: BackupFolder, fresh_database: str, tmp_path: Path) -> None:
        store, taken = FolderStore(tmp_path / "artifacts"), kept.snapshot()
        with raises_code(Conflict, "database_not_empty"):
            restore(taken, kept, fresh_database, store, models=None, replace=False, tell=quiet)
        engine = make_engine(fresh_database, pool_size=1)
        with engine.connect(), raises_code(Conflict, "database_in_use"):
            restore(taken, kept, fresh_database, store, models=None, replace=True, tell=quiet)
        engine.dispose()
        assert restore(taken, kept, fresh_database, store, models=None, replace=True, tell=quiet).is_good

    def test_names_a_missing_and_a_damaged_artifact_and_restores_the_rest(
        self, kept: BackupFolder, target: str
    ) -> None:
        (lost, _), (changed, size), *rest = kept.snapshot().artifacts()
        kept.store.delete(lost)
        kept.store.path(changed).write_bytes(b"x" * size)
        checked = verify_backup(kept, kept.snapshot(), quiet)
        assert (checked.missing, [*checked.damaged]) == ([lost], [changed])
        store = MemoryStore()
        result = restore(kept.snapshot(), kept, target, store, models=None, replace=False, tell=quiet)
        assert (result.missing, [*result.damaged], result.artifacts) == ([lost], [changed], len(rest))
        assert set(store.blobs) == {sha256 for sha256, _ in rest}

    def test_repairs_damaged_artifacts_of_the_target(self, kept: BackupFolder, target: str) -> None:
        sha256, store = one_artifact(kept), MemoryStore()
        store.blobs[sha256], store.times[sha256] = b"something else", 0.0
        assert restore(kept.snapshot(), kept, target, store, models=None, replace=False, tell=quiet).is_good
        assert store.get(sha256) == kept.store.get(sha256)

    def test_a_damaged_table_restores_nothing(self, kept: BackupFolder, target: str) -> None:
        file = kept.snapshot().folder / "episode.copy.gz"
        file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"scored", b"passed", 1)))
        assert [*verify_backup(kept, kept.snapshot(), quiet).damaged] == ["episode"]
        with raises_code(DamagedArtifact, "backup_damaged"):
            restore(kept.snapshot(), kept, target, MemoryStore(), models=None, replace=False, tell=quiet)
        assert version(target) == ""

    def test_a_snapshot_of_a_newer_release_is_refused(self, kept: BackupFolder, target: str) -> None:
        path = kept.snapshot().folder / MANIFEST
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": "9999"}))
        with raises_code(Conflict, "backup_too_new"):
            restore(kept.snapshot(), kept, target, MemoryStore(), models=None, replace=False, tell=quiet)


class TestMakeBackup:
    def test_copies_only_new_artifacts(self, installation: World, folder: BackupFolder, tmp_path: Path) -> None:
        worker = installation.worker(name="w2")
        installation.submit()
        claim = installation.must_claim(worker)
        installation.step(claim, 0, picture=b"first")
        models = tmp_path / "models.toml"
        models.write_text("[endpoints]\n")
        first = back_up(installation, folder, models)
        (folder.root / "snapshots" / first.snapshot).rename(folder.root / "snapshots" / "2026-01-01T00-00-00Z")
        installation.step(claim, 1, picture=b"second")
        second = back_up(installation, folder)
        assert (second.copied, second.there) == (1, first.copied)
        old, new = (folder.snapshot(name) for name in folder.names())
        assert old.file("models.toml") == models.read_bytes()
        assert dict(new.artifacts()).keys() - dict(old.artifacts()).keys() == {folder.store.put(b"second", "")}

    def test_removes_old_snapshots_and_their_unshared_artifacts(
        self, installation: World, folder: BackupFolder
    ) -> None:
        loose = installation.do(stored, installation.store, b"loose")
        old = folder.root / "snapshots" / "2026-01-01T00-00-00Z"
        (folder.root / "snapshots" / back_up(installation, folder).snapshot).rename(old)
        assert installation.do(collect_garbage, installation.store, timedelta(seconds=-1)) == 1
        kept = back_up(installation, folder).snapshot
        assert folder.size_of(loose) == len(b"loose")
        assert folder.prune(1) == (1, 1)
        assert (folder.names(), folder.size_of(loose)) == ([kept], None)
        with raises_code(NotFound, "backup_not_found"):
            folder.snapshot(old.name)

    def test_reports_missing_artifacts(self, installation: World, folder: BackupFolder) -> None:
        worker = installation.worker(name="w2")
        installation.submit()
        installation.step(installation.must_claim(worker), 0, picture=b"picture")
        sha256 = installation.store.put(b"picture", "")
        installation.store.delete(sha256)
        assert [*back_up(installation, folder).bad] == [sha256]
        assert verify_backup(folder, folder.snapshot(), quiet).missing == [sha256]

    def test_an_empty_database_is_refused(self, empty_database: str, folder: BackupFolder) -> None:
        with raises_code(Conflict, "backup_empty"):
            make_backup(empty_database, MemoryStore(), folder, release="0", models=None, tell=quiet)
        assert folder.names() == []
