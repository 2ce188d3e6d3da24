"""The machines of one slot: starts them cold or as clones, freezes one into a template, takes pictures, ends them."""

import base64
import contextlib
import os
import shutil
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from worker.local.uids import UserNumbers
from worker.qemu import template
from worker.qemu.arguments import arguments
from worker.qemu.machine import MachineFiles, MachineSpec
from worker.qemu.overlay import empty_overlay
from worker.qemu.process import Qemu, QemuFailed

COLD, CLONE, MASTER = "cold", "clone", "master"
PICTURE_SECONDS = 3.0
_LOAD_SECONDS = 60.0
_FREEZE_SECONDS = 300.0
_MAX_PICTURE = 32 * 2**20
_BLOCK = 512
"""Block size of `stat`, independent of the file system."""


@dataclass(frozen=True)
class StartRequest:
    """Request to start a machine.

    Attributes:
        kind: `cold`, `clone` (of the template at `place`) or `master` (of a new template there).
        machine: the machine.
        secret: first secret of its guest's server; a clone has its template's.
        place: folder of the template.
    """

    kind: str
    machine: MachineSpec
    secret: str = ""
    place: Path = Path()


@dataclass
class RunningVm:
    """A running machine.

    Attributes:
        folder: its working directory.
        user: user id that it runs as; None = ours.
        port: of the host, forwarded to the guest API.
        seconds: by phase.
        reported: whether its end was reported.
        overlay: open file with its disk writes.
    """

    qemu: Qemu
    folder: Path
    user: int | None
    overlay: int = -1
    port: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    reported: bool = False


class _OpenFiles:
    """Files as descriptors: QEMU reopens them as `/proc/self/fd/N`, whatever folders they are in.

    So it needs no access to our folders, and unlinked files can be passed, too.
    """

    def __init__(self, user: int | None) -> None:
        self._user = user
        self.fds: list[int] = []

    def path(self, file: str | Path) -> str:
        """Path of a file for QEMU; empty for none."""
        return self._add_fd(os.open(file, os.O_RDONLY)) if str(file) else ""

    def nameless(self, folder: Path, content: bytes) -> str:
        """A new unlinked file."""
        file = folder / f".{os.getpid()}-{time.monotonic_ns()}"
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        name = self._add_fd(fd)
        file.unlink()
        self._set_owner(fd)
        _write(fd, content)
        return name

    def named(self, file: Path, content: bytes) -> str:
        """A new file with a name."""
        file.write_bytes(content)
        return self.writable(file)

    def writable(self, file: Path) -> str:
        """An existing file that QEMU may write."""
        fd = os.open(file, os.O_RDWR)
        name = self._add_fd(fd)
        self._set_owner(fd)
        return name

    def _set_owner(self, fd: int) -> None:
        if self._user is not None:
            os.fchown(fd, self._user, self._user)

    def _add_fd(self, fd: int) -> str:
        self.fds.append(fd)
        return f"/proc/self/fd/{fd}"

    def close(self) -> None:
        while self.fds:
            os.close(self.fds.pop())


class VmSlot:
    """Creates and runs machines. Raises QemuFailed or OSError on failure; nothing of the machine is left then."""

    def __init__(self, folder: Path, overlays: Path, *, forward: str = "127.0.0.1", most: int = 0) -> None:
        """Does not start any yet.

        Args:
            folder: private, for sockets; its path should be short.
            overlays: folder with room for machines' writes.
            forward: host address of guest APIs.
            most: maximum bytes that one machine may write to its disk; 0 = no limit.
        """
        self._folder, self._overlays, self._forward, self._most = folder, overlays, forward, most
        self._numbers = UserNumbers()
        self._serial = 0
        self.machines: dict[str, RunningVm] = {}

    def start(self, request: StartRequest) -> str:
        """Starts a machine; returns its name when it runs. Its guest may still be booting."""
        user = self._numbers.take() if os.getuid() == 0 else None
        self._serial += 1
        folder = self._folder / f"m{self._serial}"
        opened = _OpenFiles(user)
        try:
            folder.mkdir(mode=0o700)
            if user is not None:
                os.chown(folder, user, user)
            self.machines[folder.name] = self._start_vm(request, folder, opened, user)
        except BaseException:
            self._forget(folder, user)
            raise
        finally:
            opened.close()
        return folder.name

    def _start_vm(self, request: StartRequest, folder: Path, opened: _OpenFiles, user: int | None) -> RunningVm:
        start = time.monotonic()
        files = self._files(request, opened)
        monitor = socket.socketpair()
        try:
            words = arguments(
                request.machine,
                files,
                monitor=monitor[1].fileno(),
                secret=request.secret,
                forward=self._forward,
                shared=request.kind == MASTER,
                incoming=request.kind == CLONE,
            )
        except BaseException:
            for end in monitor:
                end.close()
            raise
        running = RunningVm(Qemu(words, folder, tuple(opened.fds), monitor, user), folder, user)
        try:
            running.overlay = os.dup(int(Path(files.overlay).name))
            running.seconds["qemu"] = time.monotonic() - start
            running.qemu.restarts = request.kind != CLONE
            if request.kind == CLONE:
                _load(running, request.place)
            running.port = running.qemu.port()
        except BaseException:
            _close(running)
            running.qemu.end()
            raise
        return running

    def look(self, name: str) -> str:
        """Why a machine must be given up; empty while it is healthy.

        One that has written too much is stopped, without an error for its guest: the guest's reaction might be scored.
        """
        running = self.machines[name]
        if self._most and not running.qemu.verdict and (written := _overlay_size(running)) > self._most:
            running.qemu.verdict = (
                f"the machine was stopped: it wrote {written // 2**20} MiB to its disk, the limit is "
                f"{self._most // 2**20} MiB"
            )
            running.qemu.cause = "disk_limit"
            with contextlib.suppress(QemuFailed):
                running.qemu.ask("stop")
        return running.qemu.look()

    def _files(self, request: StartRequest, opened: _OpenFiles) -> MachineFiles:
        machine, folder = request.machine, request.place
        blank = empty_overlay(machine.disk_size)
        memory = below = settings = ""
        disk = self._disk(request, opened)
        if request.kind == MASTER:
            memory = opened.writable(template.blank_memory(folder, machine.memory_mib * 2**20))
            overlay = opened.named(folder / template.DISK, blank)
        else:
            overlay = opened.nameless(self._overlays, blank)
        if request.kind == CLONE:
            memory, below = opened.path(folder / template.MEMORY), opened.path(folder / template.DISK)
        if machine.firmware_vars:
            settings = opened.nameless(self._overlays, Path(machine.firmware_vars).read_bytes())
        return MachineFiles(
            disk=disk,
            overlay=overlay,
            kernel=opened.path(machine.kernel),
            initrd=opened.path(machine.initrd),
            firmware_code=opened.path(machine.firmware_code),
            firmware_vars=settings,
            below=below,
            memory=memory,
        )

    @staticmethod
    def _disk(request: StartRequest, opened: _OpenFiles) -> str:
        """The golden disk. A template's memory and writes are valid only for the disk that it was created on."""
        name = opened.path(request.machine.disk)
        if request.kind == MASTER:
            template.note_disk(request.place, opened.fds[-1])
        elif request.kind == CLONE and not template.goes_with(request.place, opened.fds[-1]):
            template.give_up(request.place)
            raise QemuFailed(
                "the image's disk changed after the template was created: the template will be created again",
                code="disk_changed",
            )
        return name

    def freeze(self, name: str, folder: Path) -> list[Path]:
        """Makes the rest of a template from a master, which ends.

        Returns:
            Returns its files, which still have to be flushed to disk.

        Raises:
            QemuFailed: its state could not be saved, for example because a device cannot be migrated.
        """
        running = self.machines[name]
        running.qemu.ask("stop")
        _ignore_shared(running.qemu)
        state = os.open(folder / template.STATE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            running.qemu.ask("getfd", {"fdname": "state"}, fds=[state])
            running.qemu.ask("migrate", {"uri": "fd:state"})
            _await_migration(running.qemu, _FREEZE_SECONDS)
        finally:
            os.close(state)
        try:
            running.qemu.quit()
        finally:
            self.end(name)
        return template.settle(folder)

    def picture(self, name: str) -> str:
        """The machine's screen as base64 PNG, from QEMU; also works with a frozen guest.

        Raises:
            QemuFailed: QEMU itself does not respond.
        """
        qemu = self.machines[name].qemu
        memory = os.memfd_create("picture")
        try:
            _take_picture(qemu, memory)
            size = os.fstat(memory).st_size
            if not 0 < size <= _MAX_PICTURE:
                raise QemuFailed(f"a picture of {size} bytes", code="picture_too_large")
            return base64.b64encode(os.pread(memory, size, 0)).decode()
        finally:
            os.close(memory)

    def private_bytes(self, name: str) -> int:
        """Memory that belongs to this machine alone, and would be freed with it."""
        with contextlib.suppress(OSError):
            return dirty_bytes(Path(f"/proc/{self.machines[name].qemu.pid}/smaps_rollup").read_text())
        return 0

    def end(self, name: str) -> None:
        """Ends a machine; nothing of it is left then. Safe to call twice.

        Raises:
            QemuFailed: It does not end.
        """
        running = self.machines.get(name)
        if running is not None:
            # In any case: nobody waits for its news any more, and its descriptors may be closed.
            running.reported = True
            _close(running)
            running.qemu.end()
            del self.machines[name]
            self._forget(running.folder, running.user)

    def _forget(self, folder: Path, user: int | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if user is not None:
            self._numbers.give_back(user)

    def close(self) -> None:
        """Ends all machines. Raises QemuFailed for the first that does not end."""
        for name in list(self.machines):
            self.end(name)


def _write(fd: int, content: bytes) -> None:
    """Writes everything, or raises OSError: `write` itself may write less on a full disk."""
    left = memoryview(content)
    while left:
        left = left[os.write(fd, left) :]


def _overlay_size(running: RunningVm) -> int:
    """Bytes of a machine's overlay on the host's disk."""
    return os.fstat(running.overlay).st_blocks * _BLOCK if running.overlay >= 0 else 0


def _close(running: RunningVm) -> None:
    if running.overlay >= 0:
        os.close(running.overlay)
        running.overlay = -1


def dirty_bytes(maps: str) -> int:
    """Memory that a process has written, according to the kernel. Everything else is file-backed and counts as free."""
    lines = (line.split() for line in maps.splitlines())
    return sum(int(words[1]) * 1024 for words in lines if words[0] == "Private_Dirty:")


def _take_picture(qemu: Qemu, memory: int) -> None:
    """Lets QEMU write a PNG into an open file, which is write-only because QEMU opens it so."""
    fd = os.open(f"/proc/self/fd/{memory}", os.O_WRONLY)
    try:
        qemu.ask("add-fd", {"fdset-id": 1}, fds=[fd], seconds=PICTURE_SECONDS)
    finally:
        os.close(fd)
    try:
        qemu.ask("screendump", {"filename": "/dev/fdset/1", "format": "png"}, seconds=PICTURE_SECONDS)
    finally:
        qemu.ask("remove-fd", {"fdset-id": 1}, seconds=PICTURE_SECONDS)


def _load(running: RunningVm, folder: Path) -> None:
    """Loads a template's state into a clone and starts it."""
    start = time.monotonic()
    qemu = running.qemu
    _ignore_shared(qemu)
    with (folder / template.STATE).open("rb") as state:
        qemu.ask("getfd", {"fdname": "state"}, fds=[state.fileno()])
    qemu.ask("migrate-incoming", {"uri": "fd:state"})
    _await_migration(qemu, _LOAD_SECONDS)
    qemu.ask("cont")
    running.seconds["state"] = time.monotonic() - start


def _ignore_shared(qemu: Qemu) -> None:
    """Excludes file-backed memory from saving and loading, and enables migration events."""
    names = ("x-ignore-shared", "events")
    qemu.ask("migrate-set-capabilities", {"capabilities": [{"capability": name, "state": True} for name in names]})


def _await_migration(qemu: Qemu, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        event = qemu.wait({"MIGRATION", "SHUTDOWN"}, max(0.0, deadline - time.monotonic()))
        if event.name == "SHUTDOWN" or event.data.get("status") == "failed":
            raise QemuFailed(
                f"the machine's state could not be migrated. {qemu.last_words()}".strip(), code="not_migrated"
            )
        if event.data.get("status") == "completed":
            return
