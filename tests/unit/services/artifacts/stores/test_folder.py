import errno
import hashlib
import os
from pathlib import Path

import pytest

from backend.domain.errors import DamagedArtifact, NotFound, Unavailable
from backend.services.artifacts.stores.folder import FolderStore
from tests.error_codes import raises_code
from tests.processes import file_size_limit


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "artifacts")


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


class TestPut:
    def test_stored_bytes_are_returned_by_hash(self, store: FolderStore) -> None:
        sha256 = store.put(b"hello", "text/plain")
        assert sha256 == hashlib.sha256(b"hello").hexdigest()
        assert store.get(sha256) == b"hello"

    def test_twice_is_once(self, store: FolderStore) -> None:
        assert store.put(b"x", "a/b") == store.put(b"x", "c/d")
        assert len(files(store.root)) == 1

    def test_a_second_time_makes_it_young_again(self, store: FolderStore) -> None:
        sha256 = store.put(b"x", "a/b")
        os.utime(store.path(sha256), (1000, 1000))
        store.put(b"x", "a/b")
        assert store.path(sha256).stat().st_mtime > 1000

    def test_a_file_cut_short_by_a_crash_is_written_again(self, store: FolderStore) -> None:
        sha256 = store.put(b"hello", "a/b")
        store.path(sha256).write_bytes(b"he")
        store.put(b"hello", "a/b")
        assert store.get(sha256) == b"hello"

    def test_damaged_files_are_restored_from_a_copy_as_the_hint_says(self, store: FolderStore) -> None:
        sha256 = store.put(b"hello", "a/b")
        store.path(sha256).write_bytes(b"hellO")
        with pytest.raises(DamagedArtifact) as caught:
            store.get(sha256)
        # Put again, bytes of the same length are taken for whole: that is not promised.
        assert caught.value.hint == "Restore it from a copy of the store."

    def test_full_disk_is_reported_and_leaves_nothing(self, store: FolderStore) -> None:
        with file_size_limit(1024):
            with raises_code(Unavailable, "store_full") as caught:
                store.put(b"x" * 4096, "image/png")
            assert "Free some space" in caught.value.hint
            assert files(store.root) == []
            assert store.get(store.put(b"small", "a/b")) == b"small"

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    def test_a_full_disk_is_reported(self, store: FolderStore, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        def full(_: int) -> None:
            raise OSError(number, "full")

        monkeypatch.setattr("backend.services.artifacts.stores.folder.os.fsync", full)
        with raises_code(Unavailable, "store_full"):
            store.put(b"x", "a/b")
        assert files(store.root) == []

    def test_a_folder_that_cannot_be_written_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with raises_code(Unavailable, "store_unavailable") as caught:
            FolderStore(tmp_path / "file" / "below").put(b"x", "a/b")
        assert "writable" in caught.value.hint


class TestGet:
    def test_unknown_hash_is_not_found(self, store: FolderStore) -> None:
        with pytest.raises(NotFound):
            store.get("0" * 64)

    @pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, f"{'0' * 64}\n"])
    def test_invalid_hashes_read_no_file(self, store: FolderStore, name: str) -> None:
        with pytest.raises(NotFound):
            store.get(name)


class TestDelete:
    def test_is_safe_twice(self, store: FolderStore) -> None:
        sha256 = store.put(b"x", "a/b")
        store.delete(sha256)
        store.delete(sha256)
        with pytest.raises(NotFound):
            store.get(sha256)
