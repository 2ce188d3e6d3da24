"""Servers in DATABASE_URL and REDIS_URL: checked before anything starts, so that a mistake is reported in one line."""

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from backend.cli.errors import StackError, UsageError

SECONDS = 10.0
DATABASE_SCHEMES = {"postgresql+psycopg", "postgresql", "postgres"}
BROKER_PORT = 6379


def check(outer: Mapping[str, str]) -> None:
    """Checks the servers that the environment names, if any.

    Raises:
        UsageError: A URL has the wrong form.
        StackError: A server does not respond.
    """
    if url := database_url(outer):
        check_database(url)
    if url := redis_url(outer):
        check_broker(url)


def database_url(outer: Mapping[str, str]) -> str:
    """DATABASE_URL of the environment, or empty."""
    return outer.get("DATABASE_URL") or outer.get("DESKARENA_DATABASE_URL", "")


def redis_url(outer: Mapping[str, str]) -> str:
    """REDIS_URL of the environment, or empty."""
    return outer.get("REDIS_URL") or outer.get("DESKARENA_REDIS_URL", "")


def check_database(url: str) -> None:
    """Connects once and looks how old the schema is. The message never contains the URL: it has a password."""
    import psycopg

    from backend.db.compatibility import OldSchema, old_schema
    from backend.db.session import libpq_url

    if url.partition("://")[0] not in DATABASE_SCHEMES:
        raise UsageError("DATABASE_URL must begin with postgresql+psycopg://", code="invalid_database_url")
    try:
        psycopg.connect(libpq_url(url), connect_timeout=int(SECONDS)).close()
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[-1]
        raise StackError(
            f"The database in DATABASE_URL does not respond: {reason} Correct the variable, or "
            "unset it to use the embedded database.",
            code="database_not_reachable",
        ) from None
    if problem := old_schema(url):
        raise StackError(problem, code=OldSchema.code)


def check_broker(url: str) -> None:
    """Opens a connection; the worker checks the password."""
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "redis+socket"}:
        raise UsageError("REDIS_URL must begin with redis://, rediss:// or redis+socket://", code="invalid_broker_url")
    try:
        if parts.scheme == "redis+socket":
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(parts.path)
        else:
            socket.create_connection((parts.hostname, parts.port or BROKER_PORT), SECONDS).close()
    except OSError as error:
        raise StackError(
            f"The broker in REDIS_URL does not respond: {error}. Correct the variable, or unset it "
            "to use the embedded broker.",
            code="broker_not_reachable",
        ) from None
