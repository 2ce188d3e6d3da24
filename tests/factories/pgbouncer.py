"""A real PgBouncer in transaction mode before a test's PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests.waiting import until
from tools.rolling_restart.site import free_port

CONFIGURATION = """[databases]
* = host={sockets} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 4
logfile = {folder}/pgbouncer.log
"""


@contextmanager
def pgbouncer(url: str) -> Iterator[str]:
    """The address of the database of `url` through a pooler, without the parameter that says so.

    Clients share four connections of the server: what one leaves in a session another one meets.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("needs PgBouncer: `apt-get install pgbouncer`")
    server = make_url(url)
    sockets = Path(str(server.query["host"]))
    port = free_port()
    # Not in pytest's own folder, which nobody but root may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "users.txt").write_text(f'"{server.username}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            CONFIGURATION.format(
                sockets=sockets, user=server.username, password=server.password, port=port, folder=folder
            )
        )
        owner = sockets.stat().st_uid if os.geteuid() == 0 else None  # It refuses to run as root.
        if owner is not None:
            for path in (folder, *folder.iterdir()):
                os.chown(path, owner, owner)
        process = subprocess.Popen([program, "-q", "pgbouncer.ini"], cwd=folder, user=owner, group=owner)
        pooled = f"postgresql://{server.username}@127.0.0.1:{port}/{server.database}"
        try:
            until(lambda: _answers(pooled), what="PgBouncer answers")
            yield pooled
        finally:
            process.terminate()
            process.wait(60)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
