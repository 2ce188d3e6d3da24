"""A supervisor of virtual machines that has none: what is started is a name, and its end is noted."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

from worker.qemu.client import CLOSED, SlotSupervisor, SupervisorError, VmHandle
from worker.qemu.machine import MachineSpec


class FakeSupervisor(SlotSupervisor):
    """Answers at once.

    Attributes:
        ended: the names of machines that were ended, in order.
        on_end: called as a machine ends.
        refuses: what it says when it is to end a machine; empty if it does.
        own_bytes: memory that each machine uses; None if it cannot tell.
    """

    def __init__(self, folder: Path) -> None:
        """Args: folder: where gateways' sockets are made."""
        self.folder, self.qemu = folder, "QEMU emulator version 0"
        self.ended: list[str] = []
        self.on_end: Callable[[], None] = lambda: None
        self.refuses = ""
        self.own_bytes: int | None = 0
        self._names = itertools.count(1)

    def alive(self) -> bool:
        return True

    def start(self, kind: str, machine: MachineSpec, *, secret: str = "", folder: Path | None = None) -> VmHandle:
        return self.held()

    def held(self, port: int = 9) -> VmHandle:
        """A machine that it holds."""
        return VmHandle(f"m{next(self._names)}", port, 1, {})

    def freeze(self, held: VmHandle, place: Path) -> Mapping[str, float]:
        return {}

    def picture(self, held: VmHandle) -> bytes:
        return b""

    def private_bytes(self, held: VmHandle) -> int:
        if self.own_bytes is None:
            raise SupervisorError("the supervisor did not answer 'memory'")
        return self.own_bytes

    def end(self, held: VmHandle) -> None:
        self.ended.append(held.name)
        held.end(CLOSED, "removed")
        self.on_end()
        if self.refuses:
            raise SupervisorError(self.refuses)

    def close(self) -> None:
        return
