"""Copies of all tables, in and out, as PostgreSQL's COPY text: independent of the server's version and of `pg_dump`.

Rows are ordered by primary key and written with fixed settings, so equal tables give equal bytes.
Source: https://www.postgresql.org/docs/current/sql-copy.html
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import Connection, IsolationLevel, sql

from backend.db.session import libpq_url
from backend.domain.errors import Unavailable

logger = logging.getLogger(__name__)

VERSION_TABLE = "alembic_version"
# For one transaction only: behind a pooler the next one belongs to somebody else.
_SETTINGS = (
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'postgres'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL bytea_output = 'hex'",
    # A large table takes longer than a request may.
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)
_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1"
)
_COLUMNS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    " AND attgenerated = '' ORDER BY attnum"
)
_KEY = (
    "SELECT attname FROM pg_index CROSS JOIN LATERAL unnest(indkey) WITH ORDINALITY AS part(number, place)"
    " JOIN pg_attribute ON attrelid = indrelid AND attnum = part.number"
    " WHERE indrelid = %s::regclass AND indisprimary ORDER BY part.place"
)
_FOREIGN_KEYS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
)
_SEQUENCES = (
    "SELECT pg_get_serial_sequence(quote_ident(relname), attname), relname, attname FROM pg_class"
    " JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped"
    " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    " AND pg_get_serial_sequence(quote_ident(relname), attname) IS NOT NULL"
)
_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


@dataclass(frozen=True)
class TableColumns:
    """A table's columns in the order in which they are copied, and those of its primary key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@contextmanager
def read_snapshot(url: str) -> Iterator[Connection]:
    """A read-only transaction in which every statement sees the same state of all tables, which keep their form."""
    with _connect(url, IsolationLevel.REPEATABLE_READ, read_only=True) as connection:
        names = _table_names(connection)
        if names:  # As pg_dump does: a migration must not change a table before its turn.
            locked = sql.SQL(", ").join(map(sql.Identifier, names))
            connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(locked))
        yield connection


@contextmanager
def writing(url: str) -> Iterator[Connection]:
    """One transaction that writes; an error rolls it back."""
    with _connect(url) as connection:
        yield connection


def tables(connection: Connection) -> list[TableColumns]:
    """All tables except the one with the schema's version, by name."""
    return [
        TableColumns(name, _names(connection, _COLUMNS, name), _names(connection, _KEY, name))
        for name in _table_names(connection)
        if name != VERSION_TABLE
    ]


def is_empty(connection: Connection) -> bool:
    """Whether the database has no table at all."""
    return not _table_names(connection)


def other_clients(connection: Connection) -> int:
    """Number of other connections to this database."""
    row = connection.execute(_OTHERS).fetchone()
    return int(row[0]) if row else 0


def schema_of(connection: Connection) -> str:
    """The schema's version; empty: none yet."""
    if VERSION_TABLE not in _table_names(connection):
        return ""
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def artifacts_of(connection: Connection) -> dict[str, int]:
    """Hash and size in bytes of every artifact that the database knows."""
    return dict(connection.execute("SELECT sha256, size FROM artifact ORDER BY sha256").fetchall())


def copy_out(connection: Connection, table: TableColumns) -> Iterator[bytes]:
    """The rows of a table, ordered by its key, in blocks: each row a line, its fields between tabs."""
    order = sql.SQL(" ORDER BY {}").format(_list(table.key)) if table.key else sql.SQL("")
    query = sql.SQL("COPY (SELECT {} FROM {}{}) TO STDOUT").format(
        _list(table.columns), sql.Identifier(table.name), order
    )
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        for block in copy:
            yield bytes(block)


def clear(connection: Connection) -> None:
    """Removes every table, and whatever else the schema has."""
    row = connection.execute("SELECT current_schema()").fetchone()
    schema = sql.Identifier(row[0] if row else "public")
    connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))


@contextmanager
def replacing(connection: Connection) -> Iterator[None]:
    """Empties all tables, lets the caller fill them in any order, and then has the server check all foreign keys."""
    keys = connection.execute(_FOREIGN_KEYS).fetchall()
    for table, name, _ in keys:
        _alter(connection, table, sql.SQL("DROP CONSTRAINT {}").format(sql.Identifier(name)))
    names = [table.name for table in tables(connection)]
    connection.execute(sql.SQL("TRUNCATE {}").format(_list(names)))
    yield
    for table, name, definition in keys:
        added = sql.SQL("ADD CONSTRAINT {} {}").format(sql.Identifier(name), sql.SQL(definition))
        _alter(connection, table, added)
    for sequence, name, column in connection.execute(_SEQUENCES).fetchall():
        connection.execute(
            sql.SQL("SELECT setval(%s, (SELECT coalesce(max({}), 0) + 1 FROM {}), false)").format(
                sql.Identifier(column), sql.Identifier(name)
            ),
            (sequence,),
        )
    connection.execute("ANALYZE")


def copy_in(connection: Connection, name: str, columns: Sequence[str], blocks: Iterable[bytes]) -> int:
    """Fills a table with what `copy_out` gave. Returns the number of rows."""
    query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(name), _list(columns))
    with connection.cursor() as cursor:
        with cursor.copy(query) as copy:
            for block in blocks:
                copy.write(block)
        return cursor.rowcount


@contextmanager
def _connect(
    url: str, isolation: IsolationLevel = IsolationLevel.READ_COMMITTED, *, read_only: bool = False
) -> Iterator[Connection]:
    try:
        with psycopg.connect(
            libpq_url(url), connect_timeout=10, client_encoding="UTF8", prepare_threshold=None
        ) as connection:
            connection.isolation_level, connection.read_only = isolation, read_only
            for statement in _SETTINGS:
                connection.execute(statement)
            yield connection
    except psycopg.OperationalError as error:
        logger.warning("the database did not answer: %s", error)
        raise Unavailable(
            "the database did not answer", code="database_unavailable", hint="Check that it is running."
        ) from error


def _table_names(connection: Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute(_TABLES).fetchall()]


def _names(connection: Connection, query: str, table: str) -> tuple[str, ...]:
    quoted = '"' + table.replace('"', '""') + '"'
    return tuple(str(row[0]) for row in connection.execute(query, (quoted,)).fetchall())


def _list(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _alter(connection: Connection, table: str, change: sql.Composed) -> None:
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(sql.SQL(table), change))
