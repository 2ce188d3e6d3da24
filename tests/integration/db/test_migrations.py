"""Migrations: up and down on a filled database, from any folder, by two at once; and the models agree with them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from pytest_alembic import Config, MigrationContext, runner
from sqlalchemy import create_engine, func, inspect, select, text

from backend.db import compatibility, migrate
from backend.db.migrate import config, downgrade, upgrade
from backend.db.models import Base, Episode, Event, Run, Step
from backend.db.repositories.results import rollups as repository
from backend.db.session import make_engine, psycopg_url, session_factory
from backend.domain.errors import FailureClass
from backend.domain.model.reason import ReasonCode
from backend.services.benchmarks.labels import import_labels, label_rows
from tests.factories.records import World, world
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
HEAD = compatibility.history().revisions[-1]
FIRST = "2.0001"
NEXT, AFTER_NEXT = "9.0001", "9.0002"
ADDS = f"""
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{NEXT}", "{HEAD}"


def upgrade() -> None:
    op.add_column("evaluation", sa.Column("remark", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("evaluation", "remark")
"""
TAKES_AWAY = f"""
from alembic import op

revision, down_revision = "{AFTER_NEXT}", "{NEXT}"
contract = "{NEXT}"


def upgrade() -> None:
    op.execute("ALTER TABLE evaluation RENAME remark TO note")


def downgrade() -> None:
    op.execute("ALTER TABLE evaluation RENAME note TO remark")
"""


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This checkout's history, with a migration more that adds something, and one that takes something away."""
    shutil.copy(ROOT / "alembic.ini", tmp_path)
    shutil.copytree(ROOT / "migrations", tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "migrations" / "versions" / "9001_adds.py").write_text(ADDS)
    (tmp_path / "migrations" / "versions" / "9002_takes_away.py").write_text(TAKES_AWAY)
    known = compatibility.history(tmp_path / "migrations")
    for module in (compatibility, migrate):
        monkeypatch.setattr(module, "history", lambda: known)
    monkeypatch.setattr(migrate, "ROOT", tmp_path)


@pytest.fixture
def migrations(empty_database: str) -> Iterator[MigrationContext]:
    """The history, on an empty database."""
    engine = create_engine(psycopg_url(empty_database))
    options = {"file": str(ROOT / "alembic.ini"), "script_location": str(ROOT / "migrations")}
    with runner(Config(config_options=options), engine) as context:
        yield context
    engine.dispose()


def version(url: str) -> str | None:
    engine = make_engine(url)
    with engine.connect() as connection:
        found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    engine.dispose()
    return found


def change(url: str, statement: str) -> None:
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def note(url: str) -> str | None:
    engine = make_engine(url)
    with engine.connect() as connection:
        found: str | None = connection.scalar(text("SELECT obj_description('alembic_version'::regclass)"))
    engine.dispose()
    return found


def structure(url: str) -> dict[str, list[str]]:
    """Everything PostgreSQL knows of the schema: columns, constraints, indexes, sequences."""
    queries = {
        "columns": """SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
            || coalesce(column_default, '') FROM information_schema.columns WHERE table_schema = 'public'""",
        "constraints": """SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
        "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "sequences": "SELECT sequencename::text FROM pg_sequences WHERE schemaname = 'public'",
    }
    engine = make_engine(url)
    with engine.connect() as connection:
        found = {name: sorted(connection.scalars(text(query))) for name, query in queries.items()}
    engine.dispose()
    return {name: [line for line in lines if "alembic_version" not in line] for name, lines in found.items()}


def filled(installation: World) -> Run:
    """A run with a scored, a lost and a waiting episode."""
    installation.benchmark()
    worker = installation.worker()
    run = installation.submit()
    installation.score(installation.must_claim(worker), 0.5)
    claim = installation.must_claim(worker)
    installation.run_to_evaluation(claim)
    installation.lose(claim, FailureClass.EVALUATOR)
    return run


def counts(installation: World) -> list[int]:
    with installation.work() as session:
        return [session.scalars(select(func.count()).select_from(kind)).one() for kind in (Run, Episode, Step, Event)]


def lost_by_label(installation: World, run: Run) -> set[tuple[str, str, str]]:
    """The run's roll-ups. What a task needs of the network is known to the importers alone, not to a migration."""
    with installation.work() as session:
        rows = repository.of_run(session, run.id)
        return {(row.dimension, row.key, str(row.lost)) for row in rows if row.dimension != "network"}


class TestHistory:
    def test_has_one_head(self, migrations: MigrationContext) -> None:
        assert migrations.heads == [HEAD]

    def test_every_step_goes_up_down_and_up_again(self, migrations: MigrationContext) -> None:
        steps = 0
        while migrations.roundtrip_next_revision() is not None:
            steps += 1
        assert migrations.current == HEAD
        assert steps >= 1

    def test_all_goes_down_to_nothing(self, migrations: MigrationContext) -> None:
        migrations.migrate_up_to("heads")
        migrations.migrate_down_to("base")
        assert migrations.current == "base"

    def test_models_and_migrations_agree(self, fresh_database: str) -> None:
        command.check(config(fresh_database))


@pytest.mark.sampled(2)
class TestUpAndDown:
    @pytest.mark.usefixtures("next_release")
    def test_upgrade_preserves_data(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            run = filled(installation)
            installation.roll_up()
            before = counts(installation)
            cube = lost_by_label(installation, run)
        newer = compatibility.history().revisions[1:]
        for revision in newer:
            upgrade(fresh_database, revision)
        assert version(fresh_database) == AFTER_NEXT
        for revision in [FIRST, *newer][-2::-1]:
            downgrade(fresh_database, revision)
        assert version(fresh_database) == FIRST
        upgrade(fresh_database, HEAD)
        with world(fresh_database) as installation:
            assert counts(installation) == before
            installation.roll_up()  # Roll-ups by labels that an older schema does not know are computed again.
            assert lost_by_label(installation, run) == cube

    def test_imported_labels_stay(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            installation.benchmark()
            installation.do(import_labels, "starter", "task,label:owner\nfiles/a,desk team\n")
        downgrade(fresh_database, "2.0006")
        upgrade(fresh_database, HEAD)
        with world(fresh_database) as installation:
            rows = installation.do(lambda session: list(label_rows(session, "starter", None)))
        assert ("files/a", "owner", "desk team") in rows

    def test_filled_database_downgrades_to_nothing_and_upgrades(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            filled(installation)
        downgrade(fresh_database, "base")
        engine = make_engine(fresh_database)
        assert inspect(engine).get_table_names() == ["alembic_version"]
        engine.dispose()
        upgrade(fresh_database)
        with world(fresh_database) as installation:
            filled(installation)

    def test_twice_is_once(self, fresh_database: str) -> None:
        upgrade(fresh_database)
        assert version(fresh_database) == HEAD

    def test_two_at_once_wait_for_each_other(self, empty_database: str) -> None:
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(
                subprocess.run,
                [sys.executable, "-m", "alembic", "-c", str(ROOT / "alembic.ini"), "upgrade", "head"],
                env={**os.environ, "DATABASE_URL": empty_database},
                capture_output=True,
                check=False,
                timeout=120,
            )
            upgrade(empty_database)
            assert other.result().returncode == 0, other.result().stderr
        assert version(empty_database) == HEAD


class TestReasonCodes:
    """2.0002 gives old reasons of waiting the codes that the service compares."""

    @pytest.mark.parametrize(
        ("reason", "code"),
        [
            ("waiting for a person", ReasonCode.PERSON),
            ("needs another worker: w1 (release 1) cannot read the task", ReasonCode.WORKER_CANNOT_READ),
            ("attempt 1 was lost (guest); to be tried again", None),
            ("", None),
        ],
    )
    def test_waiting_episodes_get_them(self, fresh_database: str, reason: str, code: ReasonCode | None) -> None:
        with world(fresh_database) as installation:
            filled(installation)
        change(fresh_database, f"UPDATE episode SET reason = '{reason}'")  # noqa: S608 - the rows above
        downgrade(fresh_database, FIRST)
        upgrade(fresh_database, "2.0002")
        engine = make_engine(fresh_database)
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT state, reason_code FROM episode")).all()
        engine.dispose()
        assert {row.reason_code for row in rows if row.state == "waiting"} == {code}
        assert {row.reason_code for row in rows if row.state != "waiting"} == {None}


@pytest.mark.sampled(2)
class TestOldAndNew:
    @pytest.mark.usefixtures("next_release")
    def test_migration_waits_for_a_busy_table_without_blocking_others(self, fresh_database: str) -> None:
        engine = make_engine(fresh_database)
        with ThreadPoolExecutor(1) as pool, engine.connect() as user, engine.connect() as other:
            user.execute(text("SELECT count(*) FROM evaluation"))  # Its lock stays until the transaction ends.
            migrating = pool.submit(upgrade, fresh_database)
            waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'")
            until(lambda: other.scalar(waits), 20.0, what="the migration asks for the table")
            # Behind a migration that waits for long, this would wait until it fails.
            other.execute(text("SET statement_timeout = '10s'"))
            assert other.scalar(text("SELECT count(*) FROM evaluation")) == 0
            assert not migrating.done()
            other.rollback()
            user.rollback()
            migrating.result(60)
        engine.dispose()
        assert version(fresh_database) == AFTER_NEXT

    @pytest.mark.usefixtures("next_release")
    def test_expanding_stops_before_what_takes_away(self, fresh_database: str) -> None:
        assert migrate.expand(fresh_database) == AFTER_NEXT
        assert version(fresh_database) == NEXT

    def test_expanding_does_all_on_an_empty_database(self, empty_database: str) -> None:
        assert not migrate.expand(empty_database)
        assert version(empty_database) == HEAD

    def test_newer_schema_is_not_changed(self, fresh_database: str) -> None:
        change(fresh_database, "UPDATE alembic_version SET version_num = '9999'")
        assert not migrate.expand(fresh_database)
        assert version(fresh_database) == "9999"


@pytest.mark.sampled(3)
class TestSchemaProblem:
    def found(self, url: str) -> str:
        engine = make_engine(url)
        with session_factory(engine)() as session:
            problem = compatibility.schema_problem(session)
        engine.dispose()
        return problem

    def test_this_releases_schema_is_good(self, fresh_database: str) -> None:
        assert not self.found(fresh_database)

    @pytest.mark.usefixtures("next_release")
    def test_an_older_one_is_not(self, fresh_database: str) -> None:
        assert f"at {HEAD}" in self.found(fresh_database)

    def test_missing_schema_is_a_problem(self, empty_database: str) -> None:
        assert "no schema yet" in self.found(empty_database)

    def test_a_newer_one_is_good_until_it_demands_a_newer_release(self, fresh_database: str) -> None:
        change(fresh_database, "UPDATE alembic_version SET version_num = '9999'")
        assert not self.found(fresh_database)
        change(fresh_database, f"COMMENT ON TABLE alembic_version IS '{compatibility.FLOOR}9998'")
        assert "too old" in self.found(fresh_database)

    @pytest.mark.usefixtures("next_release")
    def test_a_migration_that_takes_away_leaves_the_note_and_going_down_removes_it(self, fresh_database: str) -> None:
        upgrade(fresh_database)
        assert note(fresh_database) == f"{compatibility.FLOOR}{NEXT}"
        downgrade(fresh_database, NEXT)
        assert note(fresh_database) is None


class TestBefore02:
    """A database with a schema older than 0.2 is not changed by any process started on it."""

    @pytest.fixture
    def old_database(self, empty_database: str) -> Iterator[str]:
        change(empty_database, "CREATE TABLE alembic_version (version_num text NOT NULL)")
        change(empty_database, "INSERT INTO alembic_version VALUES ('0021')")
        change(empty_database, "CREATE TABLE run (id uuid PRIMARY KEY)")
        before = structure(empty_database)
        yield empty_database
        assert structure(empty_database) == before
        assert version(empty_database) == "0021"

    @pytest.mark.parametrize("migrating", [upgrade, migrate.expand])
    def test_is_not_migrated(self, old_database: str, migrating: Callable[[str], object]) -> None:
        with pytest.raises(compatibility.OldSchema) as caught:
            migrating(old_database)
        assert caught.value.code == "old_schema"

    def test_old_database_is_refused(self, old_database: str) -> None:
        engine = make_engine(old_database)
        with session_factory(engine)() as session:
            assert compatibility.schema_problem(session) == compatibility.old_schema(old_database) != ""
        engine.dispose()

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        "command",
        [
            ("alembic", "-c", str(ROOT / "alembic.ini"), "upgrade", "head"),
            ("backend.db.migrate",),
            ("backend.db.migrate", "expand"),
            ("backend.cli.embedded.prepare",),
            ("backend.web.serve",),
            ("celery", "-A", "worker.app", "worker", "--pool", "threads"),
            ("backend.cli.main", "up", "--port", "0"),
        ],
    )
    def test_every_program_ends_with_one_sentence(
        self, old_database: str, tmp_path: Path, command: tuple[str, ...]
    ) -> None:
        environment = {"DATABASE_URL": old_database, "DESKARENA_DATA_DIR": str(tmp_path / "data")}
        ended = subprocess.run(
            [sys.executable, "-P", "-m", *command],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DESKARENA_SLOTS": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode not in {0, None}
        assert "DESKARENA_DATA_DIR" in ended.stderr + ended.stdout
        assert "Traceback" not in ended.stderr + ended.stdout


class TestSchema:
    def test_is_the_models_to_the_last_constraint(self, fresh_database: str, empty_database: str) -> None:
        engine = make_engine(empty_database)
        Base.metadata.create_all(engine)
        engine.dispose()
        assert structure(fresh_database) == structure(empty_database)


class TestCommandLine:
    def test_works_from_any_folder(self, empty_database: str, tmp_path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "alembic", "-c", str(ROOT / "alembic.ini"), "upgrade", "head"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "DATABASE_URL": empty_database},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert version(empty_database) == HEAD
