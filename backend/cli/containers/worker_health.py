"""Health of a worker's container: `python -m backend.cli.containers.worker_health`.

Ends with 0 if the worker of this machine has told the database of itself just now.
"""

import socket
import sys

import psycopg

from backend.config import get_settings

SECONDS = 30.0
"""A worker renews its row every 2 s; one that is busy starting desktops may be late."""
QUERY = """
    SELECT count(*) FROM worker
    WHERE starts_with(name, %s || '-') AND state = 'online' AND heartbeat_at > now() - make_interval(secs => %s)
"""


def is_heard(url: str, host: str) -> bool:
    """Whether a worker of that machine has renewed its row lately.

    Args:
        url: of the database, as SQLAlchemy reads it.
        host: name of the machine.

    Raises:
        psycopg.Error: the database does not answer.
    """
    with psycopg.connect(url.replace("postgresql+psycopg:", "postgresql:", 1), connect_timeout=5) as database:
        row = database.execute(QUERY, (host, SECONDS)).fetchone()
    return bool(row and row[0])


def main() -> None:
    """Asks the database; ends with 1 and a sentence if nothing is heard."""
    host = socket.gethostname()
    if not is_heard(get_settings().database_url.get_secret_value(), host):
        sys.exit(f"no worker of {host} has been heard of for {SECONDS:g} s")


if __name__ == "__main__":
    main()
