"""A provider whose desktops live in memory."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from backend.domain.errors import MachineLost
from backend.domain.machines.desktop_end import DesktopEnd, EndCause
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.model.trajectory import Frame
from backend.domain.ports.desktop import Availability, Desktop, DesktopSpec, OpenDesktop
from tests.fakes.desktop import FakeDesktop


class FakeOpenDesktop:
    """A FakeDesktop (`fake`) with what its provider knows of it; `last` is what its machine still shows.

    `cause` is the evidence of its end, `taken` why a cluster took the machine away; empty if none did.
    """

    def __init__(self, desktop: FakeDesktop, slot: SlotRef) -> None:
        self.desktop: Desktop = desktop
        self.fake = desktop
        self.details: Mapping[str, Any] = {"provider": "fake", "slot": slot.index}
        self.closed = 0
        self.way_out = EgressRules()
        self.last: Frame | None = None
        self.taken = ""
        self.cause = EndCause.UNKNOWN

    def alive(self) -> bool:
        return not self.fake.dead

    def death_reason(self) -> str:
        return self.fake.dead

    def ending(self) -> DesktopEnd:
        return DesktopEnd(cause=self.cause, text=self.fake.dead)

    def stream_address(self) -> tuple[str, str]:
        return "http://127.0.0.1:9", "no-stream"

    def picture(self) -> Frame | None:
        return self.last

    def revocation_reason(self) -> str:
        return self.taken

    def let_out(self, way_out: EgressRules, fetch: Callable[[str], bytes]) -> None:
        self.way_out = way_out

    def close(self) -> None:
        self.closed += 1
        self.fake.die("closed")


class FakeProvider:
    """Makes fake desktops.

    Attributes:
        opened: every desktop it made, in order.
        prepared: (slot, spec) of every call of `prepare`.
        unprepared: slot of every call of `unprepare`.
        distrusted: slot of every call of `distrust`.
        broken: raised by `open`, if set.
        programs: commands found on its desktops.
        on_open: called with each new desktop, to furnish it.
    """

    name = "fake"

    def __init__(self) -> None:
        self.opened: list[FakeOpenDesktop] = []
        self.prepared: list[tuple[SlotRef, DesktopSpec]] = []
        self.unprepared: list[SlotRef] = []
        self.distrusted: list[SlotRef] = []
        self.broken: MachineLost | None = None
        self.programs: tuple[str, ...] = ("mousepad",)
        self.on_open: Callable[[FakeDesktop], None] | None = None
        self._lock = Lock()

    def availability(self) -> Availability:
        return Availability(ok=True, programs=self.programs)

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        if self.broken is not None:
            raise self.broken
        desktop = FakeDesktop(spec.screen)
        if self.on_open is not None:
            self.on_open(desktop)
        open_desktop = FakeOpenDesktop(desktop, slot)
        with self._lock:
            self.opened.append(open_desktop)
        return open_desktop

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        with self._lock:
            self.prepared.append((slot, spec))

    def unprepare(self, slot: SlotRef) -> None:
        with self._lock:
            self.unprepared.append(slot)

    def distrust(self, slot: SlotRef) -> None:
        with self._lock:
            self.distrusted.append(slot)

    def close(self) -> None:
        for open_desktop in list(self.opened):
            open_desktop.close()
