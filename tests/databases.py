"""Databases for tests, on one private server per test process.

The migrations run once, into a template; every database that a test asks for is a copy of it, which takes PostgreSQL
some 50 ms. Parallel test processes have servers of their own and so cannot meet.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import create_engine, make_url, text

from backend.db.migrate import upgrade

TEMPLATE = "migrated"


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
def copied(url: str) -> Iterator[str]:
    """The address of a fresh migrated database, which is dropped at the end, open connections or not."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    run_as_owner(url, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    try:
        yield renamed(url, name)
    finally:
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
