import http.server
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backend.config import Settings
from backend.domain.errors import DamagedArtifact, Invalid, NotFound, Unavailable
from backend.services.artifacts.stores import bucket, open_store, s3
from backend.services.artifacts.stores.bucket import BucketStore
from backend.services.artifacts.stores.folder import FolderStore
from backend.services.artifacts.stores.s3 import BucketConfig, store_error
from tests.error_codes import raises_code
from tests.fakes.s3 import place_at, s3_server

HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def client(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The S3 client that stores have."""
    made = s3.connect(place_at(endpoint))
    monkeypatch.setattr(bucket, "connect", lambda _: made)
    return made


@pytest.fixture
def store(endpoint: str) -> BucketStore:
    return BucketStore(place_at(endpoint))


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """A server that gives these answers as they are, one per request, and closes each time."""
    left = list(answers)

    class RawReplyHandler(http.server.BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            while self.rfile.readline() not in {b"\r\n", b""}:
                pass
            self.wfile.write(left.pop(0))
            self.close_connection = True

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), RawReplyHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def answer(body: bytes, *, size: int | None = None, status: str = "200 OK") -> bytes:
    return (
        b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n"
        % (
            status.encode(),
            len(body) if size is None else size,
        )
        + body
    )


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "words of the store"}}, "PutObject")


@pytest.fixture
def writes(client: Any) -> list[str]:
    """Grows with every object that is written."""
    seen: list[str] = []
    client.meta.events.register("before-call.s3.PutObject", lambda **_: seen.append("put"))
    return seen


class TestPut:
    def test_makes_the_bucket_once(self, store: BucketStore, client: Any) -> None:
        store.put(b"x", "a/b")
        BucketStore(store.config).put(b"y", "a/b")
        found = client.list_objects_v2(Bucket=store.config.bucket)
        assert found["KeyCount"] == 2

    def test_recent_objects_are_not_uploaded_again(self, writes: list[str], store: BucketStore) -> None:
        store.put(b"x", "a/b")
        writes.clear()
        store.put(b"x", "a/b")
        assert writes == []

    def test_old_objects_are_uploaded_again(
        self, writes: list[str], store: BucketStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.put(b"x", "a/b")
        writes.clear()
        monkeypatch.setattr(bucket, "FRESH_SECONDS", -60.0)
        store.put(b"x", "a/b")
        assert writes == ["put"]

    def test_a_bucket_that_may_not_be_made_is_reported(self) -> None:
        def no(code: str, status: str) -> bytes:
            return answer(b"<Error><Code>%s</Code><Message>no</Message></Error>" % code.encode(), status=status)

        answers = (answer(b"", status="404 Not Found"), no("NoSuchBucket", "404 x"), no("AccessDenied", "403 x"))
        with answering(*answers) as address, raises_code(Unavailable, "bucket_not_found") as caught:
            BucketStore(BucketConfig(bucket="b", endpoint=address, access_key="k", secret_key="s")).put(b"", "a/b")
        assert "DESKARENA_S3_BUCKET" in caught.value.hint

    def test_a_store_that_is_away_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(s3, "ATTEMPTS", 2)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            place = place_at(f"http://127.0.0.1:{taken.getsockname()[1]}")
            with raises_code(Unavailable, "store_unavailable") as caught:
                BucketStore(place).put(b"x", "a/b")
        assert "DESKARENA_S3_ENDPOINT" in caught.value.hint

    def test_a_store_that_is_silent_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(s3, "ATTEMPTS", 1)
        monkeypatch.setattr(s3, "SILENT_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            place = place_at(f"http://127.0.0.1:{silent.getsockname()[1]}")
            with raises_code(Unavailable, "store_unavailable"):
                BucketStore(place).put(b"x", "a/b")


class TestGet:
    def place(self, address: str) -> BucketConfig:
        return BucketConfig(bucket="b", endpoint=address, access_key="k", secret_key="s")

    def test_truncated_downloads_are_retried(self) -> None:
        with answering(answer(b"he", size=5), answer(b"hello")) as address:
            assert BucketStore(self.place(address)).get(HELLO) == b"hello"

    def test_damaged_downloads_are_retried(self) -> None:
        with answering(answer(b"hellO"), answer(b"hello")) as address:
            assert BucketStore(self.place(address)).get(HELLO) == b"hello"

    def test_two_truncated_downloads_raise(self) -> None:
        with (
            answering(answer(b"he", size=5), answer(b"he", size=5)) as address,
            raises_code(Unavailable, "store_unavailable"),
        ):
            BucketStore(self.place(address)).get(HELLO)

    def test_objects_above_the_limit_are_not_read(self) -> None:
        with (
            answering(*[answer(b"x", size=3 * 2**30)] * 2) as address,
            raises_code(DamagedArtifact, "artifact_damaged"),
        ):
            BucketStore(self.place(address)).get(HELLO)

    def test_slow_downloads_are_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bucket, "READ_SECONDS", -1.0)
        with answering(*[answer(b"hello")] * 2) as address, raises_code(Unavailable, "store_unavailable"):
            BucketStore(self.place(address)).get(HELLO)

    def test_without_a_bucket(self, store: BucketStore) -> None:
        with raises_code(Unavailable, "bucket_not_found") as caught:
            store.get(HELLO)
        assert "DESKARENA_S3_BUCKET" in caught.value.hint


class TestOld:
    def test_lists_more_than_one_page(self, store: BucketStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bucket, "LISTED", 3)
        names = {store.put(b"%d" % number, "a/b") for number in range(8)}
        batches = list(store.old(time.time() + 60))
        assert set(chain.from_iterable(batches)) == names
        assert [len(batch) for batch in batches] == [3, 3, 2]

    def test_leaves_others_objects_alone(self, store: BucketStore, client: Any) -> None:
        sha256 = store.put(b"x", "a/b")
        for key in ("readme.txt", f"zz/zz/{sha256}", sha256):
            client.put_object(Bucket=store.config.bucket, Key=key, Body=b"x")
        assert [list(batch) for batch in store.old(time.time() + 60)] == [[sha256]]

    def test_without_a_bucket(self, store: BucketStore) -> None:
        with raises_code(Unavailable, "bucket_not_found"):
            list(store.old(time.time()))


class TestTold:
    PLACE = BucketConfig(bucket="b", endpoint="http://store:8333")

    @pytest.mark.parametrize(
        ("code", "hint"),
        [
            ("NoSuchBucket", "Create the bucket"),
            ("AccessDenied", "DESKARENA_S3_ACCESS_KEY"),
            ("SignatureDoesNotMatch", "DESKARENA_S3_SECRET_KEY"),
            ("QuotaExceeded", "Free some space"),
            ("InternalError", "log"),
        ],
    )
    def test_says_what_to_do(self, code: str, hint: str) -> None:
        found = store_error(refusal(code), self.PLACE)
        assert hint in found.hint
        assert "http://store:8333/b" in found.message


class TestOpenStore:
    def test_is_the_folder_where_no_bucket_is_named(self, tmp_path: Path) -> None:
        store = open_store(Settings(data_dir=tmp_path))
        assert isinstance(store, FolderStore)
        assert store.root == tmp_path / "artifacts"

    def test_is_the_bucket_that_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in (("BUCKET", "b"), ("ENDPOINT", "http://s:1"), ("PREFIX", "/a/b/"), ("REGION", "eu-x")):
            monkeypatch.setenv(f"DESKARENA_S3_{name}", value)
        monkeypatch.setenv("DESKARENA_S3_ACCESS_KEY", "k")
        monkeypatch.setenv("DESKARENA_S3_SECRET_KEY", "s")
        store = open_store(Settings())
        assert isinstance(store, BucketStore)
        assert store.config == BucketConfig(
            bucket="b", endpoint="http://s:1", prefix="a/b/", region="eu-x", access_key="k", secret_key="s"
        )

    def test_each_request_has_the_keys_that_its_files_have_now(
        self, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("ACCESS", "SECRET"):
            (tmp_path / name).write_text("first")
            monkeypatch.setenv(f"DESKARENA_S3_{name}_KEY_FILE", str(tmp_path / name))
        client = s3.connect(BucketConfig.from_settings(Settings(s3_bucket="b", s3_endpoint=endpoint)))
        seen: list[str] = []
        client.meta.events.register("before-send", lambda request, **_: seen.append(request.headers["Authorization"]))
        client.list_buckets()
        for name in ("ACCESS", "SECRET"):
            (tmp_path / name).write_text("the second")
        client.list_buckets()
        assert ["first/" in str(seen[0]), "the second/" in str(seen[1])] == [True, True]

    @pytest.mark.parametrize(("endpoint", "style"), [("", False), ("http://s:1", True)])
    def test_the_path_style_follows_the_endpoint(self, endpoint: str, style: bool) -> None:  # noqa: FBT001
        assert BucketConfig.from_settings(Settings(s3_bucket="b", s3_endpoint=endpoint)).path_style is style

    def test_access_key_without_a_secret_is_refused(self) -> None:
        with raises_code(Invalid, "invalid_setting", path="DESKARENA_S3_ACCESS_KEY, DESKARENA_S3_SECRET_KEY"):
            open_store(Settings(s3_bucket="b", s3_access_key="k"))

    @pytest.mark.parametrize("endpoint", ["store:8333", "http://", "ftp://store"])
    def test_an_endpoint_that_is_not_an_address_is_refused(self, endpoint: str) -> None:
        with raises_code(Invalid, "invalid_setting", path="DESKARENA_S3_ENDPOINT"):
            open_store(Settings(s3_bucket="b", s3_endpoint=endpoint))

    def test_missing_artifact_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            FolderStore(Path("/nowhere")).get(HELLO)
