"""Build machine for Windows: like the final machine, with installation media and a serial port."""

import json
import os
import secrets
import selectors
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.domain.errors import Unavailable
from worker.activity import ScreenWatch, Tracker
from worker.images.windows.reports import Reports, StageReport
from worker.qemu.arguments import arguments
from worker.qemu.machine import MachineFiles, MachineSpec
from worker.qemu.overlay import empty_overlay
from worker.qemu.process import Qemu, QemuFailed
from worker.qemu.qmp import QmpLost

Tell = Callable[[str], None]
_KEY_EVERY = 0.5
_KEYS_FOR = 120.0
_LOADING = 32 * 2**20
"""Bytes of the medium that have been read once its boot loader no longer waits for a key."""
_LOOK = 1.0
_PICTURE_EVERY = 5.0
_PIECE = 65536


@dataclass(frozen=True)
class Disks:
    """Disks of a build machine.

    Attributes:
        overlay: receives writes; created if missing.
        below: finished layer under it; None = none.
        media: ISO files in its drives, in order; the first is bootable.
    """

    overlay: Path
    below: Path | None
    media: tuple[Path, ...]


class MachineSilent(Unavailable):
    """QEMU did not start, or ended before its guest sent anything: the accelerator may be the reason."""

    code = "windows_build_failed"


class Build:
    """A running build machine.

    Attributes:
        tracker: records what is waited for.
        screen: its screen when it was last captured.

    Args:
        qemu: the process.
        serial: output of the guest.
        secret: secret of its guest API.
        picture: file for pictures of its screen; None = none.
        tracker: records what is waited for.
    """

    def __init__(
        self,
        qemu: Qemu,
        serial: socket.socket,
        *,
        secret: str,
        picture: Path | None = None,
        tracker: Tracker | None = None,
    ) -> None:
        self.qemu, self.secret, self.tracker = qemu, secret, tracker or Tracker()
        self._serial, self._picture, self._looked_at = serial, picture, 0.0
        self._reports = Reports()
        self._reported = False
        # Only one thread talks to its monitor; viewers of the screen get the latest capture.
        self._png = b""
        self.screen = ScreenWatch(lambda: self._png)

    def until_off(  # noqa: D417, PLR0913 - see `_until_off`
        self,
        phase: str,
        *,
        seconds: float,
        press_keys: bool,
        tell: Tell,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        """See `_until_off`; also records what is waited for."""
        doing = f"waiting until Windows has finished {phase or 'its work'} and shut down"
        with self.tracker.during(phase or "off", doing, limit=seconds, screen=self.screen):
            try:
                self._until_off(phase, seconds=seconds, press_keys=press_keys, tell=tell, ending=ending)
            except Unavailable:
                self.look(every=0.0)
                raise

    def look(self, *, every: float = _PICTURE_EVERY) -> None:
        """Captures the screen, unless the last picture is newer than the given seconds."""
        if self._picture is None or time.monotonic() - self._looked_at < every:
            return
        self._looked_at = time.monotonic()
        self.picture(self._picture)
        with suppress(OSError):
            self._png = self._picture.read_bytes()

    def _until_off(
        self,
        phase: str,
        *,
        seconds: float,
        press_keys: bool,
        tell: Tell,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        """Waits until the guest reports the end of a phase and shuts down.

        Args:
            phase: its name; empty = wait for shutdown only.
            seconds: time limit.
            press_keys: whether the installation medium waits for a key.
            tell: prints reports of the guest.
            ending: called when the guest has reported the end of the phase, before it shuts down.

        Raises:
            MachineSilent: QEMU ended before the guest sent anything.
            Unavailable: a stage failed in the guest, it crashed, shut down too early, or took too long.
        """
        deadline, keys_end = time.monotonic() + seconds, time.monotonic() + (_KEYS_FOR if press_keys else 0.0)
        reached = not phase
        while time.monotonic() < deadline:
            self.look()
            pressing = time.monotonic() < keys_end
            self._wait(_KEY_EVERY if pressing else _LOOK)
            # Checked before reading output, so that the last output is read, too.
            ended = self.qemu.look()
            for report in self._heard():
                self._reported = True
                tell(report.line())
                if report.kind == "failed":
                    raise Unavailable(f"Windows: {report.stage} failed: {report.text}", code="windows_build_failed")
                if (report.kind, report.stage) == ("phase", phase):
                    reached = True
                    ending()
            if ended:
                if reached and self._switched_off(ended):
                    return
                silent = not (self._reported or self._switched_off(ended))
                kind = MachineSilent if silent else Unavailable
                raise kind(
                    f"the machine stopped before it finished {phase or 'its work'}: {ended}",
                    code="windows_build_failed",
                )
            if pressing and not self._press_any_key():
                keys_end = 0.0
        raise Unavailable(
            f"Windows did not finish {phase or 'its work'} within {seconds / 60:.0f} minutes",
            code="windows_build_failed",
        )

    def _switched_off(self, ended: str) -> bool:
        """Whether the guest itself shut down; QEMU may end before its last event is read."""
        by_guest = any(event.name == "SHUTDOWN" and event.data.get("guest") for event in self.qemu.qmp.events)
        return by_guest or "shut its machine down" in ended

    def _wait(self, seconds: float) -> None:
        """Waits for output, a monitor event, or the time limit."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._serial, selectors.EVENT_READ)
            waiting.register(self.qemu.qmp, selectors.EVENT_READ)
            waiting.select(seconds)

    def _heard(self) -> Iterator[StageReport]:
        with suppress(BlockingIOError):
            while data := self._serial.recv(_PIECE):
                yield from self._reports.feed(data)

    def _press_any_key(self) -> bool:
        """Answers `Press any key to boot from CD or DVD` until the medium is read. Returns whether to continue."""
        blocks: Any = self.qemu.ask("query-blockstats", {"query-nodes": True})
        read = [block["stats"]["rd_bytes"] for block in blocks if block.get("node-name") == "medium0"]
        if not read or read[0] > _LOADING:
            return False
        self.qemu.ask("send-key", {"keys": [{"type": "qcode", "data": "ret"}]})
        return True

    def picture(self, target: Path) -> None:
        """Its screen as PNG, or nothing: it is called after another failure."""
        with suppress(QemuFailed):
            self.qemu.ask("screendump", {"filename": str(target), "format": "png"})


@contextmanager
def build_machine(machine: MachineSpec, disks: Disks, folder: Path, tracker: Tracker | None = None) -> Iterator[Build]:
    """Context manager: a running build machine.

    Args:
        machine: as in the final image; its `disk` is the lowest layer.
        disks: disks that differ.
        folder: for its sockets (`vnc`: watch it with any VNC viewer), the firmware's settings and pictures.
        tracker: records what is waited for.

    Raises:
        MachineSilent: It cannot be started.
    """
    if not disks.overlay.exists():
        disks.overlay.write_bytes(empty_overlay(machine.disk_size))
    variables = disks.overlay.with_suffix(".vars")
    if machine.firmware_vars and not variables.exists():
        shutil.copyfile(machine.firmware_vars, variables)
    files = MachineFiles(
        disk=machine.disk,
        overlay=str(disks.overlay),
        below=str(disks.below or ""),
        firmware_code=machine.firmware_code,
        firmware_vars=str(variables),
    )
    secret = secrets.token_urlsafe(32)
    with ExitStack() as stack:
        own_end, child_end = (stack.enter_context(end) for end in socket.socketpair())
        own_end.setblocking(False)
        monitor = socket.socketpair()
        words = [
            *arguments(machine, files, monitor=monitor[1].fileno(), secret=secret),
            *media(disks.media),
            *("-chardev", f"socket,id=reports,fd={child_end.fileno()}", "-device", "isa-serial,chardev=reports"),
        ]
        (folder / "vnc").unlink(missing_ok=True)
        try:
            qemu = Qemu(words, folder, (child_end.fileno(),), monitor, None)
        except QemuFailed as error:
            raise MachineSilent(str(error)) from error
        stack.callback(qemu.end)
        try:
            yield Build(qemu, own_end, secret=secret, picture=folder / ".screen.png", tracker=tracker)
        except (QemuFailed, QmpLost) as error:
            raise Unavailable(str(error), code="windows_build_failed") from error


def media(files: Sequence[Path]) -> list[str]:
    """Arguments for CD drives on the machine's own controller, for which every Windows has a driver."""
    words = []
    for number, file in enumerate(files):
        node = {
            "driver": "raw",
            "node-name": f"medium{number}",
            "read-only": True,
            "file": {"driver": "file", "filename": os.fspath(file.absolute()), "read-only": True},
        }
        device = f"ide-cd,drive=medium{number},bus=ide.{number},bootindex={number + 1}"
        words += ["-blockdev", json.dumps(node), "-device", device]
    return words


def with_disk(machine: MachineSpec, disk: Path) -> MachineSpec:
    """The machine with another lowest layer."""
    return replace(machine, disk=str(disk))
