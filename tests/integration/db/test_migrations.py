"""Migrations: up and down on a filled database, from any folder, by two at once; and the models agree with them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from pytest_alembic import Config, MigrationContext, runner
from sqlalchemy import create_engine, func, inspect, select, text

from backend.db import compatibility, migrate
from backend.db.migrate import config, downgrade, upgrade
from backend.db.models import Base, Episode, Event, Run, Step
from backend.db.repositories.results import rollups as repository
from backend.db.session import make_engine, psycopg_url, session_factory
from backend.domain.errors import FailureClass
from tests.factories.creative import creative_benchmark
from tests.factories.records import World, world
from tests.factories.submissions import hand_in
from tests.integration.services.runs.test_repeats import WHY, claimed, unjudged
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
HEAD = ScriptDirectory.from_config(config("postgresql://nowhere/none")).get_current_head()
BEFORE_ROLLUPS = "0003"
BEFORE_WORKS = "0013"
BEFORE_REPEATS = "0016"


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


class TestHistory:
    def test_has_one_head(self, migrations: MigrationContext) -> None:
        assert migrations.heads == [HEAD]

    def test_every_step_goes_up_down_and_up_again(self, migrations: MigrationContext) -> None:
        steps = 0
        while migrations.roundtrip_next_revision() is not None:
            steps += 1
        assert migrations.current == HEAD
        assert steps >= 4

    def test_all_goes_down_to_nothing(self, migrations: MigrationContext) -> None:
        migrations.migrate_up_to("heads")
        migrations.migrate_down_to("base")
        assert migrations.current == "base"

    def test_nothing_is_left_to_generate(self, fresh_database: str) -> None:
        command.check(config(fresh_database))


class TestUpAndDown:
    def test_a_filled_database_loses_nothing_that_is_not_computed(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            run = filled(installation)
            installation.roll_up()
            before = counts(installation)
            cube = installation.do(lambda session: [(row.key, row.lost) for row in repository.of_run(session, run.id)])
        downgrade(fresh_database, BEFORE_ROLLUPS)
        assert version(fresh_database) == BEFORE_ROLLUPS
        upgrade(fresh_database)
        assert version(fresh_database) == HEAD
        with world(fresh_database) as installation:
            assert counts(installation) == before
            assert installation.roll_up() == 1
            again = installation.do(lambda session: [(row.key, row.lost) for row in repository.of_run(session, run.id)])
            assert again == cube

    def test_a_filled_database_goes_down_to_nothing_and_up_again(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            filled(installation)
        downgrade(fresh_database, "base")
        engine = make_engine(fresh_database)
        assert inspect(engine).get_table_names() == ["alembic_version"]
        engine.dispose()
        upgrade(fresh_database)
        with world(fresh_database) as installation:
            filled(installation)

    def test_what_waits_for_a_verdict_is_given_up(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            unjudged(installation, claimed(installation))
        downgrade(fresh_database, BEFORE_REPEATS)
        upgrade(fresh_database)
        with world(fresh_database) as installation:
            (episode,) = installation.do(lambda session: list(session.scalars(select(Episode))))
            assert (episode.state, episode.failure_class, episode.score) == ("lost", "evaluator", None)
            assert episode.failure_message == WHY

    def test_works_and_choices_go_and_their_episodes_stay(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            installation.benchmark(creative_benchmark())
            worker = installation.worker()
            installation.submit()
            hand_in(installation, installation.must_claim(worker), b"a poster")
            before = counts(installation)
        downgrade(fresh_database, BEFORE_WORKS)
        upgrade(fresh_database)
        with world(fresh_database) as installation:
            assert counts(installation) == before

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


class TestOldAndNew:
    def test_a_table_in_use_holds_the_migration_up_and_the_migration_holds_nobody_up(self, fresh_database: str) -> None:
        downgrade(fresh_database, BEFORE_REPEATS)
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
        assert version(fresh_database) == HEAD

    def test_expanding_stops_before_what_takes_away(self, fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        known = compatibility.history()
        downgrade(fresh_database, BEFORE_REPEATS)
        monkeypatch.setattr(migrate, "history", lambda: replace(known, contracts={"0017": "0016"}))
        assert migrate.expand(fresh_database) == "0017"
        assert version(fresh_database) == "0016"

    def test_expanding_does_all_on_an_empty_database(self, empty_database: str) -> None:
        assert not migrate.expand(empty_database)
        assert version(empty_database) == HEAD

    def test_a_newer_schema_stays_as_it_is(self, fresh_database: str) -> None:
        change(fresh_database, "UPDATE alembic_version SET version_num = '9999'")
        assert not migrate.expand(fresh_database)
        assert version(fresh_database) == "9999"


class TestSchemaProblem:
    def found(self, url: str) -> str:
        engine = make_engine(url)
        with session_factory(engine)() as session:
            problem = compatibility.schema_problem(session)
        engine.dispose()
        return problem

    def test_this_releases_schema_is_good(self, fresh_database: str) -> None:
        assert not self.found(fresh_database)

    def test_an_older_one_and_none_are_not(self, fresh_database: str, empty_database: str) -> None:
        downgrade(fresh_database, BEFORE_REPEATS)
        assert f"at {BEFORE_REPEATS}" in self.found(fresh_database)
        assert "no schema yet" in self.found(empty_database)

    def test_a_newer_one_is_good_until_it_demands_a_newer_release(self, fresh_database: str) -> None:
        change(fresh_database, "UPDATE alembic_version SET version_num = '9999'")
        assert not self.found(fresh_database)
        change(fresh_database, f"COMMENT ON TABLE alembic_version IS '{compatibility.FLOOR}9998'")
        assert "too old" in self.found(fresh_database)

    def test_a_migration_that_takes_away_leaves_the_note_and_going_down_removes_it(
        self, fresh_database: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known = compatibility.history()
        downgrade(fresh_database, BEFORE_REPEATS)
        monkeypatch.setattr(compatibility, "history", lambda: replace(known, contracts={"0017": "0016"}))
        upgrade(fresh_database, "0017")
        assert note(fresh_database) == f"{compatibility.FLOOR}0016"
        downgrade(fresh_database, BEFORE_REPEATS)
        assert note(fresh_database) is None


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
