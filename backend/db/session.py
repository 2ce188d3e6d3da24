"""Engines, sessions and the unit of work: one transaction, then its after-commit hooks."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from backend.db.types import dump_json, load_json
from backend.domain.errors import Unavailable

logger = logging.getLogger(__name__)

SessionFactory = sessionmaker[Session]
_HOOKS = "after_commit"
_READ_ONLY = "read_only"
_SNAPSHOT = text("SELECT CAST(pg_current_snapshot() AS text)")

# A frozen process must not hold a run's lock forever, and a vanished server must not hold a process.
_SERVER_OPTIONS = "-c timezone=UTC -c lock_timeout=15000 -c statement_timeout=60000"


def psycopg_url(url: str) -> URL:
    """`url` for SQLAlchemy with psycopg 3, from any usual PostgreSQL scheme.

    Raises:
        Unavailable: no database is configured.
    """
    if not url:
        raise Unavailable(
            "no database is configured", code="database_not_configured", hint="Set DATABASE_URL, or use `deskarena up`."
        )
    return make_url(url).set(drivername="postgresql+psycopg")


def make_engine(url: str, *, pool_size: int = 10, idle_seconds: float = 30.0) -> Engine:
    """An engine with a pool of checked connections. Connecting happens at first use, not here.

    Args:
        url: `postgresql://user:password@host:port/name`, sockets as `?host=/folder`.
        pool_size: connections kept open; as many again may be opened temporarily.
        idle_seconds: after which the server ends an idle transaction, and releases its locks.
    """
    options = f"{_SERVER_OPTIONS} -c idle_in_transaction_session_timeout={round(idle_seconds * 1000)}"
    return create_engine(
        psycopg_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        pool_timeout=15,
        json_serializer=dump_json,
        json_deserializer=load_json,
        connect_args={
            "options": options,
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 15000,
        },
    )


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
    """One transaction in which the server refuses every write and every row lock. Raises Unavailable."""
    with unit_of_work(factory) as session:
        session.connection(execution_options={"postgresql_readonly": True})
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
    """What is raised for a driver's error: itself, unless the database did not answer."""
    if not is_away(error):
        return error
    # Only the log has the driver's text: it names the server's address or the socket's path.
    logger.warning("the database did not answer: %s", _first_line(error))
    return Unavailable("the database did not answer", code="database_unavailable", hint="Try again in a few seconds.")


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
