"""Number of parallel desktops of a machine: computed from memory, cores and disk, or set by a person."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pydantic import Field

from backend.domain.machines.machine_image import MachineImage
from backend.domain.model.task import Frozen
from backend.domain.model.units import GIB, MIB

MOST = 32
"""Upper bound of a computed number: beyond it, the database and the worker are the bottleneck."""
VM_OVERHEAD = 256 * MIB
"""Memory of QEMU itself, in addition to the guest's."""
VM_DISK = 4 * GIB
"""Bytes that an attempt may write to its overlay."""


@dataclass(frozen=True, order=True)
class SlotRef:
    """A slot of one provider, as named by its worker. Equal index and node mean the same slot.

    Attributes:
        index: from 0, among the provider's slots of that node.
        node: empty on the worker's own machine, and if the cluster's scheduler places the pod.
        id: id of its row; empty without a database.
        fence: fencing token of its lease, which increases with each lease. 0 = not leased.
    """

    index: int
    node: str = ""
    id: str = field(default="", compare=False)
    fence: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.node} {self.index}".strip()


class DesktopNeeds(Frozen):
    """Resources that one desktop needs.

    Attributes:
        memory: bytes.
        cores: processor cores; a fraction, because desktops mostly wait.
        disk: bytes on the data folder's disk, including screenshots.
    """

    memory: int = Field(default=GIB, gt=0)
    cores: float = Field(default=1.0, gt=0)
    disk: int = Field(default=GIB // 4, gt=0)


SERVICE_NEEDS = DesktopNeeds(memory=GIB, cores=0.01, disk=2 * GIB)
"""Needs of the service itself: database, broker, worker, evaluations."""


@dataclass(frozen=True)
class FreeResources:
    """Free resources of a machine: bytes of memory, cores, bytes on the data folder's disk."""

    memory: int
    cores: int
    disk: int


@dataclass(frozen=True)
class SlotCount:
    """A number of slots, and how it was determined."""

    number: int
    reason: str


def slot_count(room: FreeResources, need: DesktopNeeds, *, slot_limit: int | None = None) -> SlotCount:
    """Number of parallel desktops.

    The scarcest of memory, cores and disk decides; cores alone never reduce it below one.

    Args:
        room: free resources before any desktop runs.
        need: needs of one desktop.
        slot_limit: number set by a person, regardless of resources; None = computed.
    """
    free_slots = {
        "memory": (room.memory - SERVICE_NEEDS.memory) // need.memory,
        "cores": max(1, int(room.cores / need.cores)),
        "disk": (room.disk - SERVICE_NEEDS.disk) // need.disk,
    }
    number = min(MOST, *(max(0, count) for count in free_slots.values()))
    if slot_limit is not None:
        short = f": more than the machine has room for ({number})" if slot_limit > number else ""
        return SlotCount(slot_limit, f"set to {slot_limit}{short}")
    scarce = [name for name, count in free_slots.items() if max(0, count) == number]
    by = " and ".join(scarce) or f"the maximum of {MOST}"
    return SlotCount(number, f"limited by {by}: {_had(room)}; one takes {_needs_text(need)}")


def need_of(image: MachineImage) -> DesktopNeeds:
    """Needs of a virtual machine of an image.

    Clones of a Linux template share most memory (53 to 95 MB of their own were measured); half is counted, for the
    pages that a task touches. Windows counts in full until it has been measured. Two processors of desktops share one
    core, because desktops mostly wait.
    """
    memory = image.memory_mib * MIB
    shared = memory // 2 if image.os == "linux" else 0
    return DesktopNeeds(memory=memory - shared + VM_OVERHEAD, cores=image.cpus / 2, disk=VM_DISK)


def largest(needs: Iterable[DesktopNeeds]) -> DesktopNeeds:
    """The maximum of all needs; the smallest possible for an empty list."""
    all_needs = list(needs) or [DesktopNeeds()]
    return DesktopNeeds(
        memory=max(need.memory for need in all_needs),
        cores=max(need.cores for need in all_needs),
        disk=max(need.disk for need in all_needs),
    )


def room_for(running: Iterable[str], provider: str, slots: Mapping[str, int]) -> int:
    """How many more desktops of a provider fit beside the running ones.

    A provider's n slots are the whole machine, so each desktop takes one nth of it.

    Args:
        running: the provider of each running desktop.
        provider: provider of the next desktops.
        slots: number of slots by provider.
    """
    if not slots.get(provider):
        return 0
    used = sum((Fraction(1, slots[name]) for name in running if slots.get(name)), Fraction(0))
    return max(0, int((1 - used) * slots[provider]))


def _had(room: FreeResources) -> str:
    return f"{room.memory / GIB:.1f} GiB of memory, {room.cores} cores, {room.disk / GIB:.1f} GiB of disk"


def _needs_text(need: DesktopNeeds) -> str:
    cores = f"{need.cores:g} core{'' if need.cores == 1 else 's'}"
    return f"{need.memory / GIB:.2g} GiB, {cores}, {need.disk / GIB:.2g} GiB"
