"""Common parts of the private PostgreSQL and the private broker."""

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
# Environment of a server: only a locale with plain messages.
SERVER_ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_MESSAGES": "C"}


@dataclass
class RunningServer:
    """A server that accepts connections.

    Args:
        url: Address as in DATABASE_URL or REDIS_URL. It contains the password: never print it.
        process: The server under its guard.
    """

    url: str
    process: GuardedProcess

    def stop(self) -> Exit:
        """Stops it gracefully and waits until all its processes have ended. Safe to call twice."""
        return self.process.stop()


def password_file(path: Path) -> str:
    """The password in `path`, created on first use; only its owner can read the file."""
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
        StackError: The server ends first, or is not ready after `seconds`. It is then stopped.
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
            raise StackError(crash_message(process.spec.name, ended, process.spec.log), code="process_crashed")
        if time.monotonic() > deadline:
            raise StackError(
                f"{process.spec.name} did not respond within {seconds:g} s; see {process.spec.log}.",
                code="process_timeout",
            )
