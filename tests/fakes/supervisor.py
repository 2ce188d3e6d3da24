"""A supervisor of virtual machines that has none: what is started is a name, and its end is noted."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

from worker.qemu.client import CLOSED, Held, SlotSupervisor, SupervisorError
from worker.qemu.machine import Machine


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

    def start(self, kind: str, machine: Machine, *, secret: str = "", place: Path | None = None) -> Held:
        return self.held()

    def held(self, port: int = 9) -> Held:
        """A machine that it holds."""
        return Held(f"m{next(self._names)}", port, 1, {})

    def freeze(self, held: Held, place: Path) -> Mapping[str, float]:
        return {}

    def picture(self, held: Held) -> bytes:
        return b""

    def private_bytes(self, held: Held) -> int:
        if self.own_bytes is None:
            raise SupervisorError("the supervisor did not answer 'memory'")
        return self.own_bytes

    def end(self, held: Held) -> None:
        self.ended.append(held.name)
        held.end(CLOSED)
        self.on_end()
        if self.refuses:
            raise SupervisorError(self.refuses)

    def close(self) -> None:
        return
