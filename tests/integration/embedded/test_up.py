"""`deskarena up` as a real process: start, signals, and leftovers."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.data_dir import SCHEMA_NOTE, mark_schema, refuse_old_schema
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.runtime_dir import runtime_bases, runtime_name
from backend.db.compatibility import OldSchema
from tests.integration.embedded.helpers import family, gone, those_there, until

pytestmark = pytest.mark.stack
UP = (sys.executable, "-W", "error", "-m", "backend.cli.main", "up", "--port", "0", "--slots", "0")


class Up:
    """A running `deskarena up` and its output."""

    def __init__(self, data: Path, *words: str, command: tuple[str, ...] = UP, **env: str) -> None:
        outer = {k: v for k, v in os.environ.items() if not k.startswith(("DESKARENA_", "DATABASE_", "REDIS_"))}
        self.data = data
        self.process = subprocess.Popen(
            [*command, "--data", str(data), *words], stderr=subprocess.PIPE, text=True, env={**outer, **env}, cwd="/"
        )
        self.said = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    @property
    def url(self) -> str:
        """Its address, once printed."""
        until(
            lambda: "Press Ctrl-C to stop" in self.said or self.process.poll() is not None, f"it runs: {self.said}", 90
        )
        found = re.search(r"runs at +(\S+)", self.said)
        assert found, self.said
        return found[1]

    def child(self, name: str) -> psutil.Process:
        """The child whose command line holds a word; never its guard."""
        for process, words in those_there(family(self.process.pid)[1:], lambda each: (each, each.cmdline())):
            if any(name in word for word in words) and not any(word.endswith("guard.py") for word in words):
                return process
        raise AssertionError(f"no child {name}")

    def healthy(self) -> bool:
        """Whether the service answers, its database included."""
        try:
            return httpx.get(f"{self.url}/healthz", timeout=60).is_success
        except httpx.TransportError:
            return False

    def end(self, number: int = signal.SIGINT) -> int:
        """Sends a signal and waits for the end."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join()
        return code


@contextmanager
def running(data: Path, *words: str, command: tuple[str, ...] = UP, **env: str) -> Iterator[Up]:
    up = Up(data, *words, command=command, **env)
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.end()
        up._reader.join()
        assert up.process.stderr is not None
        up.process.stderr.close()


@contextmanager
def with_worker(data: Path, slots: int, models: str = "") -> Iterator[Up]:
    """A new installation whose worker is online, and whose desktops are free: its demonstration run is cancelled.

    Args:
        data: its folder.
        slots: number of desktops.
        models: text of its `models.toml`, there before the worker registers.
    """
    data.mkdir(parents=True, exist_ok=True)
    (data / "models.toml").write_text(models)
    with running(data, "--slots", str(slots)) as up, httpx.Client(base_url=f"{up.url}/api/v1", timeout=60) as client:

        def items(path: str) -> list[dict[str, Any]]:
            answer = client.get(path).raise_for_status()
            return list(answer.json()["items"])

        until(lambda: any(worker["state"] == "online" for worker in items("/workers")), "a worker is online", 300)
        until(lambda: bool(items("/runs")), "the demonstration run is submitted", 120)
        client.post(f"/runs/{items('/runs')[0]['id']}/cancel").raise_for_status()
        yield up


def refused(*words: str, **env: str) -> str:
    """Runs `up` where it cannot start; returns its output."""
    done = subprocess.run(
        [*UP, *words], capture_output=True, text=True, timeout=90, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 3, done.stderr
    return done.stderr


def runtime_folders(data: Path) -> list[Path]:
    return [path for base in runtime_bases() if (path := base / runtime_name(data)).exists()]


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, with the time of its last change and its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    data = tmp_path_factory.mktemp("up") / "data"
    with running(data, SECRET_OF_MINE="do not pass on") as up:
        assert up.healthy()
        yield up


class TestBefore02:
    @pytest.fixture
    def old_folder(self, tmp_path: Path) -> Path:
        """A data folder as release 0.1 left it: the last schema of its history, and no note of which history it is."""
        server = start_postgres(tmp_path / "data", durable=False)
        try:
            with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute("CREATE TABLE alembic_version AS SELECT '0021'::text AS version_num")
        finally:
            server.stop()
        (tmp_path / "data" / SCHEMA_NOTE).unlink()
        return tmp_path / "data"

    def test_folder_of_an_old_release_is_refused_in_one_sentence_and_unchanged(self, old_folder: Path) -> None:
        before = contents(old_folder)
        *_, last = refused("--data", str(old_folder)).splitlines()
        assert last == f"deskarena: {OldSchema(f'The data folder {old_folder}').message}"
        assert contents(old_folder) == before

    def test_new_folder_is_marked_before_its_database_exists(self, tmp_path: Path) -> None:
        mark_schema(tmp_path)
        (tmp_path / "postgres").mkdir()
        refuse_old_schema(tmp_path)


class TestRunning:
    def test_second_up_on_the_folder_is_refused_naming_process_and_address(self, shared: Up) -> None:
        said = refused("--data", str(shared.data))
        assert f"is already in use by process {shared.process.pid} at {shared.url}" in said

    def test_second_start_on_the_same_port_starts_nothing(self, shared: Up, tmp_path: Path) -> None:
        port = shared.url.rpartition(":")[2]
        said = refused("--data", str(tmp_path / "data"), "--port", port)
        assert f"Port {port} on 127.0.0.1 is in use by process" in said
        assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["lock", "lock.children"]

    def test_children_get_a_cleared_environment(self, shared: Up) -> None:
        found = those_there(family(shared.process.pid)[1:], psutil.Process.environ)
        names = {name for each in found for name in each}
        assert names
        assert "SECRET_OF_MINE" not in names

    def test_a_killed_api_is_started_again_on_the_same_address(self, shared: Up) -> None:
        child = shared.child("backend.web.serve")
        child.kill()
        until(lambda: "api ended: killed by SIGKILL" in shared.said, "it is said")
        until(shared.healthy, "it answers again", 60)
        assert shared.child("backend.web.serve").pid != child.pid

    def test_a_killed_database_is_started_again(self, shared: Up) -> None:
        shared.child("bin/postgres").kill()
        until(lambda: "postgres was restarted" in shared.said, "it is said", 60)
        until(shared.healthy, "it answers again", 60)

    def test_a_killed_broker_is_started_again_on_its_port(self, shared: Up) -> None:
        child = shared.child("valkey-server")
        ports = {c.laddr[1] for c in child.net_connections("inet") if c.status == psutil.CONN_LISTEN}
        child.kill()
        until(lambda: "broker was restarted" in shared.said, "it is said", 60)
        again = shared.child("valkey-server").net_connections("inet")
        assert {c.laddr[1] for c in again if c.status == psutil.CONN_LISTEN} == ports


def stops_everything(up: Up, number: int) -> None:
    """One signal does, and nothing is left of a healthy installation."""
    assert up.healthy()
    assert runtime_folders(up.data)
    everybody = family(up.process.pid)
    assert up.end(number) == 0
    assert all(gone(pid) for pid in everybody)
    assert not runtime_folders(up.data)
    assert up.said.endswith("Stopped.\n")


@pytest.mark.sampled(1, of="a start of its own")
class TestEnd:
    @pytest.mark.long
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_sigterm_and_sighup_stop_everything(self, tmp_path: Path, number: int) -> None:
        with running(tmp_path / "data") as up:
            stops_everything(up, number)

    def test_kill_9_leaves_no_process_and_the_next_up_stops_on_one_signal(self, tmp_path: Path) -> None:
        with running(tmp_path / "data") as up:
            assert up.healthy()
            everybody = family(up.process.pid)
            up.end(signal.SIGKILL)
            until(lambda: all(gone(pid) for pid in everybody), "everybody is gone", 20)
        assert not runtime_folders(tmp_path / "data")
        with running(tmp_path / "data") as again:
            stops_everything(again, signal.SIGINT)

    def test_signal_during_start_stops_the_processes_that_run_already(self, tmp_path: Path) -> None:
        with running(tmp_path / "data") as up:
            until((tmp_path / "data" / "logs" / "broker.log").exists, "the broker starts", 60)
            everybody = family(up.process.pid)
            assert up.end() == 0
        assert all(gone(pid) for pid in everybody)


class TestServersOfYours:
    @pytest.mark.sampled(1, of="a start of its own")
    def test_external_servers_are_used_and_not_stopped(self, tmp_path: Path) -> None:
        database, broker = start_postgres(tmp_path / "theirs", durable=False), start_broker(tmp_path / "theirs")
        try:
            with running(tmp_path / "ours", DATABASE_URL=database.url, REDIS_URL=broker.url) as up:
                assert up.healthy()
                assert not (tmp_path / "ours" / "postgres").exists()
            assert not gone(database.process.pid)
            assert not gone(broker.process.pid)
        finally:
            broker.stop()
            database.stop()

    def test_unreachable_external_server_starts_nothing(self, tmp_path: Path) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"postgresql+psycopg://me:pass-word@127.0.0.1:{unused.getsockname()[1]}/x"
            said = refused("--data", str(tmp_path / "data"), DATABASE_URL=url)
        assert "The database in DATABASE_URL does not respond" in said
        assert "pass-word" not in said
        assert not (tmp_path / "data").exists()


@pytest.mark.sampled(1, of="a start of its own")
class TestOrdinaryUser:
    def test_start_and_stop(self, ordinary_python: list[str], ordinary_folder: Path) -> None:
        command = (*ordinary_python, *UP[3:])
        with running(ordinary_folder / "data", command=command) as up:
            assert up.healthy()
            lock = json.loads((ordinary_folder / "data" / "lock").read_text())
            everybody = family(lock["pid"])
            assert {uids.real for uids in those_there(everybody, psutil.Process.uids)} == {65534}
            assert up.end() == 0
        assert all(gone(pid) for pid in everybody)
