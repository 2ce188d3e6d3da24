"""One running QEMU, which dies with the process that started it, and is gone when `end` returns."""

import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from worker.base.errors import CodedError
from worker.local import kernel
from worker.qemu.qmp import QUICK, Qmp, QmpError, QmpEvent, QmpLost

_LAST_WORDS = 2000
_END_SECONDS = 10.0
_START_SECONDS = 30.0
_REAP_SECONDS = 1.0
"""Seconds from the end of its monitor's connection to the end of its process."""
_FORWARD = re.compile(r"TCP\[HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s")
_KVM_DEVICE = Path("/dev/kvm")

RESTARTED, SHUT_DOWN = "the guest restarted its machine", "the guest shut its machine down"
CRASHED, HOST_FULL = "the guest's system crashed", "the machine was stopped: the host has no disk space for its writes"
CAUSES = {RESTARTED: "shut_down", SHUT_DOWN: "shut_down", CRASHED: "system_crashed", HOST_FULL: "host_disk"}
"""Values of backend.domain.machines.desktop_end.EndCause."""


class QemuFailed(CodedError):
    """QEMU could not be started, or failed to do what was requested."""


class Qemu:
    """A QEMU process and its monitor connection.

    The creating process must be single-threaded and stay alive: the kernel kills QEMU together with that thread.

    Attributes:
        verdict: why it must be given up; empty while it is healthy.
        restarts: whether its guest may restart. A clone's must not: it would lose the secret that it was told.
        words_fd, pid_fd: readable when it has output, and when it has ended.
    """

    def __init__(
        self,
        words: list[str],
        folder: Path,
        fds: tuple[int, ...],
        monitor: tuple[socket.socket, socket.socket],
        user: int | None,
    ) -> None:
        """Starts it and waits until it accepts commands.

        Args:
            words: the command line.
            folder: its working directory; belongs to `user`.
            fds: descriptors used in the command line.
            monitor: our end of its monitor's socket, and its own, which is used in the command line.
            user: user id to run as; None = ours.

        Raises:
            QemuFailed: it did not start; nothing of it is left.
        """
        self.verdict, self.restarts = "", True
        self.cause = ""
        own_end, child_end = monitor
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self.words_fd = reader
        self._last_words = b""
        try:
            self._process = subprocess.Popen(
                words,
                cwd=folder,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=writer,
                pass_fds=(*fds, child_end.fileno()),
                start_new_session=True,
                # After changing the user, which resets the parent-death signal.
                preexec_fn=partial(bind_to_parent, os.getpid()),  # noqa: PLW1509 - one thread: see above.
                user=user,
                group=user,
                extra_groups=None if user is None else _groups(),
            )
        except (OSError, subprocess.SubprocessError) as error:
            os.close(reader)
            own_end.close()
            raise QemuFailed(f"{words[0]} cannot be started: {error}", code="program_not_started") from error
        finally:
            # Its end is visible only if nobody else holds them.
            os.close(writer)
            child_end.close()
        self.pid_fd = os.pidfd_open(self._process.pid)
        try:
            self.qmp = Qmp(own_end, seconds=_START_SECONDS)
        except QmpLost as error:
            own_end.close()
            self._kill()
            raise QemuFailed(f"QEMU did not start: {self.last_words() or error}", code="qemu_not_started") from error

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    def port(self) -> int:
        """The host's port that is forwarded to the guest API.

        Raises:
            QemuFailed: QEMU does not report it.
        """
        reply = self.ask("human-monitor-command", {"command-line": "info usernet"})
        match = _FORWARD.search(reply if isinstance(reply, str) else "")
        if match is None:
            raise QemuFailed("QEMU does not report the port of its guest", code="port_unknown")
        return int(match[1])

    def ask(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        seconds: float = QUICK,
        fds: Sequence[int] = (),
    ) -> Any:
        try:
            return self.qmp.ask(command, arguments, seconds=seconds, fds=fds)
        except (QmpError, QmpLost) as error:
            raise QemuFailed(f"{error} {self.last_words()}".strip(), code=error.code) from error

    def wait(self, names: Collection[str], seconds: float) -> QmpEvent:
        try:
            return self.qmp.wait(names, seconds)
        except QmpLost as error:
            raise QemuFailed(f"{error} {self.last_words()}".strip(), code=error.code) from error

    def look(self) -> str:
        """Records what has happened to it; returns why it must be given up, empty while it is healthy."""
        self.read_words()
        # Checked before its events are read: the last events of one that ends in between are read later.
        code = self._process.poll()
        if not self.verdict:
            try:
                verdicts = (unusable_after(event, restarts=self.restarts) for event in self.qmp.hear())
                self.verdict = next(filter(None, verdicts), "")
            except QmpLost as error:
                self.verdict = str(error)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = self._process.wait(_REAP_SECONDS)
        if code is not None and self.verdict in {"", "QEMU is gone"}:
            self.verdict = f"QEMU exited with {code}. {self.last_words()}".strip()
        if self.verdict and not self.cause:
            self.cause = CAUSES.get(self.verdict, "emulator_ended")
        return self.verdict

    def read_words(self) -> None:
        """Reads its stderr, so that it never blocks on us; keeps the end."""
        with contextlib.suppress(BlockingIOError):
            while self.words_fd >= 0 and (piece := os.read(self.words_fd, 65536)):
                self._last_words = (self._last_words + piece)[-_LAST_WORDS:]

    def last_words(self) -> str:
        """Last lines of its stderr."""
        self.read_words()
        lines = self._last_words.decode(errors="replace").splitlines()
        return "; ".join(line.strip() for line in lines[-3:])

    def end(self) -> None:
        """Kills it, stopped or not. Safe to call twice.

        Raises:
            QemuFailed: The kernel does not end it.
        """
        if self.pid_fd >= 0:
            self.qmp.close()
            self._kill()

    def _kill(self) -> None:
        try:
            self._process.kill()
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise QemuFailed(f"QEMU (process {self.pid}) does not end", code="qemu_not_ended") from None
        os.close(self.pid_fd)
        self.pid_fd = -1
        self.read_words()
        os.close(self.words_fd)
        self.words_fd = -1

    def quit(self) -> None:
        """Lets it exit gracefully, so that its files are written.

        Raises:
            QemuFailed: It does not.
        """
        deadline = time.monotonic() + _START_SECONDS
        with contextlib.suppress(QmpLost):
            self.qmp.ask("quit")
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise QemuFailed("QEMU does not exit gracefully", code="quit_timeout") from None
        finally:
            self.end()


def bind_to_parent(parent: int) -> None:
    """Makes this process die with its parent; at once if that has died already."""
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def unusable_after(event: QmpEvent, *, restarts: bool) -> str:
    """Why a machine with this event is unusable; empty if it is usable. `restarts`: its guest may restart."""
    if event.name == "RESET" and event.data.get("guest") and not restarts:
        return RESTARTED
    if event.name == "SHUTDOWN":
        reason = event.data.get("reason", "unknown reason")
        return SHUT_DOWN if event.data.get("guest") else f"QEMU was terminated ({reason})"
    if event.name == "GUEST_PANICKED":
        return CRASHED
    if event.name == "BLOCK_IO_ERROR" and event.data.get("action") == "stop":
        return HOST_FULL
    return "the machine cannot continue: internal error of QEMU" if event.name == "INTERNAL_ERROR" else ""


def _groups() -> list[int]:
    """The group with access to KVM, if any."""
    try:
        state = _KVM_DEVICE.stat()
    except OSError:
        return []
    may = stat.S_IRGRP | stat.S_IWGRP
    return [state.st_gid] if state.st_mode & may == may and state.st_gid else []
