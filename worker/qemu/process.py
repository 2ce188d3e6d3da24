"""One running QEMU: started so that it dies with whoever started it, and gone when `end` returns."""

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

from worker.local import kernel
from worker.qemu.qmp import QUICK, Qmp, QmpError, QmpEvent, QmpLost

_LAST_WORDS = 2000
_END_SECONDS = 10.0
_START_SECONDS = 30.0
_REAP_SECONDS = 1.0
"""From the end of its monitor's connection to the end of its process."""
_FORWARD = re.compile(r"TCP\[HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s")
_KVM_DEVICE = Path("/dev/kvm")


class QemuFailed(Exception):
    """QEMU could not be started, or not brought to do what it should."""


class Qemu:
    """A QEMU process and the conversation with it.

    Whoever makes it must have one thread only, and must live on: the kernel ends QEMU together with that thread.

    Attributes:
        verdict: why it is to be given up; empty while it is well.
        restarts: its guest may restart. A clone's must not: it would come back without the secret that it was told.
        words_fd, pid_fd: to wait for what it says, and for its end.
    """

    def __init__(
        self,
        words: list[str],
        folder: Path,
        fds: tuple[int, ...],
        monitor: tuple[socket.socket, socket.socket],
        user: int | None,
    ) -> None:
        """Starts it and waits until it takes commands.

        Args:
            words: the command line.
            folder: its working directory; belongs to `user`.
            fds: descriptors that the command line names.
            monitor: our end of its monitor's socket, and its own, which the command line names.
            user: number to run as; None = ours.

        Raises:
            QemuFailed: it did not start; nothing of it is left.
        """
        self.verdict, self.restarts = "", True
        ours, theirs = monitor
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
                pass_fds=(*fds, theirs.fileno()),
                start_new_session=True,
                # After the change of user, which would make the kernel forget it.
                preexec_fn=partial(bind_to_parent, os.getpid()),  # noqa: PLW1509 - one thread: see above.
                user=user,
                group=user,
                extra_groups=None if user is None else _groups(),
            )
        except (OSError, subprocess.SubprocessError) as error:
            os.close(reader)
            ours.close()
            raise QemuFailed(f"{words[0]} cannot be started: {error}") from error
        finally:
            # Only if nobody else holds them do we see its end.
            os.close(writer)
            theirs.close()
        self.pid_fd = os.pidfd_open(self._process.pid)
        try:
            self.qmp = Qmp(ours, seconds=_START_SECONDS)
        except QmpLost as error:
            ours.close()
            self._kill()
            raise QemuFailed(f"QEMU did not start: {self.last_words() or error}") from error

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self._process.pid)

    def port(self) -> int:
        """The host's port that leads to the guest API.

        Raises:
            QemuFailed: QEMU does not say.
        """
        reply = self.ask("human-monitor-command", {"command-line": "info usernet"})
        match = _FORWARD.search(reply if isinstance(reply, str) else "")
        if match is None:
            raise QemuFailed("QEMU does not say which port leads to its guest")
        return int(match[1])

    def ask(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        seconds: float = QUICK,
        fds: Sequence[int] = (),
    ) -> Any:
        """See `Qmp.ask`. Raises QemuFailed."""
        try:
            return self.qmp.ask(command, arguments, seconds=seconds, fds=fds)
        except (QmpError, QmpLost) as error:
            raise QemuFailed(f"{error} {self.last_words()}".strip()) from error

    def wait(self, names: Collection[str], seconds: float) -> QmpEvent:
        """See `Qmp.wait`. Raises QemuFailed."""
        try:
            return self.qmp.wait(names, seconds)
        except QmpLost as error:
            raise QemuFailed(f"{error} {self.last_words()}".strip()) from error

    def look(self) -> str:
        """Notes what has become of it since; why it is to be given up, empty while it is well."""
        self.read_words()
        # Asked before its events are read: one that ends in between would have its last ones unread, and is seen later.
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
            self.verdict = f"QEMU ended with {code}. {self.last_words()}".strip()
        return self.verdict

    def read_words(self) -> None:
        """Reads what it says on standard error, so that it never waits for us; keeps the end of it."""
        with contextlib.suppress(BlockingIOError):
            while self.words_fd >= 0 and (piece := os.read(self.words_fd, 65536)):
                self._last_words = (self._last_words + piece)[-_LAST_WORDS:]

    def last_words(self) -> str:
        """The last lines of its messages."""
        self.read_words()
        lines = self._last_words.decode(errors="replace").splitlines()
        return "; ".join(line.strip() for line in lines[-3:])

    def end(self) -> None:
        """Ends it at once, stopped or not. Safe to call twice.

        Raises:
            QemuFailed: the kernel does not let it go.
        """
        if self.pid_fd >= 0:
            self.qmp.close()
            self._kill()

    def _kill(self) -> None:
        try:
            self._process.kill()
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise QemuFailed(f"QEMU (process {self.pid}) does not end") from None
        os.close(self.pid_fd)
        self.pid_fd = -1
        self.read_words()
        os.close(self.words_fd)
        self.words_fd = -1

    def quit(self) -> None:
        """Lets it end in good order: what is to stay is written.

        Raises:
            QemuFailed: it does not.
        """
        deadline = time.monotonic() + _START_SECONDS
        with contextlib.suppress(QmpLost):
            self.qmp.ask("quit")
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise QemuFailed("QEMU does not end in good order") from None
        finally:
            self.end()


def bind_to_parent(parent: int) -> None:
    """From here on this process dies with its parent; if that has died already, at once."""
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def unusable_after(event: QmpEvent, *, restarts: bool) -> str:
    """Why a machine to which this happened cannot be used any more; empty if it can. `restarts`: it may begin again."""
    if event.name == "RESET" and event.data.get("guest") and not restarts:
        return "the guest restarted its machine"
    if event.name == "SHUTDOWN":
        reason = event.data.get("reason", "unknown reason")
        return "the guest shut its machine down" if event.data.get("guest") else f"QEMU was ended ({reason})"
    if event.name == "GUEST_PANICKED":
        return "the guest's system crashed"
    if event.name == "BLOCK_IO_ERROR" and event.data.get("action") == "stop":
        return "the machine was stopped: the host has no room for what it writes to its disk"
    return "the machine cannot go on: an internal error of QEMU" if event.name == "INTERNAL_ERROR" else ""


def _groups() -> list[int]:
    """The group that may use KVM, if there is one that may."""
    try:
        state = _KVM_DEVICE.stat()
    except OSError:
        return []
    may = stat.S_IRGRP | stat.S_IWGRP
    return [state.st_gid] if state.st_mode & may == may and state.st_gid else []
