"""A thousand simulated slots in real time, in several processes: how fast slots are given away, and how soon."""

import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from uuid import UUID

import psutil

from backend.services import events
from tests.factories.records import world
from tests.simulator.durations import Length
from tests.simulator.installations import Share
from tests.simulator.journal import Hold, Journal
from tests.simulator.timelines import RealTime
from tests.simulator.workers import Fate, Setting, SimulatedWorker

NODES, SLOTS, PROCESSES, THREADS = 50, 20, 2, 6
"""Of the simulation: 1,000 slots; the processes are those of workers, which share the two cores with PostgreSQL."""
SHARES = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
URGENT = 5


@dataclass(frozen=True)
class Load:
    """What one of the processes does.

    Attributes:
        url: of the database.
        nodes: numbers of its nodes.
        seconds: mean hold of a slot; None: attempts do not end.
        began: by `time.monotonic`.
        lasts: seconds after which it ends; it ends earlier once all its slots are taken if attempts do not end.
    """

    url: str
    nodes: Sequence[int]
    seconds: float | None
    began: float
    lasts: float


def shares(tasks: int, repeats: int, urgent: int) -> list[Share]:
    """Four projects with weights and three runs each, and a fifth whose one run has a higher priority."""
    usual = [
        Share(name, weight, [{"repeats": repeats, "seed": at} for at in range(3)]) for name, weight in SHARES.items()
    ]
    first = [{"tasks": (f"d{at:03}/*",), "priority": URGENT} for at in range(max(1, min(tasks, urgent) // 100))]
    return [*usual, Share("urgent", 1.0, first)]


def simulate(url: str, seconds: float | None, lasts: float) -> list[Hold]:
    """Runs all nodes for a while; returns who had which slot when, in seconds since all of them could begin."""
    began = time.monotonic() + 5.0  # Processes need a while to import everything.
    parts = [Load(url, range(at, NODES, PROCESSES), seconds, began, lasts) for at in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        return [hold for held in pool.map(_run, parts) for hold in held]


def _run(load: Load) -> list[Hold]:
    events.configure("")
    generator = random.Random(load.nodes[0])  # noqa: S311 - a sample
    with world(load.url) as made:
        timeline, journal = RealTime(THREADS, load.began), Journal()
        setting = Setting(made, timeline, journal, lambda _: _fate(load.seconds, generator))
        workers = [SimulatedWorker(setting, f"n{at}", SLOTS) for at in load.nodes]
        for worker in workers:
            worker.start(after=max(0.0, -timeline.now()))
        slots = len(workers) * SLOTS
        timeline.run(lambda: load.seconds is None and len(journal.open) >= slots, load.lasts)
        return journal.all()


def _fate(seconds: float | None, generator: random.Random) -> Fate:
    if seconds is None:
        return Fate(Length(1e6, 0.0, 0.0))
    play = seconds * generator.lognormvariate(-0.125, 0.5)
    return Fate(Length(play * 0.05, play * 0.9, play * 0.05))


def lease_rate(holds: Sequence[Hold]) -> float:
    """Leases a second, from when all could begin until the last."""
    return len(holds) / max(hold.leased_at for hold in holds)


def waits(holds: Sequence[Hold], since: float) -> list[float]:
    """Milliseconds from a free slot to its lease, of slots that became free after a moment."""
    return [(hold.leased_at - hold.free_at) * 1000 for hold in holds if hold.free_at >= since]


def by_project(seconds: dict[UUID, float], projects: dict[UUID, str]) -> dict[str, float]:
    """Slot-seconds of the projects that share by weight."""
    found = dict.fromkeys(SHARES, 0.0)
    for run, number in seconds.items():
        if projects[run] in found:
            found[projects[run]] += number
    return found


def processor_seconds() -> float:
    """Of this process, its children and theirs, ended ones too."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += used.user + used.system + used.children_user + used.children_system
    return total
