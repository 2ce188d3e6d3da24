"""Databases for tests, on one private server per test process.

The migrations run once, into a template; every database that a test asks for is a copy of it, which takes PostgreSQL
some 50 ms. Parallel test processes have servers of their own and so cannot meet.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import enumerate as threads
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, Dialect, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DisconnectionError, OperationalError
from sqlalchemy.pool import QueuePool

from backend.db.migrate import upgrade
from backend.db.session import make_engine
from tests.waiting import until

TEMPLATE = "migrated"
_dialects: dict[str, Dialect] = {}
_kept: dict[str, Engine] = {}
"""By the address of a database that one test after another uses."""
_compiled: dict[Any, Any] = {}
"""Statements by dialect, compiled once for every engine of this test process: a test of services has two hundred."""


def renamed(url: str, name: str) -> str:
    """The address of another database on the same server."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def run_as_owner(url: str, *statements: str) -> None:
    """Runs statements that no transaction may hold (CREATE DATABASE, DROP DATABASE)."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))
    finally:
        engine.dispose()


def make_template(url: str) -> None:
    """Makes the template that all others are copied from."""
    run_as_owner(url, f"CREATE DATABASE {TEMPLATE}")
    upgrade(renamed(url, TEMPLATE))


@contextmanager
def copied(url: str, template: str = TEMPLATE) -> Iterator[str]:
    """The address of a fresh migrated database, which is dropped at the end, open connections or not."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    run_as_owner(url, f"CREATE DATABASE {name} TEMPLATE {template}")
    copy = renamed(url, name)
    try:
        yield copy
    finally:
        if kept := _kept.pop(copy, None):
            kept.dispose()
        run_as_owner(url, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def empty(url: str) -> Iterator[str]:
    """The address of a database without any table, for tests of the migrations."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    run_as_owner(url, f"CREATE DATABASE {name}")
    try:
        yield renamed(url, name)
    finally:
        run_as_owner(url, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def engine_on(url: str, *, pool_size: int = 10) -> Iterator[Engine]:
    """An engine whose connections are all closed at the end, also those that threads of the test still work with.

    What still works then may finish its transaction and finds the database away afterwards. Without that, a connection
    that comes back too late is closed by nobody, and blamed on a later test.
    """
    engine = make_engine(url, pool_size=pool_size)
    engine.update_execution_options(compiled_cache=_compiled)
    own = engine.dialect
    with engine.connect():  # It asks the server for what the dialect has to know.
        engine.dialect = _dialects.setdefault(engine.url.drivername, own)
    try:
        yield engine
    finally:
        engine.dialect = own  # What listens for its connections must not hear those of other tests.
        _close(engine)


@contextmanager
def lent_engine(url: str, *, pool_size: int) -> Iterator[Engine]:
    """An engine of one test, whose connections stay open for the next test of the same database (see `copied`).

    A connection that has read the catalogue costs half of what a new one does. What the test leaves at work may finish
    its transaction and finds the database away afterwards, as in `engine_on`.
    """
    if url not in _kept:
        _kept[url] = make_engine(url, pool_size=pool_size)
    engine = _kept[url].execution_options()

    def refuse(connection: Connection) -> None:
        connection.close()
        raise OperationalError("connect", {}, psycopg.OperationalError("the test has ended"))

    try:
        yield engine
    finally:
        event.listen(engine, "engine_connect", refuse)
        _wait_until_idle(cast("QueuePool", engine.pool))


def _wait_until_idle(pool: QueuePool) -> None:
    until(lambda: not pool.checkedout(), what=f"nobody works with the database any more: {threads()}")


def _close(engine: Engine) -> None:
    pool = cast("QueuePool", engine.pool)

    def refuse(*_: Any) -> None:
        raise psycopg.OperationalError("the test has ended")

    def give_no_more(*_: Any) -> None:
        raise DisconnectionError("the test has ended")

    event.listen(engine, "do_connect", refuse)
    event.listen(engine, "checkout", give_no_more)
    try:
        _wait_until_idle(pool)
    finally:
        engine.dispose()
