"""The contract of every ArtifactStore: the fake, the folder, a bucket of a server that speaks S3, a worker's."""

import hashlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

from backend.domain.errors import DamagedArtifact, NotFound
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.stores import try_out
from backend.services.artifacts.stores.bucket import BucketStore
from backend.services.artifacts.stores.folder import FolderStore
from backend.services.artifacts.stores.keys import key_of
from backend.services.artifacts.stores.s3 import connect
from tests.fakes.s3 import place_at, s3_server
from tests.fakes.store import MemoryStore
from worker.base.guarded_store import GuardedStore


@dataclass(frozen=True)
class StoreCase:
    """A store, and a way round it to its bytes."""

    store: ArtifactStore
    overwrite: Callable[[str, bytes], None]


def memory(_: Path, __: str) -> StoreCase:
    store = MemoryStore()
    return StoreCase(store, store.blobs.__setitem__)


def folder(root: Path, _: str) -> StoreCase:
    store = FolderStore(root)
    return StoreCase(store, lambda sha256, data: void(store.path(sha256).write_bytes(data)))


def bucket(_: Path, endpoint: str) -> StoreCase:
    place = place_at(endpoint, prefix="some/where/")
    store, client = BucketStore(place), connect(place)

    def overwrite(sha256: str, data: bytes) -> None:
        client.put_object(Bucket=place.bucket, Key=place.prefix + key_of(sha256), Body=data)

    return StoreCase(store, overwrite)


def void(_: object) -> None:
    """Nothing."""


def careful(root: Path, _: str) -> StoreCase:
    store = FolderStore(root)
    return StoreCase(GuardedStore(store), lambda sha256, data: void(store.path(sha256).write_bytes(data)))


STORES = {"memory": memory, "folder": folder, "bucket": bucket, "of a worker": careful}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(params=STORES)
def made(request: pytest.FixtureRequest, tmp_path: Path, endpoint: str) -> StoreCase:
    return STORES[request.param](tmp_path / "artifacts", endpoint)


@pytest.fixture
def store(made: StoreCase) -> ArtifactStore:
    return made.store


def kept(store: ArtifactStore, before: float) -> set[str]:
    return set(chain.from_iterable(store.old(before)))


class TestPut:
    @pytest.mark.parametrize("data", [b"", b"hello", bytes(range(256)) * 20_000], ids=["empty", "short", "5 MB"])
    def test_a_stored_artifact_can_be_read(self, store: ArtifactStore, data: bytes) -> None:
        sha256 = store.put(data, "text/plain")
        assert sha256 == hashlib.sha256(data).hexdigest()
        assert store.get(sha256) == data

    def test_twice_is_once(self, store: ArtifactStore) -> None:
        assert store.put(b"x", "a/b") == store.put(b"x", "c/d")
        assert len(kept(store, time.time() + 60)) == 1

    def test_many_at_once(self, store: ArtifactStore) -> None:
        parts = [b"%d" % (number % 10) for number in range(40)]
        with ThreadPoolExecutor(8) as pool:
            names = list(pool.map(lambda data: store.put(data, "a/b"), parts))
        assert [store.get(name) for name in names] == parts

    def test_again_mends_what_is_cut_short(self, made: StoreCase) -> None:
        sha256 = made.store.put(b"hello", "a/b")
        made.overwrite(sha256, b"he")
        made.store.put(b"hello", "a/b")
        assert made.store.get(sha256) == b"hello"


class TestGet:
    def test_unknown_hash_is_not_found(self, store: ArtifactStore) -> None:
        store.put(b"x", "a/b")
        with pytest.raises(NotFound):
            store.get("0" * 64)

    @pytest.mark.parametrize("other", [b"hellO", b"he", b"hello, and more", b""])
    def test_other_bytes_are_not_given_out(self, made: StoreCase, other: bytes) -> None:
        sha256 = made.store.put(b"hello", "a/b")
        made.overwrite(sha256, other)
        with pytest.raises(DamagedArtifact):
            made.store.get(sha256)


class TestDelete:
    def test_is_safe_twice(self, store: ArtifactStore) -> None:
        sha256 = store.put(b"x", "a/b")
        store.delete(sha256)
        store.delete(sha256)
        with pytest.raises(NotFound):
            store.get(sha256)


class TestNames:
    @pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, f"{'0' * 64}\n"])
    def test_an_invalid_hash_is_not_found(self, store: ArtifactStore, name: str) -> None:
        with pytest.raises(NotFound):
            store.get(name)
        with pytest.raises(NotFound):
            store.delete(name)
        with pytest.raises(NotFound):
            store.age(name, time.time())


class TestAge:
    def test_counts_from_the_last_time(self, store: ArtifactStore) -> None:
        sha256 = store.put(b"x", "a/b")
        age = store.age(sha256, time.time() + 1000)
        assert age is not None
        assert 990 < age < 1060

    def test_unknown_hash_has_no_age(self, store: ArtifactStore) -> None:
        store.put(b"x", "a/b")
        assert store.age("0" * 64, time.time()) is None


class TestOld:
    def test_lists_everything_stored_before(self, store: ArtifactStore) -> None:
        names = {store.put(b"%d" % number, "a/b") for number in range(12)}
        assert kept(store, time.time() + 60) == names
        assert kept(store, time.time() - 60) == set()

    def test_concurrent_removal_does_no_harm(self, store: ArtifactStore) -> None:
        names = {store.put(b"%d" % number, "a/b") for number in range(12)}
        for batch in store.old(time.time() + 60):
            for sha256 in list(batch):
                store.delete(sha256)
        assert names
        assert kept(store, time.time() + 60) == set()


class TestTidy:
    def test_leaves_what_is_stored(self, store: ArtifactStore) -> None:
        sha256 = store.put(b"x", "a/b")
        assert store.tidy(time.time() + 60) == 0
        assert store.get(sha256) == b"x"


class TestTryOut:
    def test_try_out_leaves_no_artifact(self, store: ArtifactStore) -> None:
        try_out(store)
        assert kept(store, time.time() + 60) == set()
