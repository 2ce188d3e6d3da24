"""The unit of work: commit, then hooks; an error takes both back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, make_url, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from backend.db.models import Project
from backend.db.session import (
    SessionFactory,
    after_commit,
    make_engine,
    psycopg_url,
    read_only,
    session_factory,
    unit_of_work,
)
from backend.domain.errors import Unavailable
from tests.databases import engine_on, run_as_owner
from tests.error_codes import raises_code


@pytest.fixture
def factory(fresh_database: str) -> Iterator[SessionFactory]:
    with engine_on(fresh_database) as engine:
        yield session_factory(engine)


class TestReadOnly:
    @pytest.mark.parametrize("statement", ["INSERT INTO project (id, name) VALUES (gen_random_uuid(), 'one')",
                                           "SELECT id FROM project FOR UPDATE"])  # fmt: skip
    def test_writes_and_locks_are_refused(self, factory: SessionFactory, statement: str) -> None:
        with pytest.raises(DBAPIError) as refused, read_only(factory) as session:
            session.execute(text(statement))
        assert getattr(refused.value.orig, "sqlstate", "") == "25006"

    def test_the_next_transaction_of_its_connection_may_write(self, factory: SessionFactory) -> None:
        with read_only(factory) as session:
            pid = session.scalar(text("SELECT pg_backend_pid()"))
        with unit_of_work(factory) as session:
            session.add(Project(name="one"))
            assert session.scalar(text("SELECT pg_backend_pid()")) == pid

    def test_all_its_statements_see_one_moment(self, factory: SessionFactory) -> None:
        with read_only(factory) as session:
            before = set(session.scalars(select(Project.name)))
            with unit_of_work(factory) as writer:
                writer.add(Project(name="later"))
            assert set(session.scalars(select(Project.name))) == before
        with read_only(factory) as session:
            assert set(session.scalars(select(Project.name))) == {*before, "later"}


class TestTexts:
    def test_any_text_is_searched_for_and_stored(self, factory: SessionFactory) -> None:
        hostile, cleaned = "a\x00b\ud800", "a\ufffdb?"
        values = {"one": hostile, "some": [hostile], "json": json.dumps({"key": "ok"})}
        with unit_of_work(factory) as session:
            session.add(Project(name=hostile))
            found = session.scalar(select(Project.name).where((Project.name + "").contains(hostile)))
            row = session.execute(text("SELECT :one, CAST(:some AS text[]), CAST(:json AS jsonb)"), values).one()
        assert (found, *row) == (cleaned, cleaned, [cleaned], {"key": "ok"})


class TestUnitOfWork:
    def test_hooks_run_once_after_the_commit(self, factory: SessionFactory) -> None:
        seen: list[list[str]] = []

        def look() -> None:
            with factory() as other:
                seen.append(list(other.scalars(select(Project.name))))

        with unit_of_work(factory) as session:
            session.add(Project(name="one"))
            after_commit(session, "look", look)
            after_commit(session, "look", look)
            session.flush()
            assert seen == []
        assert seen == [["one"]]

    def test_an_error_rolls_back_and_forgets_the_hooks(self, factory: SessionFactory) -> None:
        seen: list[int] = []

        def work() -> None:
            with unit_of_work(factory) as session:
                session.add(Project(name="one"))
                after_commit(session, "x", lambda: seen.append(1))
                raise KeyError

        with pytest.raises(KeyError):
            work()
        with unit_of_work(factory) as session:
            assert session.scalars(select(Project)).all() == []
        assert seen == []

    def test_a_hook_that_fails_does_not_affect_others(
        self, factory: SessionFactory, caplog: pytest.LogCaptureFixture
    ) -> None:
        seen: list[int] = []

        def fail() -> None:
            raise OSError("the broker is away")

        with unit_of_work(factory) as session:
            after_commit(session, "a", fail)
            after_commit(session, "b", lambda: seen.append(1))
        assert seen == [1]
        assert "a hook after the commit failed" in caplog.text

    def test_a_database_that_is_away_is_unavailable(self, caplog: pytest.LogCaptureFixture) -> None:
        def ask(session: Session) -> None:
            session.execute(text("SELECT 1"))

        away = session_factory(make_engine("postgresql://nobody@127.0.0.1:1/none"))
        with raises_code(Unavailable, "database_unavailable") as caught, unit_of_work(away) as session:
            ask(session)
        assert "127.0.0.1" in caplog.text
        assert "127.0.0.1" not in caught.value.message

    def test_a_connection_that_was_cut_is_unavailable_and_the_next_one_works(self, factory: SessionFactory) -> None:
        def cut(session: Session) -> None:
            session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

        with pytest.raises(Unavailable), unit_of_work(factory) as session:
            cut(session)
        with unit_of_work(factory) as session:
            assert session.scalar(text("SELECT 1")) == 1


def hold_while(factory: SessionFactory, other: SessionFactory) -> None:
    """Holds a lock idly until another session has it; then continues."""
    lock = select(func.pg_advisory_xact_lock(7))
    with unit_of_work(factory) as frozen:
        frozen.execute(lock)
        with unit_of_work(other) as session:
            session.execute(text("SET LOCAL lock_timeout = '10s'"))
            session.execute(lock)
        frozen.execute(text("SELECT 1"))


class TestMakeEngine:
    def test_reads_json_of_many_levels(self, factory: SessionFactory) -> None:
        with unit_of_work(factory) as session:
            stored = session.scalar(text("SELECT CAST(:value AS jsonb)"), {"value": "[" * 300 + "]" * 300})
        assert json.dumps(stored) == "[" * 300 + "]" * 300

    @pytest.mark.parametrize(
        "value",
        [
            {},
            [],
            None,
            {"a": [1, 2.5, True, None, "é\u2028"]},
            12345678901234567890123,
            0.1,
            {"deep": {"a": {"b": [{}]}}},
        ],
        ids=repr,
    )
    def test_reads_json_as_it_was_written(self, factory: SessionFactory, value: Any) -> None:
        with unit_of_work(factory) as session:
            stored = session.scalar(text("SELECT CAST(:value AS jsonb)"), {"value": json.dumps(value)})
        assert (stored, type(stored)) == (value, type(value))

    def test_a_transaction_that_does_nothing_is_ended(self, factory: SessionFactory) -> None:
        with unit_of_work(factory) as session:
            for name in ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"):
                assert session.scalar(text(f"SHOW {name}")) not in {None, "0"}
            assert session.scalar(text("SHOW timezone")) == "UTC"

    def test_locks_of_a_frozen_process_are_released_after_the_timeout(self, fresh_database: str) -> None:
        hasty, other = make_engine(fresh_database, idle_seconds=0.5), make_engine(fresh_database)
        try:
            with raises_code(Unavailable, "database_unavailable") as caught:
                hold_while(session_factory(hasty), session_factory(other))
            assert "idle-in-transaction" in str(caught.value.__cause__)
        finally:
            hasty.dispose()
            other.dispose()

    def test_new_connections_take_a_password_that_was_rotated(self, fresh_database: str) -> None:
        def address(password: str) -> str:
            return make_url(fresh_database).set(username="rotated", password=password).render_as_string(False)

        run_as_owner(fresh_database, "CREATE ROLE rotated LOGIN PASSWORD 'first'")
        urls = [address("first")]
        engine = make_engine(urls[0], current_url=lambda: urls[-1])
        try:
            with unit_of_work(session_factory(engine)) as session:
                assert session.scalar(text("SELECT 1")) == 1
            run_as_owner(fresh_database, "ALTER ROLE rotated PASSWORD 'second'")
            engine.dispose()
            with pytest.raises(Unavailable), unit_of_work(session_factory(engine)) as session:
                session.execute(text("SELECT 1"))
            urls.append(address("second"))
            with unit_of_work(session_factory(engine)) as session:
                assert session.scalar(text("SELECT 1")) == 1
        finally:
            engine.dispose()
            run_as_owner(fresh_database, "DROP ROLE rotated")

    @pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
    def test_takes_the_usual_spellings(self, scheme: str) -> None:
        assert psycopg_url(f"{scheme}://u:p@h:1/d").render_as_string(hide_password=False) == (
            "postgresql+psycopg://u:p@h:1/d"
        )

    def test_says_what_to_set_when_nothing_is(self) -> None:
        with pytest.raises(Unavailable) as caught:
            psycopg_url("")
        assert "DATABASE_URL" in caught.value.hint
