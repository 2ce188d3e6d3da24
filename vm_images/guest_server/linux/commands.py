"""Runs programs of the desktop's user, each in its own process group that can be killed as a whole."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from guest_server.linux.spawner import Spawner
from guest_server.protocol.errors import GuestError, from_os_error
from guest_server.protocol.machine import CommandResult, CommandSpec

_READ = 65_536
# A program that has ended may have left a child that keeps its output open; then the output so far counts.
_AFTER_EXIT_SECONDS = 0.2
_SHELL = "/bin/sh"


class LinuxCommands:
    """Programs run with the session's environment."""

    def __init__(self, environment: Mapping[str, str], home: Path, spawner: Spawner) -> None:
        self._environment = dict(environment)
        self._home = home
        self._spawner = spawner
        self._started: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def start(self, spec: CommandSpec) -> int:
        """Starts a program and discards its output."""
        process = self._open(spec, subprocess.DEVNULL, subprocess.DEVNULL)
        threading.Thread(target=self._forget_ended, args=(process,), name="reaper", daemon=True).start()
        return process.pid

    def _forget_ended(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        # Its group is kept while another process in it lives, so that `stop_all` finds it.
        if not _is_group_alive(process.pid):
            with self._lock:
                self._started.discard(process)

    def alive(self, pid: int) -> bool:
        """False for a zombie."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        except (FileNotFoundError, ProcessLookupError):
            return False
        return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}

    def stop_all(self) -> None:
        """Kills the remaining processes of every group."""
        with self._lock:
            processes = list(self._started)
        for process in processes:
            _kill_group(process.pid)

    def _open(self, spec: CommandSpec, out: int, err: int) -> "subprocess.Popen[bytes]":
        argv = [_SHELL, "-c", spec.argv[0]] if spec.shell else list(spec.argv)
        try:
            with _input_file(spec.stdin) as stdin:
                process = self._spawner.run(
                    lambda: subprocess.Popen(
                        argv,
                        stdin=stdin,
                        stdout=out,
                        stderr=err,
                        env=self._environment,
                        cwd=spec.folder or self._home,
                        start_new_session=True,
                    )
                )
        except FileNotFoundError as error:
            missing = (
                f"the folder '{spec.folder}'" if error.filename == str(spec.folder) else f"the program '{argv[0]}'"
            )
            raise GuestError("not_found", f"{missing} does not exist on this desktop") from None
        except OSError as error:
            raise from_os_error(error) from None
        with self._lock:
            self._started.add(process)
        return process

    def run(self, spec: CommandSpec, *, timeout: float, limit: int) -> CommandResult:
        """Runs a program to its end or to its deadline."""
        process = self._open(spec, subprocess.PIPE, subprocess.PIPE)
        output = _Output(process, limit)
        try:
            ended = output.read_until_exit(time.monotonic() + timeout)
            if not ended:
                _kill_group(process.pid)
            self._forget_ended(process)
        finally:
            output.close()
        texts = output.texts()
        if not ended:
            message = f"the command did not end within {timeout:g} s and was killed"
            raise GuestError("timeout", message, output=texts[0], stderr=texts[1])
        return CommandResult(process.returncode, *texts, truncated=output.truncated)


class _Output:
    """Collects both streams of a process; output beyond the limit is discarded."""

    def __init__(self, process: "subprocess.Popen[bytes]", limit: int) -> None:
        self._limit = limit
        self._exit = os.pidfd_open(process.pid)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._exit, selectors.EVENT_READ)
        self._output: dict[int, bytearray] = {}
        self._streams: list[IO[bytes]] = [stream for stream in (process.stdout, process.stderr) if stream]
        self.truncated = False
        for stream in self._streams:
            self._output[stream.fileno()] = bytearray()
            self._selector.register(stream.fileno(), selectors.EVENT_READ)

    def read_until_exit(self, deadline: float) -> bool:
        """Reads until the process has ended and closed its output; False at the deadline."""
        exited = False
        while len(self._selector.get_map()):
            remaining = deadline - time.monotonic()
            ready = self._selector.select(max(0.0, remaining))
            if not ready:
                return exited
            for key, _ in ready:
                if key.fd == self._exit:
                    exited = True
                    deadline = min(deadline, time.monotonic() + _AFTER_EXIT_SECONDS)
                    self._selector.unregister(self._exit)
                else:
                    self._read(key.fd)
            if remaining <= 0:
                return exited
        return exited

    def _read(self, fd: int) -> None:
        data = os.read(fd, _READ)
        if not data:
            self._selector.unregister(fd)
            return
        room = self._limit - len(self._output[fd])
        self._output[fd] += data[: max(0, room)]
        self.truncated = self.truncated or len(data) > room

    def texts(self) -> tuple[str, str]:
        """Both streams as text."""
        first, second = (bytes(data).decode("utf-8", "replace") for data in self._output.values())
        return first, second

    def close(self) -> None:
        self._selector.close()
        os.close(self._exit)
        for stream in self._streams:
            stream.close()


def _input_file(data: bytes) -> contextlib.AbstractContextManager[IO[bytes] | int]:
    """A file for stdin, which unlike a pipe need not be fed."""
    if not data:
        return contextlib.nullcontext(subprocess.DEVNULL)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it.
    file.write(data)
    file.seek(0)
    return file


def _is_group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
