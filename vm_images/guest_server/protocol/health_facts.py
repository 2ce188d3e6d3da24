"""Health facts of a platform."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Disk:
    """Free space where programs write; bytes."""

    path: str
    free: int
    size: int


@dataclass(frozen=True)
class Process:
    """A running program."""

    pid: int
    name: str


@dataclass(frozen=True)
class HealthFacts:
    """State of the desktop. If a fact cannot be read, the request fails instead.

    Attributes:
        disks: where programs write, the home first.
        memory_free: bytes that programs can still allocate; None if unknown.
        scale: of the display, 1.0 = one program pixel per screen pixel.
        locked: what covers the screen (a locker's name, `screen saver`); empty if nothing.
        pending: running updates and due restarts, as text.
        licence_until: end of the system's licence, seconds since 1970; None = never, or it needs none.
        processes: programs of the desktop's user started since the desktop was ready.
    """

    disks: Sequence[Disk]
    memory_free: int | None
    scale: float = 1.0
    locked: str = ""
    pending: Sequence[str] = ()
    licence_until: float | None = None
    processes: Sequence[Process] = ()


class HealthProbe(Protocol):
    """Reads the facts, in a few milliseconds."""

    def settled(self) -> None:
        """The desktop is ready: programs that start from now on belong to a task. Can be called again."""
        ...

    def limits_reached(self) -> Mapping[str, int]:
        """How often a limit of the whole desktop was reached, `memory` and `processes`; empty if unknown.

        Starts no process or thread.
        """
        ...

    def disks(self) -> Sequence[Disk]:
        """Free space where programs write, the home first; as quick on a desktop full of processes."""
        ...

    def facts(self) -> HealthFacts:
        """The current facts.

        Raises:
            GuestError: a fact could not be read; the message says which.
        """
        ...
