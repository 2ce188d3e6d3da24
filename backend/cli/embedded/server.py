"""What the private PostgreSQL and the private broker have in common."""

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backend.cli.embedded.process_spawn import Exit, GuardedProcess, crash_message
from backend.cli.errors import StackError

READY_SECONDS = 120.0
POLL_SECONDS = 0.01
PASSWORD_BYTES = 24
# Cleared environment of a server: nothing but a locale in which messages are plain.
SERVER_ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_MESSAGES": "C"}


@dataclass
class RunningServer:
    """A server that accepts connections.

    Args:
        url: Where, as DATABASE_URL or REDIS_URL. It carries the password: never print it.
        process: The server under its guard.
    """

    url: str
    process: GuardedProcess

    def stop(self) -> Exit:
        """Stop it in an orderly way, wait until nothing of it is left. Safe to call twice."""
        return self.process.stop()


def password_file(path: Path) -> str:
    """The password kept in `path`, made on first use; only its owner can read the file."""
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(PASSWORD_BYTES))
            file.flush()
            os.fsync(file.fileno())
    return path.read_text().strip()


def wait_until_ready(process: GuardedProcess, is_ready: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
    """Wait until `is_ready()`.

    Raises:
        StackError: If the server ends first, or is not ready after `seconds`. It is stopped then.
    """
    try:
        _wait(process, is_ready, seconds)
    except BaseException:
        process.stop()
        raise


def _wait(process: GuardedProcess, is_ready: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_ready():
        if (ended := process.wait(POLL_SECONDS)) is not None:
            raise StackError(crash_message(process.spec.name, ended, process.spec.log))
        if time.monotonic() > deadline:
            raise StackError(f"{process.spec.name} did not answer in {seconds:g} s; see {process.spec.log}.")
