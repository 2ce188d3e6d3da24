"""Guard of one child of the embedded stack: a small process between the supervisor and the child.

It cleans up when the supervisor is killed with SIGKILL. The supervisor holds the other end of the guard's stdin; when
that closes, the guard stops the child. A parent-death signal of the supervisor would not do: it follows the thread that
forked. The guard has a single thread, so the child can use one for the guard. The guard is also the child subreaper:
processes that the child leaves behind are reparented to it and ended. It writes the child's output to a log file and
rotates it.

Runs as `python -I -S process_guard.py` and imports the standard library only. It reads one line of JSON from stdin (see
`ProcessGuard`), then single bytes: `s` means stop, `k` kill, and the end of the stream stop. It writes `{"pid": n}` to
stdout when the child was forked and `{"code": n|null, "signal": n|null, "tail": [...]}` when no process of it is left.
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import time
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TAIL_BYTES = 4096
TAIL_LINES = 15
READ_BYTES = 65536
KILL_AGAIN_SECONDS = 0.2
KILLED_SECONDS = 5.0
LONG = 1e9
EXIT_CANNOT_START = 127

_libc = ctypes.CDLL(None, use_errno=True)


class RotatingLog:
    """Log file that is rotated at a size: `x.log`, `x.log.1`, ... A full disk loses lines, never the child."""

    def __init__(self, path: str, max_bytes: int, backups: int) -> None:
        self.path, self.max_bytes, self.backups = path, max_bytes, backups
        self.tail = b""
        self.fd = self._open()

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def write(self, data: bytes) -> None:
        """Appends to the file and to the tail for the exit report."""
        self.tail = (self.tail + data)[-TAIL_BYTES:]
        with contextlib.suppress(OSError):
            if os.fstat(self.fd).st_size + len(data) > self.max_bytes:
                self._rotate()
            os.write(self.fd, data)

    def _rotate(self) -> None:
        for number in range(self.backups, 0, -1):
            older = self.path if number == 1 else f"{self.path}.{number - 1}"
            with contextlib.suppress(FileNotFoundError):
                os.replace(older, f"{self.path}.{number}")  # noqa: PTH105  pathlib would cost a third of the start
        fresh = self._open()
        os.close(self.fd)
        self.fd = fresh

    def last_lines(self) -> list[str]:
        """Last lines of output, for the crash message."""
        return self.tail.decode(errors="replace").splitlines()[-TAIL_LINES:]


class ProcessGuard:
    """Runs one child, and ends it with all processes that it started.

    Args:
        spec: `argv`, `env`, `cwd`, `uid` and `gid` (or null), `stdin` (text for the child), `keep_fds`, `log`,
            `log_bytes`, `log_backups`, `stop` (list of [signal, seconds to wait after it]), `abandoned_seconds`
            (maximum wait after each signal when the supervisor is gone), `orphan_seconds` (time in which left-over
            processes may end by themselves), `remove` (folders to remove at the end, and their parent if it is then
            empty).
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.log = RotatingLog(spec["log"], spec["log_bytes"], spec["log_backups"])
        self.guard_pid = os.getpid()
        self.status: int | None = None
        self.nothing_left = False
        self.steps: list[tuple[int, float]] | None = None
        self.deadline: float | None = None
        self.output, self.output_end = os.pipe()
        self.wake, self.wake_end = os.pipe()

    def run(self) -> None:
        """Forks the child, waits for its end and reports it."""
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._catch_signals()
        self.pid = os.fork()
        if self.pid == 0:
            self._become_child()
        os.close(self.output_end)
        self._close_childs_fds()
        _report({"pid": self.pid})
        self._watch()
        code = os.waitstatus_to_exitcode(self.status) if self.status is not None else EXIT_CANNOT_START
        for path in self.spec["remove"]:
            remove_folder(path)
        how = {"code": None, "signal": -code} if code < 0 else {"code": code, "signal": None}
        _report({**how, "tail": self.log.last_lines()})

    def _catch_signals(self) -> None:
        for end in (self.wake, self.wake_end, self.output):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self.begin_stop())

    def _close_childs_fds(self) -> None:
        for fd in self.spec["keep_fds"]:
            os.close(fd)

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            for fd, handler in ((0, self._on_command), (self.output, self._on_output), (self.wake, self._on_wake)):
                selector.register(fd, selectors.EVENT_READ, handler)
            self._reap()
            while not self.nothing_left:
                for key, _ in selector.select(self._seconds_left()):
                    if not key.data():
                        selector.unregister(key.fd)
                self._reap()
                self._escalate()
        self._on_output()

    def _on_command(self) -> bool:
        command = os.read(0, 1)
        if command == b"k":
            self.steps, self.deadline = [], 0.0
        else:
            self.begin_stop(longest=LONG if command else self.spec["abandoned_seconds"])
        return bool(command)

    def _on_output(self) -> bool:
        while True:
            try:
                data = os.read(self.output, READ_BYTES)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.log.write(data)

    def _on_wake(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, READ_BYTES)
        return True

    def begin_stop(self, longest: float = LONG) -> None:
        """Starts the graceful stop; the loop sends the signals when due. Safe to call twice.

        At the end only the child is killed, not yet its descendants: they may still clean up.
        """
        if self.steps is None:
            steps = [(int(number), min(longest, float(seconds))) for number, seconds in self.spec["stop"]]
            self.steps, self.deadline = [*steps, (signal.SIGKILL, KILLED_SECONDS)], 0.0

    def _seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.nothing_left = True
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status
                self.steps, self.deadline = [], time.monotonic() + self.spec["orphan_seconds"]

    def _escalate(self) -> None:
        if self.nothing_left or self.deadline is None or time.monotonic() < self.deadline:
            return
        if self.steps:
            number, seconds = self.steps.pop(0)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
            self.deadline = time.monotonic() + seconds
            return
        kill_descendants(os.getpid())
        self.deadline = time.monotonic() + KILL_AGAIN_SECONDS

    def _become_child(self) -> NoReturn:
        try:
            self._prepare_child()
            os.execve(self.spec["argv"][0], self.spec["argv"], self.spec["env"])  # noqa: S606  no shell is wanted
        except BaseException as error:  # noqa: BLE001  a forked copy of the guard must never return
            os.write(2, f"cannot start {self.spec['argv'][0]}: {error}\n".encode())
        os._exit(EXIT_CANNOT_START)

    def _prepare_child(self) -> None:
        os.setsid()
        os.dup2(self.output_end, 1)
        os.dup2(self.output_end, 2)
        os.dup2(self._stdin_of_child(), 0)
        open_fds = {0, 1, 2, *self.spec["keep_fds"]}
        for fd in {int(name) for name in os.listdir("/proc/self/fd")} - open_fds:  # noqa: PTH208
            with contextlib.suppress(OSError):
                os.close(fd)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.umask(0o077)
        os.chdir(self.spec["cwd"])
        self._drop_privileges()
        # Changing the user clears the request, so it must come after; the guard may have died before.
        _libc.prctl(PR_SET_PDEATHSIG, int(self.spec["stop"][0][0]))
        if os.getppid() != self.guard_pid:
            os._exit(EXIT_CANNOT_START)

    def _stdin_of_child(self) -> int:
        text = self.spec["stdin"].encode()
        if not text:
            return os.open(os.devnull, os.O_RDONLY)
        # A pipe holds 64 KiB, far more than a password or a broker's configuration, so the write cannot block.
        read_end, write_end = os.pipe()
        os.write(write_end, text)
        os.close(write_end)
        if self.spec["uid"] is not None:
            os.fchown(read_end, self.spec["uid"], self.spec["gid"])
        return read_end

    def _drop_privileges(self) -> None:
        if self.spec["uid"] is not None:
            os.setgroups([])
            os.setgid(self.spec["gid"])
            os.setuid(self.spec["uid"])


def kill_descendants(ancestor: int) -> None:
    """Sends SIGKILL to every descendant of `ancestor`."""
    parents = _parents()
    doomed = {ancestor}
    while children := {pid for pid, parent in parents.items() if parent in doomed and pid not in doomed}:
        doomed |= children
    for pid in doomed - {ancestor}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def remove_folder(path: str) -> None:
    """Removes a folder, and its parent if it is then empty. Errors are ignored."""
    for folder, folders, files in os.walk(path, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(f"{folder}/{name}")  # noqa: PTH108  pathlib would cost a third of the start
        for name in folders:
            with contextlib.suppress(OSError):
                os.rmdir(f"{folder}/{name}")  # noqa: PTH106
    for folder in (path, os.path.dirname(path)):  # noqa: PTH120
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106


def _parents() -> dict[int, int]:
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                # The command's name may contain spaces and brackets: count from its last bracket.
                parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
    return parents


def _report(message: dict[str, Any]) -> None:
    # There may be no reader left.
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps(message) + "\n").encode())


def main() -> None:
    """Reads the line of JSON, then guards. Further bytes on stdin are commands."""
    line = b""
    while b"\n" not in line:
        data = os.read(0, READ_BYTES)
        if not data:
            return
        line += data
    text, _, early_command = line.partition(b"\n")
    guard = ProcessGuard(json.loads(text))
    if early_command:
        guard.begin_stop()
    guard.run()


if __name__ == "__main__":
    main()
