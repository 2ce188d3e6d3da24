"""Runs the migrations: against DATABASE_URL, a connection handed over by the caller, or offline as SQL."""

from typing import Any

from alembic import context
from alembic.ddl.postgresql import PostgresqlImpl
from sqlalchemy import Connection, Table, Text, text

from backend.config import Settings
from backend.db.models import Base
from backend.db.session import make_engine, psycopg_url
from backend.db.types import SafeText, Timestamp

# Two processes that start at once must not migrate at once: the second waits here, then finds nothing to do.
MIGRATION_LOCK = 0x6465736B


class TextVersion(PostgresqlImpl):
    """Keeps the schema's version in a text column: PostgreSQL gains nothing from a length, and squawk says so."""

    __dialect__ = "postgresql"

    def version_table_impl(self, **names: Any) -> Table:
        """The table with our column type."""
        table = super().version_table_impl(**names)
        table.c.version_num.type = Text()
        return table


def url() -> str:
    """The caller's address, else the environment's."""
    given = context.config.attributes.get("url")
    return str(given) if given else Settings().database_url.get_secret_value()


def plain_type(kind: str, item: Any, _context: Any) -> str | bool:
    """How a generated migration writes our own column types: as what they are in the database."""
    if kind == "type" and isinstance(item, SafeText):
        return "sa.Text()"
    if kind == "type" and isinstance(item, Timestamp):
        return "sa.DateTime(timezone=True)"
    return False


def configure(**options: Any) -> None:
    """Options that hold online and offline."""
    context.configure(
        target_metadata=Base.metadata,
        compare_type=True,
        render_item=plain_type,  # type: ignore[arg-type] # Alembic's literal types for `kind` are its own
        transaction_per_migration=True,
        **options,
    )


def run_on(connection: Connection) -> None:
    """Migrates over this connection, alone."""
    connection.execute(text("SET lock_timeout = '30s'"))
    connection.execute(text("SET statement_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
    connection.commit()
    configure(connection=connection)
    try:
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()


def run() -> None:
    """Picks the way to run."""
    if context.is_offline_mode():
        # The reader of the SQL decides on transactions (`psql -1 -f`).
        configure(url=psycopg_url(url()), literal_binds=True, transactional_ddl=False)
        with context.begin_transaction():
            context.run_migrations()
        return
    given = context.config.attributes.get("connection")
    if given is not None:
        if isinstance(given, Connection):
            run_on(given)
            return
        with given.connect() as connection:
            run_on(connection)
        return
    engine = make_engine(url(), pool_size=1)
    try:
        with engine.connect() as connection:
            run_on(connection)
    finally:
        engine.dispose()


run()
