"""The embedded servers as an ordinary user."""

import subprocess
from pathlib import Path

from tests.integration.embedded.conftest import NOBODY

SERVERS = """
import os, sys
from pathlib import Path
import psutil, psycopg
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.postgres import start_postgres
data = Path(sys.argv[1])
for _ in range(2):
    database, broker = start_postgres(data), start_broker(data)
    with psycopg.connect(database.url.replace("+psycopg", "")) as connection:
        connection.execute("create table if not exists kept (x int)")
        connection.execute("insert into kept values (1)")
        rows = connection.execute("select count(*) from kept").fetchone()
    uids = {psutil.Process(server.process.pid).uids().real for server in (database, broker)}
    print(rows[0], uids, database.stop().reason, broker.stop().reason)
print(len(psutil.Process().children(recursive=True)), "left")
"""


class TestServers:
    def test_start_and_stop_twice(self, ordinary_python: list[str], ordinary_folder: Path) -> None:
        command = [*ordinary_python, "-c", SERVERS, str(ordinary_folder / "data")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            f"1 {{{NOBODY}}} exit code 0 exit code 0",
            f"2 {{{NOBODY}}} exit code 0 exit code 0",
            "0 left",
        ]


class TestFolder:
    def test_foreign_folder_is_refused_with_a_message(self, ordinary_python: list[str]) -> None:
        command = [
            *ordinary_python,
            "-m",
            "backend.cli.main",
            "up",
            "--data",
            "/var/lib/deskarena-of-root",
            "--port",
            "0",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")
        assert done.returncode == 3
        assert "/var/lib/deskarena-of-root cannot be written: Permission denied." in done.stderr
        assert "Nothing was started." in done.stderr
