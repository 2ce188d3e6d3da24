"""Engines, sessions and the unit of work: one transaction, then its after-commit hooks."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from backend.db.types import SafeTextDumper, dump_json, load_json
from backend.domain.errors import Unavailable

logger = logging.getLogger(__name__)

SessionFactory = sessionmaker[Session]
_HOOKS = "after_commit"
_READ_ONLY = "read_only"
_SNAPSHOT = text("SELECT CAST(pg_current_snapshot() AS text)")

# A frozen process must not hold a run's lock forever, and a vanished server must not hold a process.
_SERVER_SETTINGS = {"TimeZone": "UTC", "lock_timeout": "15000", "statement_timeout": "60000"}
_IDLE = "idle_in_transaction_session_timeout"
_POOLER = "pooler"
POOLED = "pooled"
"""Execution option of an engine whose connections lead through a pooler."""


def psycopg_url(url: str) -> URL:
    """`url` for SQLAlchemy with psycopg 3, from any usual PostgreSQL scheme, without our own parameter `pooler`.

    Raises:
        Unavailable: no database is configured, or its address cannot be read.
    """
    if not url:
        raise Unavailable(
            "no database is configured", code="database_not_configured", hint="Set DATABASE_URL, or use `deskarena up`."
        )
    return _parse_url(url).set(drivername="postgresql+psycopg").difference_update_query([_POOLER])


def libpq_url(url: str) -> str:
    """The same address for psycopg itself. It has the password. Raises Unavailable."""
    return psycopg_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def is_pooled(url: str) -> bool:
    """Whether the address has `pooler=transaction`: each transaction may get another of the server's connections.

    Raises Unavailable.
    """
    mode = _parse_url(url).query.get(_POOLER)
    if mode not in {None, "transaction"}:
        raise Unavailable(
            f"DATABASE_URL has pooler={mode}",
            code="database_url_invalid",
            hint="Write pooler=transaction, or leave it out for an address without a pooler.",
        )
    return mode is not None


def _parse_url(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as error:  # The text has the password.
        raise Unavailable(
            "DATABASE_URL is not an address", code="database_url_invalid", hint="Write postgresql://user:pw@host/name."
        ) from error


def make_engine(
    url: str, *, pool_size: int = 10, idle_seconds: float = 30.0, current_url: Callable[[], str] | None = None
) -> Engine:
    """An engine with a pool of checked connections. Connecting happens at first use, not here.

    Args:
        url: `postgresql://user:password@host:port/name`, sockets as `?host=/folder`; with `?pooler=transaction` the way
            leads through PgBouncer: nothing of a session lasts longer than its transaction.
        pool_size: connections kept open; as many again may be opened temporarily.
        idle_seconds: after which the server ends an idle transaction, and releases its locks.
        current_url: gives the address as it is now; each new connection takes user and password from it.
    """
    limits = _SERVER_SETTINGS | {_IDLE: str(round(idle_seconds * 1000))}
    pooled = is_pooled(url)
    engine = create_engine(
        psycopg_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        pool_timeout=15,
        json_serializer=dump_json,
        json_deserializer=load_json,
        execution_options={POOLED: pooled},
        connect_args={
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 15000,
            **(_POOLED_CONNECTION if pooled else {"options": _startup_options(limits)}),
        },
    )
    event.listen(engine, "connect", _take_any_text)
    if pooled:
        limit_transactions(engine, limits)
    if current_url is not None:
        _take_credentials(engine, current_url)
    return engine


def _take_any_text(connection: Any, _record: Any) -> None:
    connection.adapters.register_dumper(str, SafeTextDumper)


def _take_credentials(engine: Engine, current_url: Callable[[], str]) -> None:
    def set_credentials(_dialect: Any, _record: Any, _args: Any, options: dict[str, Any]) -> None:
        now = psycopg_url(current_url())
        options.update({"user": now.username, "password": now.password} if now.username else {})

    event.listen(engine, "do_connect", set_credentials)


# The next transaction's connection does not know the statements that this one's has prepared.
_POOLED_CONNECTION: dict[str, Any] = {"prepare_threshold": None}


def _startup_options(limits: Mapping[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in limits.items())


def limit_transactions(target: Engine | Connection, limits: Mapping[str, str]) -> None:
    """Begins every transaction with these server settings, which end with it; single statements have none.

    A pooler refuses them at the start of a connection, and would carry later ones over to its next client.
    """
    statement = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in limits.items())

    def set_limits(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        if driver is not None and not driver.autocommit:
            driver.execute(statement)

    event.listen(target, "begin", set_limits)


def session_factory(engine: Engine) -> SessionFactory:
    """Sessions whose objects stay readable after the commit."""
    return sessionmaker(engine, expire_on_commit=False)


def after_commit(session: Session, key: str, hook: Callable[[], None]) -> None:
    """Registers `hook` to run once after this transaction's commit; a later one with the same key replaces it."""
    session.info.setdefault(_HOOKS, {})[key] = hook


@contextmanager
def unit_of_work(factory: SessionFactory) -> Iterator[Session]:
    """One transaction: commits at the end and then runs the queued hooks; an error rolls back and forgets them.

    Hooks announce what is already true (a broker message, a file to remove), so a failure is only logged.

    Raises:
        Unavailable: the database is unavailable, or too busy to grant a lock in time. Whether the commit succeeded may
            then be unknown: every function of `backend.services` may be called twice.
    """
    with factory() as session:
        try:
            yield session
            session.commit()
        except (DBAPIError, PoolTimeout) as error:
            raise _unavailable(error) from error
        hooks: dict[str, Callable[[], None]] = session.info.pop(_HOOKS, {})
    for hook in hooks.values():
        try:
            hook()
        except Exception:
            logger.exception("a hook after the commit failed")


@contextmanager
def read_only(factory: SessionFactory) -> Iterator[Session]:
    """One transaction that sees one moment, and in which the server refuses every write and row lock.

    Otherwise two statements may see different moments, and a page contradict itself. Raises Unavailable.
    """
    with unit_of_work(factory) as session:
        session.connection(execution_options={"postgresql_readonly": True, "isolation_level": "REPEATABLE READ"})
        session.info[_READ_ONLY] = True
        yield session


@contextmanager
def single_statements(factory: SessionFactory) -> Iterator[Connection]:
    """A connection without a transaction: one statement each, and no BEGIN and ROLLBACK around it.

    Raises Unavailable.
    """
    try:
        with factory.kw["bind"].connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            yield connection
    except (DBAPIError, PoolTimeout) as error:
        raise _unavailable(error) from error


def _unavailable(error: DBAPIError | PoolTimeout) -> Exception:
    """The exception for a driver's error: `Unavailable` if the database did not answer, else the error itself."""
    if not is_away(error):
        return error
    # Only the log has the driver's text: it names the server's address or the socket's path.
    logger.warning("the database did not answer: %s", _first_line(error))
    hint = "Try again in a few seconds."
    if "unsupported startup parameter" in str(error):
        hint = "DATABASE_URL leads to a pooler: add ?pooler=transaction to it."
    return Unavailable("the database did not answer", code="database_unavailable", hint=hint)


def committed_state(factory: SessionFactory) -> str:
    """Names what is committed: equal names mean that a reader sees the same rows, whichever process wrote them.

    It is the server's snapshot, which changes whenever a transaction that has written ends. Raises a driver's error.
    Source: https://www.postgresql.org/docs/current/functions-info.html, `pg_current_snapshot`.
    """
    with factory.kw["bind"].connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        return str(connection.scalar(_SNAPSHOT))


def only_reads(session: Session) -> bool:
    """Whether the session is one of `read_only`."""
    return _READ_ONLY in session.info


def is_away(error: Exception) -> bool:
    """Whether the database did not answer or ended the connection, as it does with idle transactions."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, (OperationalError, InterfaceError, PoolTimeout))


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
