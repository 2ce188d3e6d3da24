"""How many desktops a machine runs at once: counted from its memory, cores and disk, or set by a person."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pydantic import Field

from backend.domain.machines.machine_image import MachineImage
from backend.domain.model.task import Frozen

MIB, GIB = 2**20, 2**30
MOST = 32
"""More are never counted, only set: beyond it the database and the worker themselves are what limits."""
VM_OVERHEAD = 256 * MIB
"""Of QEMU itself, beside the guest's memory."""
VM_DISK = 4 * GIB
"""What an attempt may write into its overlay."""


@dataclass(frozen=True, order=True)
class SlotRef:
    """A slot of one provider as its worker names it. Two with the same index and node are the same slot.

    Attributes:
        index: from 0, among the provider's slots of that node.
        node: empty on the worker's own machine, and where a cluster's scheduler places the slot's pod itself.
        id: of its row; empty where no database is asked.
        fence: number of the lease under which it is held; each further lease has a higher one. 0 = not leased.
    """

    index: int
    node: str = ""
    id: str = field(default="", compare=False)
    fence: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.node} {self.index}".strip()


class DesktopNeeds(Frozen):
    """What one desktop takes of its machine.

    Attributes:
        memory: bytes.
        cores: of processors; a fraction where desktops mostly wait.
        disk: bytes of the data folder's disk, screenshots included.
    """

    memory: int = Field(default=GIB, gt=0)
    cores: float = Field(default=1.0, gt=0)
    disk: int = Field(default=GIB // 4, gt=0)


KEPT = DesktopNeeds(memory=GIB, cores=0.01, disk=2 * GIB)
"""What the service itself takes: database, broker, worker, evaluations."""


@dataclass(frozen=True)
class FreeResources:
    """What a machine has left: bytes of memory that can be had, cores, bytes of the data folder's disk."""

    memory: int
    cores: int
    disk: int


@dataclass(frozen=True)
class SlotCount:
    """A number of slots, and where it comes from, in words."""

    number: int
    reason: str


def slot_count(room: FreeResources, need: DesktopNeeds, *, slot_limit: int | None = None) -> SlotCount:
    """How many desktops run at once.

    The scarcest of memory, cores and disk decides; a machine with a single busy core still runs one.

    Args:
        room: what the machine has, before any desktop runs.
        need: of one desktop.
        slot_limit: what a person has set, whatever the machine has; None = counted.
    """
    left = {
        "memory": (room.memory - KEPT.memory) // need.memory,
        "cores": max(1, int(room.cores / need.cores)),
        "disk": (room.disk - KEPT.disk) // need.disk,
    }
    number = min(MOST, *(max(0, count) for count in left.values()))
    if slot_limit is not None:
        short = f": more than the machine has room for ({number})" if slot_limit > number else ""
        return SlotCount(slot_limit, f"set to {slot_limit}{short}")
    scarce = [name for name, count in left.items() if max(0, count) == number]
    by = " and ".join(scarce) or f"the maximum of {MOST}"
    return SlotCount(number, f"limited by {by}: {_had(room)}; one takes {_needs_text(need)}")


def need_of(image: MachineImage) -> DesktopNeeds:
    """What a virtual machine of an image takes.

    A clone of a Linux template shares most memory with the others (53 to 95 MB of its own were measured); half is
    counted for what a task touches. Windows counts in full until its growth has been measured. Desktops mostly wait,
    so two of their processors share one core.
    """
    memory = image.memory_mib * MIB
    shared = memory // 2 if image.os == "linux" else 0
    return DesktopNeeds(memory=memory - shared + VM_OVERHEAD, cores=image.cpus / 2, disk=VM_DISK)


def largest(needs: Iterable[DesktopNeeds]) -> DesktopNeeds:
    """Enough for any of them; the smallest there is for none."""
    all_needs = list(needs) or [DesktopNeeds()]
    return DesktopNeeds(
        memory=max(each.memory for each in all_needs),
        cores=max(each.cores for each in all_needs),
        disk=max(each.disk for each in all_needs),
    )


def room_for(running: Iterable[str], provider: str, slots: Mapping[str, int]) -> int:
    """How many more desktops of a provider fit beside those that run.

    A provider's n slots are the whole machine, so each desktop takes an nth of it, whichever provider made it.

    Args:
        running: the provider of each running desktop.
        provider: of the next ones.
        slots: by provider.
    """
    if not slots.get(provider):
        return 0
    used = sum((Fraction(1, slots[each]) for each in running if slots.get(each)), Fraction(0))
    return max(0, int((1 - used) * slots[provider]))


def _had(room: FreeResources) -> str:
    return f"{room.memory / GIB:.1f} GiB of memory, {room.cores} cores, {room.disk / GIB:.1f} GiB of disk"


def _needs_text(need: DesktopNeeds) -> str:
    cores = f"{need.cores:g} core{'' if need.cores == 1 else 's'}"
    return f"{need.memory / GIB:.2g} GiB, {cores}, {need.disk / GIB:.2g} GiB"
