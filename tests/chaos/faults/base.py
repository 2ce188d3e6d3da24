"""What a fault is. One class per way to break something; a kind is a class with what it is aimed at."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.chaos.stack import ChaosStack

Draw = Callable[[Random], "Fault"]
KINDS: dict[str, "KindOfFault"] = {}
"""Every kind by its name, in the order of registration; `tests.chaos.faults` imports all modules."""


@dataclass
class Blow:
    """A worker was taken away at a moment, so that its episodes are to be taken up by others.

    Attributes:
        pid: of the worker.
        at: seconds since 1970.
        alone: nothing else was broken at that time.
    """

    pid: int
    at: float
    alone: bool = True


@dataclass
class Scene:
    """What a fault works on, and where it notes what it did.

    Attributes:
        stack: the whole stack.
        blows: workers that were taken away.
        cancelled: runs that a user cancelled.
    """

    stack: ChaosStack
    blows: list[Blow] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)


class Fault(ABC):
    """One fault with all that was drawn for it. What it hits among what is there then is drawn too, as a share."""

    seconds: float = 0.0
    """How long it lasts before it is healed."""

    def why_not(self, scene: Scene) -> str:  # noqa: ARG002
        """Why this machine cannot have it; empty if it can."""
        return ""

    @abstractmethod
    def inject(self, scene: Scene) -> str:
        """Breaks something; says what, in words. Nothing to break is said as well."""

    def heal(self, scene: Scene) -> None:  # noqa: B027 - most faults are healed by the product.
        """Ends what the fault still does. What the stack has to repair itself is left to it."""


@dataclass(frozen=True)
class KindOfFault:
    """A registered kind.

    Attributes:
        name: `kill worker-1`.
        about: one sentence for the documentation.
        draw: a fault of the kind.
    """

    name: str
    about: str
    draw: Draw


def kind(name: str, about: str, draw: Draw) -> None:
    """Registers a kind of fault."""
    if name in KINDS:
        raise ValueError(f"there are two faults {name!r}")
    KINDS[name] = KindOfFault(name, about, draw)


def chosen(things: list[int], share: float) -> int | None:
    """The thing at a share of the list, None of an empty one."""
    return things[min(len(things) - 1, int(share * len(things)))] if things else None
