"""Who may read stored bytes, and which are removed."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from backend.db.models import Actor, Artifact
from backend.domain.errors import NotFound
from backend.services.accounts.projects import actor_for, default_project
from backend.services.artifacts.artifacts import collect_garbage, collect_orphans, open_for, register
from backend.services.artifacts.stores.folder import FolderStore
from tests.factories.records import World, stored
from tests.factories.tasks import make_benchmark, make_task


@pytest.fixture
def actor(ready: World) -> Actor:
    found: Actor = ready.do(lambda session: actor_for(session, default_project(session)))
    return found


def stranger(installation: World) -> Actor:
    from backend.db.repositories.accounts import projects

    def make(session: object) -> Actor:
        other = projects.get_or_make(session, "other")  # type: ignore[arg-type]
        return actor_for(session, other)  # type: ignore[arg-type]

    made: Actor = installation.do(make)
    return made


class TestOpenFor:
    def test_step_picture_is_open_to_its_project_only(self, ready: World, actor: Actor) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        ready.step(claim)
        (sha256,) = ready.store.blobs
        assert ready.do(open_for, sha256, actor).media_type == "image/png"
        with pytest.raises(NotFound):
            ready.do(open_for, sha256, stranger(ready))

    def test_task_set_asset_is_open(self, ready: World, actor: Actor) -> None:
        ready.benchmark(make_benchmark(make_task(), assets={"a": b"bytes"}), name="b")
        (sha256,) = ready.store.blobs
        assert ready.do(open_for, sha256, actor).size == 5

    def test_bytes_that_belong_to_nothing(self, ready: World, actor: Actor) -> None:
        sha256 = ready.do(stored, ready.store, b"loose")
        with pytest.raises(NotFound):
            ready.do(open_for, sha256, actor)

    def test_an_invalid_hash_is_refused(self, ready: World, actor: Actor) -> None:
        with pytest.raises(NotFound):
            ready.do(open_for, "../../etc/passwd\x00", actor)


class TestCollectGarbage:
    def test_takes_what_nothing_refers_to_and_is_old(self, ready: World) -> None:
        sha256 = ready.do(stored, ready.store, b"loose")
        assert ready.do(collect_garbage, ready.store, timedelta(hours=1)) == 0
        assert ready.do(collect_garbage, ready.store, timedelta(seconds=-1)) == 1
        with pytest.raises(NotFound):
            ready.store.get(sha256)
        assert ready.do(lambda session: session.get(Artifact, sha256)) is None

    def test_leaves_what_an_episode_or_a_task_needs(self, ready: World) -> None:
        ready.benchmark(make_benchmark(make_task(), assets={"a": b"bytes"}), name="b")
        worker = ready.worker()
        ready.submit()
        ready.step(ready.must_claim(worker))
        assert ready.do(collect_garbage, ready.store, timedelta(seconds=-1)) == 0
        assert len(ready.store.blobs) == 2

    def test_nothing_is_removed_when_the_transaction_fails(self, ready: World) -> None:
        sha256 = ready.do(stored, ready.store, b"loose")

        def fail(session: object) -> None:
            collect_garbage(session, ready.store, timedelta(seconds=-1))  # type: ignore[arg-type]
            raise KeyError

        with pytest.raises(KeyError):
            ready.do(fail)
        assert ready.store.get(sha256) == b"loose"

    def test_bytes_that_were_stored_again_meanwhile_stay(self, ready: World, tmp_path: Path) -> None:
        store = FolderStore(tmp_path)
        sha256 = store.put(b"x", "a/b")

        def old(session: object) -> None:
            register(session, sha256, 1, "a/b")  # type: ignore[arg-type]
            session.get(Artifact, sha256).last_stored_at -= timedelta(days=2)  # type: ignore[attr-defined]

        ready.do(old)
        assert ready.do(collect_garbage, store, timedelta(days=1)) == 1
        assert store.get(sha256) == b"x"


class TestCollectOrphans:
    def test_removes_only_old_unreferenced_files(self, ready: World, tmp_path: Path) -> None:
        store = FolderStore(tmp_path)
        known, orphan, young = (store.put(data, "a/b") for data in (b"known", b"orphan", b"young"))
        half = store.path(orphan).parent / ".new-half"
        half.write_bytes(b"ha")
        for path in (store.path(known), store.path(orphan), half):
            os.utime(path, (1000, 1000))
        ready.do(register, known, 5, "a/b")
        assert ready.do(collect_orphans, store, time.time()) == 2
        assert store.get(known) == b"known"
        assert store.get(young) == b"young"
        assert not store.path(orphan).exists()
        assert not half.exists()
