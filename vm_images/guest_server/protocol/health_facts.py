"""What a platform tells of its own health, and what the guest server asks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Disk:
    """Room where programs write; bytes."""

    path: str
    free: int
    size: int


@dataclass(frozen=True)
class Process:
    """A program that runs."""

    pid: int
    name: str


@dataclass(frozen=True)
class HealthFacts:
    """How the desktop is. What could not be read is no fact: the question fails instead.

    Attributes:
        disks: where programs write, the home first.
        memory_free: bytes that programs can still get; None where that cannot be told.
        scale: of the display, 1.0 = one pixel of a program is one pixel of the screen.
        locked: why the screen is covered (a locker's name, `screen saver`); empty if it is not.
        pending: updates under way and restarts that are due, each in words.
        licence_until: when the system's licence ends, seconds since 1970; None = never, or it needs none.
        processes: programs of the desktop's user that were started since the desktop was ready.
    """

    disks: Sequence[Disk]
    memory_free: int | None
    scale: float = 1.0
    locked: str = ""
    pending: Sequence[str] = ()
    licence_until: float | None = None
    processes: Sequence[Process] = ()


class HealthProbe(Protocol):
    """The platform's answers. Cheap: some milliseconds."""

    def settled(self) -> None:
        """The desktop is ready: what starts from now on belongs to a task. Safe to call again: counts anew."""
        ...

    def facts(self) -> HealthFacts:
        """How it is now.

        Raises:
            GuestError: something could not be read; says what.
        """
        ...
