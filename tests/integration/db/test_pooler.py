"""The service behind a real PgBouncer in transaction mode, whose server connections its clients share."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from backend.db.migrate import ROOT, upgrade
from backend.db.session import SessionFactory, make_engine, read_only, session_factory, single_statements, unit_of_work
from backend.domain.errors import Unavailable
from backend.services.backups.backup import make_backup
from backend.services.backups.backup_folder import BackupFolder
from tests.error_codes import raises_code
from tests.factories.pgbouncer import pgbouncer
from tests.factories.records import world

LIMITS = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "TimeZone")
CLIENTS = 12


@pytest.fixture
def bouncer(empty_database: str) -> Iterator[str]:
    with pgbouncer(empty_database) as url:
        yield url


@pytest.fixture
def pooled(bouncer: str) -> str:
    return f"{bouncer}?pooler=transaction"


def limits_of(url: str) -> tuple[str, ...]:
    """Settings of a session that came by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        return tuple(str(connection.execute(f"SHOW {name}").fetchall()[0][0]) for name in LIMITS)


def ask_often(factory: SessionFactory) -> set[int]:
    """As often that psycopg would prepare the statement, over whichever connection; gives the server's processes."""
    seen = set()
    for number in range(30):
        with unit_of_work(factory) as session:
            row = session.execute(text("SELECT CAST(:n AS int), pg_backend_pid()"), {"n": number}).one()
            assert row[0] == number
            limits = tuple(session.scalar(text(f"SHOW {name}")) for name in LIMITS)
            assert limits == ("15s", "1min", "30s", "UTC")
            seen.add(row[1])
    return seen


class TestTransactionMode:
    def test_two_that_migrate_at_once_and_a_whole_run(self, bouncer: str, pooled: str, tmp_path: Path) -> None:
        before = limits_of(bouncer)
        command, environment = [sys.executable, "-m", "backend.db.migrate"], os.environ | {"DATABASE_URL": pooled}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as other:
            upgrade(pooled)
        assert other.returncode == 0
        with world(pooled) as made:
            made.benchmark()
            worker = made.worker()
            made.submit()
            made.score(made.must_claim(worker), 0.5)
            assert made.roll_up() == 1
            folder = BackupFolder(tmp_path / "backup")
            assert make_backup(
                pooled, made.store, folder, release="0.2.0", models=None, tell=lambda _: None
            ).bad == {}  # fmt: skip
        engines = [make_engine(pooled, pool_size=1) for _ in range(CLIENTS)]
        try:
            with ThreadPoolExecutor(CLIENTS) as pool:
                servers = set[int]().union(*pool.map(ask_often, map(session_factory, engines)))
        finally:
            for engine in engines:
                engine.dispose()
        assert 1 < len(servers) < CLIENTS  # They did share.
        assert limits_of(bouncer) == before

    def test_readers_write_nothing_and_statements_stand_alone(self, pooled: str) -> None:
        engine = make_engine(pooled)
        factory = session_factory(engine)
        with pytest.raises(Exception, match="read-only"), read_only(factory) as session:
            session.execute(text("CREATE TABLE one (id int)"))
        with single_statements(factory) as connection:
            assert connection.scalar(text("SELECT 1")) == 1
        engine.dispose()

    def test_an_address_that_does_not_say_so_is_told_what_to_add(self, bouncer: str) -> None:
        engine = make_engine(bouncer)
        with (
            raises_code(Unavailable, "database_unavailable") as caught,
            unit_of_work(session_factory(engine)) as session,
        ):
            session.execute(text("SELECT 1"))
        engine.dispose()
        assert "?pooler=transaction" in caught.value.hint


def test_unknown_pooler_mode_is_refused() -> None:
    with raises_code(Unavailable, "database_url_invalid"):
        make_engine("postgresql://u:secret@h/d?pooler=statement")
