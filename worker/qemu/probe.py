"""Runs the probe's guest on this host like real machines: same command line, own user, template and clone."""

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from worker.qemu.machine import MachineSpec
from worker.qemu.probe_guest import MARK_EVENT, PARTS, boot_disk
from worker.qemu.process import QemuFailed
from worker.qemu.runtime_dir import RuntimeDir
from worker.qemu.slot import CLONE, MASTER, StartRequest, VmSlot

UNFINISHED = "unfinished"
"""Name of the part during which a guest was stopped."""
_SHORTEST_LIMIT = 2.0
"""Minimum time limit for a clone's first mark, in seconds."""


class ProbeTimeout(Exception):  # noqa: N818 - says what happened.
    """The guest did not finish within the limit.

    Attributes:
        seconds: by part, as far as it came; `UNFINISHED` is the time until it was stopped.
    """

    def __init__(self, seconds: Mapping[str, float], limit: float) -> None:
        """Args: seconds: of finished parts. limit: seconds after which it was stopped."""
        super().__init__(f"a trial guest did not finish within {limit:.1f} s")
        self.seconds = {**seconds, UNFINISHED: max(0.0, limit - sum(seconds.values()))}


class ProbeHost:
    """Starts probe guests, one at a time. The caller must be single-threaded: see `Qemu`."""

    def __init__(self, slot: VmSlot, folder: Path) -> None:
        """Args: slot: runs the machines. folder: for disks and templates, empty."""
        self._slot, self._folder = slot, folder

    def starts(self, machine: MachineSpec) -> str:
        """QEMU's error message if it does not start that machine; empty if it does."""
        try:
            self._slot.end(self._start(machine))
        except QemuFailed as error:
            return str(error)
        return ""

    def run(self, machine: MachineSpec, limit: float) -> dict[str, float]:
        """Runs the whole workload.

        Args:
            machine: its disk is replaced by the probe's.
            limit: seconds for the whole workload.

        Returns:
            Seconds of each of PARTS; `firmware` includes QEMU's own start.

        Raises:
            QemuFailed: the machine did not start, or died.
            ProbeTimeout: It took longer.
        """
        began = time.time()
        name = self._start(machine)
        try:
            return self._marks(name, began, limit)
        finally:
            self._slot.end(name)

    def run_and_clone(self, machine: MachineSpec, limit: float) -> dict[str, float]:
        """Like `run`, then makes a template of the machine and waits for a mark of its clone, within the same limit."""
        began = time.time()
        name = self._start(machine)
        try:
            seconds = self._marks(name, began, limit)
            self._slot.freeze(name, self._template)
        finally:
            self._slot.end(name)
        clone = self._slot.start(StartRequest(kind=CLONE, machine=self._with_disk(machine), place=self._template))
        try:
            if self._wait_mark(clone, max(limit, _SHORTEST_LIMIT)) is None:
                raise QemuFailed("a clone of it does not run", code="clone_not_running")
        finally:
            self._slot.end(clone)
        return seconds

    @property
    def _template(self) -> Path:
        return self._folder / "template"

    def _start(self, machine: MachineSpec) -> str:
        shutil.rmtree(self._template, ignore_errors=True)
        self._template.mkdir(mode=0o700)
        return self._slot.start(
            StartRequest(kind=MASTER, machine=self._with_disk(machine), secret="probe", place=self._template)  # noqa: S106
        )

    def _with_disk(self, machine: MachineSpec) -> MachineSpec:
        disk = self._folder / f"{machine.firmware}.qcow2"
        if not disk.exists():
            disk.write_bytes(boot_disk(machine.firmware))
        return replace(machine, disk=str(disk))

    def _marks(self, name: str, began: float, limit: float) -> dict[str, float]:
        seconds: dict[str, float] = {}
        before = began
        for part in PARTS:
            mark = self._wait_mark(name, began + limit - time.time())
            if mark is None:
                raise ProbeTimeout(seconds, limit)
            # Never negative, even if the host's clock is set back meanwhile.
            seconds[part], before = max(0.0, mark - before), mark
        return seconds

    def _wait_mark(self, name: str, limit: float) -> float | None:
        """The time of the next mark by QEMU's clock; None if there was none within the limit."""
        qemu = self._slot.machines[name].qemu
        deadline = time.monotonic() + limit
        try:
            return qemu.wait({MARK_EVENT}, max(0.0, limit)).time
        except QemuFailed:
            if (verdict := qemu.look()) or time.monotonic() < deadline:
                raise QemuFailed(verdict or "QEMU does not respond", code="machine_unusable") from None
            return None


@contextlib.contextmanager
def probe_host() -> Iterator[ProbeHost]:
    """Context manager with everything that probing needs. Raises OSError if there is no temporary folder.

    Files left by a killed process are in its `RuntimeDir`, so the next one removes them.
    """
    runtime = RuntimeDir()
    try:
        folder = runtime.path / "probe"
        folder.mkdir(mode=0o700)
        slot = VmSlot(runtime.path, folder)
        try:
            yield ProbeHost(slot, folder)
        finally:
            slot.close()
    finally:
        runtime.remove()
