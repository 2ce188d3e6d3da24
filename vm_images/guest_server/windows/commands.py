"""Runs programs of the desktop's user, each in a job object that can be ended as a whole."""

import ctypes
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from ctypes import wintypes
from pathlib import Path
from typing import IO, Any

from guest_server.protocol.errors import GuestError, from_os_error
from guest_server.protocol.machine import CommandResult, CommandSpec
from guest_server.windows.api import failure, kernel32, ntdll
from guest_server.windows.handles import process_handle
from guest_server.windows.programs import Programs

_READ = 65_536
# A program that has ended may have left a child that keeps its output open; then the output so far counts.
_AFTER_EXIT_SECONDS = 0.2
_SUSPENDED, _NEW_CONSOLE, _NO_WINDOW = 0x00000004, 0x00000010, 0x08000000
_SYNCHRONIZE, _WAITING = 0x00100000, 0x102
_ACCOUNTING = 1
_KILLED = 1


class _Accounting(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_longlong * 4),
        ("faults", wintypes.DWORD),
        ("total", wintypes.DWORD),
        ("active", wintypes.DWORD),
        ("ended", wintypes.DWORD),
    )


class _Job:
    """A program and all its descendants."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._handle = kernel32.CreateJobObjectW(None, None)
        # Windows' own members of Popen do not exist on other systems.
        self._started: Any = vars(process)["_handle"]
        self._joined = bool(self._handle and kernel32.AssignProcessToJobObject(self._handle, int(self._started)))
        # It is started suspended, so that nothing of it can run outside the job.
        if ntdll.NtResumeProcess(int(self._started)) < 0:
            problem = failure("the program was started and cannot run")
            process.kill()
            raise problem

    def kill(self) -> None:
        """Ends all processes; without a job, the program alone."""
        if self._joined:
            kernel32.TerminateJobObject(self._handle, _KILLED)
        else:
            self.process.kill()

    def active(self) -> bool:
        """True while a process of it runs."""
        if not self._joined:
            return self.process.poll() is None
        accounting = _Accounting()
        kernel32.QueryInformationJobObject(
            self._handle, _ACCOUNTING, ctypes.byref(accounting), ctypes.sizeof(accounting), None
        )
        return bool(accounting.active)

    def close(self) -> None:
        """Closes the handle; running processes continue."""
        if self._handle:
            kernel32.CloseHandle(self._handle)
            self._handle, self._joined = None, False


class WindowsCommands:
    """Programs run with the session's environment."""

    def __init__(self, environment: Mapping[str, str], home: Path, programs: Programs) -> None:
        self._environment = dict(environment)
        self._home = home
        self._programs = programs
        self._jobs: set[_Job] = set()
        self._lock = threading.Lock()

    def start(self, spec: CommandSpec) -> int:
        """Starts an interactive program: a console program gets a window."""
        flags, output = (_NO_WINDOW, subprocess.DEVNULL) if spec.shell else (_NEW_CONSOLE, None)
        job = self._open(spec, flags, output)
        threading.Thread(target=self._forget_ended, args=(job,), name="reaper", daemon=True).start()
        return job.process.pid

    def _forget_ended(self, job: _Job) -> None:
        job.process.wait()
        # The job is kept while another process in it lives, so that `stop_all` finds it.
        if not job.active():
            with self._lock:
                self._jobs.discard(job)
            job.close()

    def alive(self, pid: int) -> bool:
        """Asks Windows; a process that has ended may still have a number."""
        with process_handle(pid, _SYNCHRONIZE) as process:
            return process is not None and kernel32.WaitForSingleObject(process, 0) == _WAITING

    def stop_all(self) -> None:
        """Ends the remaining processes of every job."""
        with self._lock:
            jobs = list(self._jobs)
        for job in jobs:
            job.kill()

    def _open(self, spec: CommandSpec, flags: int, output: int | None) -> _Job:
        """Args: flags: creation flags; output: for both streams; None: those of its own console."""
        stdin = None if output is None else _input_file(spec.stdin)
        try:
            job = _Job(self._create_process(spec, flags, stdin, output))
        finally:
            if stdin is not None:
                stdin.close()
        with self._lock:
            self._jobs.add(job)
        return job

    def _create_process(
        self, spec: CommandSpec, flags: int, stdin: IO[bytes] | None, output: int | None
    ) -> "subprocess.Popen[bytes]":
        folder = spec.folder or self._home
        if not folder.is_dir():
            raise GuestError("not_found", f"the folder '{folder}' does not exist on this desktop")
        command = self._programs.line(spec.argv[0]) if spec.shell else self._programs.command(spec.argv)
        try:
            return subprocess.Popen(
                command,
                stdin=stdin,
                stdout=output,
                stderr=output,
                env=self._environment,
                cwd=folder,
                creationflags=flags | _SUSPENDED,
            )
        except FileNotFoundError:
            message = f"the program '{spec.argv[0]}' does not exist on this desktop"
            raise GuestError("not_found", message) from None
        except OSError as error:
            raise from_os_error(error) from None

    def run(self, spec: CommandSpec, *, timeout: float, limit: int) -> CommandResult:
        """Runs a program to its end or to its deadline."""
        job = self._open(spec, _NO_WINDOW, subprocess.PIPE)
        streams = [_Stream(stream, limit) for stream in (job.process.stdout, job.process.stderr) if stream]
        ended = _wait(job.process, timeout)
        if not ended:
            job.kill()
            _wait(job.process, _AFTER_EXIT_SECONDS)
        output, error = (stream.text(_AFTER_EXIT_SECONDS) for stream in streams)
        self._forget_ended(job)
        if not ended:
            message = f"the command did not end within {timeout:g} s and was killed"
            raise GuestError("timeout", message, output=output, stderr=error)
        truncated = any(stream.truncated for stream in streams)
        return CommandResult(_exit_code(job.process), output, error, truncated=truncated)


class _Stream:
    """Collects a program's output; output beyond the limit is discarded."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._output = bytearray()
        self._lock = threading.Lock()
        self.truncated = False
        self._thread = threading.Thread(target=self._read, name="output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := os.read(self._stream.fileno(), _READ):
            with self._lock:
                room = self._limit - len(self._output)
                self._output += data[: max(0, room)]
                self.truncated = self.truncated or len(data) > room
        self._stream.close()

    def text(self, seconds: float) -> str:
        """The output, after waiting a moment for its end; a child may keep the stream open."""
        self._thread.join(seconds)
        with self._lock:
            return decode_output(bytes(self._output))


def decode_output(data: bytes) -> str:
    """A program's output as text: UTF-8, UTF-16 with its mark, or the console's code page; line ends as on Linux."""
    if data.startswith(b"\xff\xfe"):
        text = data[2:].decode("utf-16-le", "replace")
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("oem" if os.name == "nt" else "cp437", "replace")
    return text.replace("\r\n", "\n")


def _exit_code(process: "subprocess.Popen[bytes]") -> int:
    """Windows' codes are unsigned 32-bit numbers; a crashed program has a large one."""
    code = process.returncode
    return code if code < 2**31 else code - 2**32


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _input_file(data: bytes) -> IO[bytes]:
    """A file for stdin, which unlike a pipe need not be fed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it.
    file.write(data)
    file.seek(0)
    return file
