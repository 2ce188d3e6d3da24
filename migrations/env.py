"""Runs the migrations: against DATABASE_URL, a connection handed over by the caller, or offline as SQL."""

import logging
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alembic import context
from alembic.ddl.postgresql import PostgresqlImpl
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, Table, Text, text
from sqlalchemy.exc import OperationalError

from backend.config import Settings
from backend.db.compatibility import FLOOR, OldSchema, history, refuse_old
from backend.db.models import Base
from backend.db.session import POOLED, limit_transactions, make_engine, psycopg_url
from backend.db.types import SafeText, Timestamp

# Two processes that start at once must not migrate at once: the second waits here, then finds nothing to do.
MIGRATION_LOCK = 0x6465736B
WAIT_FOR_OTHERS = 600.0  # seconds
# A waiting request for a table lock blocks all later ones: wait briefly, and retry often.
LIMITS = {"statement_timeout": "0", "lock_timeout": "2s"}
TRIES = 30
NO_FLOOR = "COMMENT ON TABLE alembic_version IS NULL"
LOCK_NOT_AVAILABLE = "55P03"
logger = logging.getLogger("alembic.deskarena")


class TextVersion(PostgresqlImpl):
    """Stores the schema's version in a text column: PostgreSQL gains nothing from a length limit (squawk's rule)."""

    __dialect__ = "postgresql"

    def version_table_impl(self, **names: Any) -> Table:
        """The table with our column type."""
        table = super().version_table_impl(**names)
        table.c.version_num.type = Text()
        return table


def url() -> str:
    """The caller's address, else the environment's."""
    override = context.config.attributes.get("url")
    return str(override) if override else Settings().database_url.get_secret_value()


def plain_type(kind: str, item: Any, _context: Any) -> str | bool:
    """Generated migrations write our own column types as database types."""
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


def note_floor(ctx: Any, heads: set[Any], **_: Any) -> None:
    """Writes down, in the migration's own transaction, which releases may run on what it leaves behind."""
    floor = history().floor(next(iter(heads), ""))
    ctx.connection.execute(text(f"COMMENT ON TABLE alembic_version IS '{FLOOR}{floor}'" if floor else NO_FLOOR))


def run_on(connection: Connection) -> None:
    """Migrates over this connection, alone. A database of before 0.2 stays as it is."""
    try:
        refuse_old(connection)
    except OldSchema as error:
        raise CommandError(error.message) from None
    finally:
        connection.rollback()
    if connection.get_execution_options().get(POOLED):
        limit_transactions(connection, LIMITS)
    else:  # What builds an index beside others' work runs outside transactions.
        for name, value in LIMITS.items():
            connection.execute(text(f"SET {name} = '{value}'"))
        connection.commit()
    with alone(connection.engine):
        try:
            migrate(connection)
        finally:
            connection.rollback()


@contextmanager
def alone(engine: Engine) -> Iterator[None]:
    """Holds the lock of who migrates, in a transaction of its own: behind a pooler no lock lasts longer than that.

    It is tried again and again: a statement that waits for it would hold up the other's index built concurrently.
    """
    deadline = time.monotonic() + WAIT_FOR_OTHERS
    with engine.connect() as other:
        while not other.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK}):
            other.rollback()
            if time.monotonic() > deadline:
                raise CommandError("another process has been migrating this database for 10 minutes")
            time.sleep(random.uniform(0.2, 0.5))  # noqa: S311 - no secret
        other.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        yield


def migrate(connection: Connection) -> None:
    """Runs pending migrations; one that gets no lock in time is rolled back and retried."""
    for left in reversed(range(TRIES)):
        configure(connection=connection, on_version_apply=note_floor)
        try:
            with context.begin_transaction():
                context.run_migrations()
        except OperationalError as error:
            if not left or getattr(error.orig, "sqlstate", "") != LOCK_NOT_AVAILABLE:
                raise
            connection.rollback()
            logger.info("a table is in use; the migration is tried again (%d tries left)", left)
            time.sleep(random.uniform(0.2, 1.0))  # noqa: S311 - no secret
        else:
            return


def run() -> None:
    """Picks the way to run."""
    if context.is_offline_mode():
        # The reader of the SQL decides on transactions (`psql -1 -f`).
        configure(url=psycopg_url(url()), literal_binds=True, transactional_ddl=False)
        with context.begin_transaction():
            context.run_migrations()
        return
    bind = context.config.attributes.get("connection")
    if bind is not None:
        if isinstance(bind, Connection):
            run_on(bind)
            return
        with bind.connect() as connection:
            run_on(connection)
        return
    engine = make_engine(url(), pool_size=1)
    try:
        with engine.connect() as connection:
            run_on(connection)
    finally:
        engine.dispose()


run()
