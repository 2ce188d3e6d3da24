"""A database, a broker and a data folder that are there and cannot be used."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from backend.cli.doctor import servers, store
from backend.cli.doctor.check import CheckState


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server that takes connections and says what no database and no broker says."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(100)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = Thread(target=serve)
        thread.start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


class TestOfYours:
    def test_unreachable_database_is_broken(self) -> None:
        found = servers.database({"DATABASE_URL": "postgresql+psycopg://me:secret@127.0.0.1:1/d"})
        assert (found.state, "secret" in found.detail) == (CheckState.BROKEN, False)
        assert "DATABASE_URL" in found.install

    def test_other_server_at_the_database_address_is_broken(self, port: int) -> None:
        found = servers.database({"DATABASE_URL": f"postgresql+psycopg://me:x@127.0.0.1:{port}/d"})
        assert found.state is CheckState.BROKEN

    def test_unreachable_broker_is_broken(self) -> None:
        assert servers.broker({"REDIS_URL": "redis://127.0.0.1:1/0"}).state is CheckState.BROKEN

    def test_other_server_at_the_broker_address_is_broken(self, port: int) -> None:
        found = servers.broker({"REDIS_URL": f"redis://127.0.0.1:{port}/0"})
        assert (found.state, "REDIS_URL" in found.install) == (CheckState.BROKEN, True)


class TestStore:
    @pytest.fixture(autouse=True)
    def _no_bucket(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DESKARENA_S3_BUCKET", raising=False)

    def test_a_folder_that_is_written_to_and_left_as_it_was(self, tmp_path: Path) -> None:
        assert store.store(tmp_path).state is CheckState.OK
        assert list(tmp_path.iterdir()) == []

    def test_a_missing_folder_is_checked_by_its_parent(self, tmp_path: Path) -> None:
        assert store.store(tmp_path / "not" / "yet").state is CheckState.OK
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_cannot_be_written_to(self) -> None:
        found = store.store(Path("/proc/self"))
        assert (found.state, found.detail.startswith("/proc/self cannot be written to")) == (CheckState.BROKEN, True)
