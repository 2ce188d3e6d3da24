"""Base of faults. One class per kind of failure; a fault kind is a class with its target."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event
from typing import TypeVar

from tools.chaos.stack import WORKERS, ChaosStack

T = TypeVar("T")
PATIENCE = 15.0
"""Seconds for which a fault waits for something to hit."""
LOCAL = "local"
"""Flavour of the stack with local desktops."""
Draw = Callable[[Random], "Fault"]
KINDS: dict[str, "KindOfFault"] = {}
"""Every kind by its name, in the order of registration; `tools.chaos.faults` imports all modules."""


@dataclass
class WorkerHit:
    """A worker was removed at that time, so that others must take up its episodes.

    Attributes:
        pid: of the worker.
        at: seconds since 1970.
        alone: nothing else was broken at that time.
    """

    pid: int
    at: float
    alone: bool = True


@dataclass
class PodMark:
    """A pod was hit at that time: an attempt lost by it must give the reason.

    Attributes:
        pod: its UID.
        at: seconds since 1970.
        words: one of them is in the failure's message.
        alone: nothing else was broken at that time.
    """

    pod: str
    at: float
    words: tuple[str, ...]
    alone: bool = True


@dataclass
class ClosedNode:
    """A node that takes nothing new.

    Attributes:
        node: its name.
        since, until: seconds since 1970.
        alone: nothing else was broken at that time.
    """

    node: str
    since: float
    until: float = math.inf
    alone: bool = True


@dataclass
class Scene:
    """Context of a fault: its targets, and notes on its effects.

    Attributes:
        stack: the whole stack.
        blows: removed workers.
        marks: pods that were hit.
        closed: nodes that took nothing new.
        cancelled: runs that a user cancelled.
    """

    stack: ChaosStack
    blows: list[WorkerHit] = field(default_factory=list)
    marks: list[PodMark] = field(default_factory=list)
    closed: list[ClosedNode] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)

    @property
    def notes(self) -> "tuple[Sequence[WorkerHit | PodMark | ClosedNode], ...]":
        """All that faults noted, by kind."""
        return self.blows, self.marks, self.closed


class Fault(ABC):
    """One fault with its drawn parameters. Its target among existing objects is drawn as a fraction."""

    seconds: float = 0.0
    """How long it lasts before it is healed."""

    def why_not(self, scene: Scene) -> str:  # noqa: ARG002
        """Why this machine cannot have it; empty if it can."""
        return ""

    def drawn(self) -> dict[str, object]:
        """Its parameters, for readers of the plan."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @abstractmethod
    def inject(self, scene: Scene) -> str:
        """Injects the fault; returns a description, also if there is nothing to break."""

    def heal(self, scene: Scene) -> None:  # noqa: B027 - most faults are healed by the product.
        """Ends the fault. Repairs are left to the stack."""


@dataclass(frozen=True)
class KindOfFault:
    """A registered kind.

    Attributes:
        name: `kill worker-1`.
        about: one sentence for the documentation.
        draw: a fault of the kind.
        flavour: the stack that has what it breaks; empty = every one.
        loses: whether a worker is removed, so that others must take up its episodes.
    """

    name: str
    about: str
    draw: Draw
    flavour: str = ""
    loses: bool = False


def kind(name: str, description: str, draw: Draw, flavour: str = "", *, loses: bool = False) -> None:
    """Registers a kind of fault."""
    if name in KINDS:
        raise ValueError(f"there are two faults {name!r}")
    KINDS[name] = KindOfFault(name, description, draw, flavour, loses)


def a_while(random: Random) -> float:
    """Seconds for which a part of a cluster is broken."""
    return random.uniform(4.0, 20.0)


def awaited(look: Callable[[], list[T]], seconds: float = PATIENCE) -> list[T]:
    """The objects, as soon as there are any; empty on timeout."""
    deadline, pause = time.monotonic() + seconds, Event()
    while not (value := look()) and time.monotonic() < deadline:
        pause.wait(0.1)
    return value


def busy_worker(scene: Scene, drawn: str) -> str:
    """A worker with a running attempt that another one could take up; the drawn one if possible.

    None comes in time: the drawn one all the same.
    """

    def fitting() -> list[str]:
        live = scene.stack.live()
        return [name for name in WORKERS if live.get(name) and scene.stack.has_room(live, name)]

    workers = awaited(fitting)
    return drawn if drawn in workers or not workers else workers[0]


def pick_share(pids: list[int], share: float) -> int | None:
    """The thing at a share of the list, None of an empty one."""
    return pids[min(len(pids) - 1, int(share * len(pids)))] if pids else None
