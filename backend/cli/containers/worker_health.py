"""Health check of a worker's container: `python -m backend.cli.containers.worker_health`.

Exits with 0 if this machine's worker has recently renewed its row in the database.
"""

import socket
import sys

import psycopg

from backend.config import get_settings
from backend.db.session import libpq_url

SECONDS = 30.0
"""Maximum age of a heartbeat. Workers renew it every 2 s, or later while they start desktops."""
QUERY = """
    SELECT count(*) FROM worker
    WHERE starts_with(name, %s || '-') AND state = 'online' AND heartbeat_at > now() - make_interval(secs => %s)
"""


def has_heartbeat(url: str, host: str) -> bool:
    """Whether a worker of that machine has a recent heartbeat.

    Args:
        url: database URL for SQLAlchemy.
        host: host name.

    Raises:
        psycopg.Error: the database does not respond.
    """
    with psycopg.connect(libpq_url(url), connect_timeout=5) as database:
        row = database.execute(QUERY, (host, SECONDS)).fetchone()
    return bool(row and row[0])


def main() -> None:
    """Exits with 1 and a message if there is no recent heartbeat."""
    host = socket.gethostname()
    if not has_heartbeat(get_settings().database_url.get_secret_value(), host):
        sys.exit(f"No worker of {host} has sent a heartbeat for {SECONDS:g} s.")


if __name__ == "__main__":
    main()
