"""Starts a child of the embedded stack under its guard (`process_guard.py`) and communicates with it."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.cli.errors import StackError

GUARD = Path(__file__).with_name("process_guard.py")
LOG_BYTES = 5_000_000
LOG_BACKUPS = 2
START_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Identity:
    """User and group of a server when we are root."""

    uid: int
    gid: int


@dataclass(frozen=True, kw_only=True)
class ChildSpec:
    """A child's command, environment and deadlines.

    Args:
        name: Name in messages and of the log file.
        argv: Program (absolute path) and arguments.
        env: The whole environment; nothing is inherited.
        log: Log file for stdout and stderr.
        cwd: Working folder.
        identity: User to run as; None = the current one.
        stdin: Text for the child's stdin: secrets go here, never into `argv`.
        pass_fds: Descriptors that stay open in the child under the same numbers.
        hold_fds: Descriptors that stay open in the guard only (a lock that lives as long as the guard).
        stop: Signals with the seconds to wait after each; then the child is killed.
        abandoned_seconds: Maximum wait after each signal when we were killed.
        orphan_seconds: Time in which processes that it leaves behind may end by themselves.
        remove: Folders that the guard removes at the end, even if we are gone.
    """

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    log: Path
    cwd: Path = Path("/")
    identity: Identity | None = None
    stdin: str = ""
    pass_fds: tuple[int, ...] = ()
    hold_fds: tuple[int, ...] = ()
    stop: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 10.0),)
    abandoned_seconds: float = 3.0
    orphan_seconds: float = 8.0
    remove: tuple[Path, ...] = ()

    def to_guard(self) -> dict[str, Any]:
        """The JSON object for the guard."""
        return {
            "argv": list(self.argv),
            "env": self.env,
            "cwd": str(self.cwd),
            "uid": self.identity and self.identity.uid,
            "gid": self.identity and self.identity.gid,
            "stdin": self.stdin,
            "keep_fds": list(self.pass_fds),
            "log": str(self.log),
            "log_bytes": LOG_BYTES,
            "log_backups": LOG_BACKUPS,
            "stop": [[int(number), seconds] for number, seconds in self.stop],
            "abandoned_seconds": self.abandoned_seconds,
            "orphan_seconds": self.orphan_seconds,
            "remove": [str(path) for path in self.remove],
        }


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a child ended, after all its processes have ended.

    Both `code` and `signal` are None if the guard itself was killed.
    """

    code: int | None
    signal: int | None
    tail: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The end as text, such as `exit code 1` or `killed by SIGKILL`."""
        if self.signal is not None:
            return f"killed by {signal.Signals(self.signal).name}"
        return "its guard was killed" if self.code is None else f"exit code {self.code}"


class GuardedProcess:
    """A running child and its guard. Similar to `subprocess.Popen`, but `stop()` waits until no process is left."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self.exit: Exit | None = None
        self._pending = b""
        spec.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with spec.log.open("ab") as log:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={},
                pass_fds=(*spec.pass_fds, *spec.hold_fds),
                start_new_session=True,
                bufsize=0,
            )
        try:
            self.pid = self._begin()
        except BaseException:
            # A signal at this moment must not leave an unknown child behind.
            self._finish()
            raise

    def _begin(self) -> int:
        self._send((json.dumps(self.spec.to_guard()) + "\n").encode())
        first = self._next_message(time.monotonic() + START_SECONDS)
        if first is None or "pid" not in first:
            raise StackError(f"{self.spec.name} could not be started; see {self.spec.log}.", code="process_not_started")
        return int(first["pid"])

    def fileno(self) -> int:
        """Descriptor that becomes readable when the child has ended."""
        return int(self._stdout.fileno())

    def wait(self, timeout: float) -> Exit | None:
        """Waits for the end; None if it still runs after `timeout` seconds. Safe to call twice."""
        if self.exit is None:
            deadline = time.monotonic() + timeout
            message = self._next_message(deadline)
            if message is not None:
                self.exit = Exit(code=message["code"], signal=message["signal"], tail=tuple(message["tail"]))
                self._finish()
        return self.exit

    def request_stop(self) -> None:
        """Requests a graceful stop and returns at once. Safe to call twice."""
        self._send(b"s")

    def kill(self) -> None:
        """Sends SIGKILL to it and all its descendants; returns at once."""
        self._send(b"k")

    def stop(self) -> Exit:
        """Stops it and waits until no process is left, at most for the spec's deadlines. Safe to call twice."""
        self.request_stop()
        ended = self.wait(self.patience)
        if ended is None:
            self._guard.kill()  # The child asked to die with its guard.
            ended = self.wait(10.0) or Exit(code=None, signal=None)
        return ended

    @property
    def patience(self) -> float:
        """Seconds after which the guard must have ended a child that was asked to stop."""
        return sum(seconds for _, seconds in self.spec.stop) + self.spec.orphan_seconds + 15.0

    @property
    def _stdin(self) -> Any:
        return self._guard.stdin

    @property
    def _stdout(self) -> Any:
        return self._guard.stdout

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(data)

    def _next_message(self, deadline: float) -> dict[str, Any] | None:
        while b"\n" not in self._pending:
            remaining = max(0.0, deadline - time.monotonic())
            if not select.select([self._stdout], [], [], remaining)[0]:
                return None
            data = os.read(self.fileno(), 65536)
            if not data:
                return {"code": None, "signal": None, "tail": []}
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _finish(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._guard.wait()
        self._stdout.close()


def spawn(spec: ChildSpec) -> GuardedProcess:
    """Starts a child under a guard; returns when it was forked (not when it is ready).

    Raises:
        StackError: The guard could not start it.
    """
    return GuardedProcess(spec)


def run_to_end(spec: ChildSpec, timeout: float) -> Exit:
    """Runs a short-lived child to its end.

    Raises:
        StackError: It fails or takes longer than `timeout` seconds.
    """
    process = spawn(spec)
    try:
        ended = process.wait(timeout)
    finally:
        process.stop()
    if ended is None:
        raise StackError(f"{spec.name} did not finish within {timeout:g} s; see {spec.log}.", code="process_timeout")
    if ended.code != 0:
        raise StackError(crash_message(spec.name, ended, spec.log), code="process_crashed")
    return ended


def crash_message(name: str, ended: Exit, log: Path) -> str:
    """Name, reason and last log lines of a child that ended unexpectedly."""
    lines = "".join(f"\n    {line}" for line in ended.tail[-8:])
    return f"{name} ended: {ended.reason}. Its log: {log}. Last lines:{lines or ' none.'}"
