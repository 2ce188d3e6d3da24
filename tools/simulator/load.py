"""A thousand simulated slots in real time, in several processes: rate and latency of leases."""

import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from threading import BrokenBarrierError
from typing import Any

import psutil

from backend.services import events
from backend.services.periodic_thread import PeriodicThread
from backend.services.scheduling import maintenance
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, world
from tools.simulator.durations import STEP_BUDGET, Length
from tools.simulator.installations import ProjectShare
from tools.simulator.journal import Journal, SlotUse
from tools.simulator.timelines import RealTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext
from worker.scheduling.maintenance_loop import SCHEDULE_SECONDS

NODES, SLOTS, PROCESSES, THREADS = 50, 20, 2, 4
"""Of the simulation: 1,000 slots; the processes are those of workers, which share the machine with PostgreSQL."""
WEIGHTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
URGENT = 5
PATIENCE = 120.0
LEASE_SECONDS = 10.0
"""The product's."""


@dataclass(frozen=True)
class LoadResult:
    """Result of a simulated load.

    Attributes:
        holds: who had which slot when, in seconds since all could begin.
        processor: seconds of all processes and of PostgreSQL, from then on.
    """

    holds: Sequence[SlotUse]
    processor: float


def shares(tasks: int, repeats: int) -> list[ProjectShare]:
    """Four projects with weights and three runs each, and a fifth whose one run of 100 tasks has a higher priority."""
    usual = [
        ProjectShare(name, weight, [{"repeats": repeats, "seed": at} for at in range(3)])
        for name, weight in WEIGHTS.items()
    ]
    return [*usual, ProjectShare("urgent", 1.0, [{"tasks": ("d000/*",), "priority": URGENT}] if tasks else [])]


def simulate(url: str, seconds: float | None, lasts: float) -> LoadResult:
    """Runs all nodes for a while.

    Args:
        url: of the database.
        seconds: mean time of an attempt in its slot; None: attempts do not end, and the test ends once all slots are in
            use.
        lasts: seconds after which it is over in any case.
    """
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        ready, over = manager.Barrier(PROCESSES + 1), manager.Barrier(PROCESSES + 1)
        parts = [
            pool.submit(_run, url, range(at, NODES, PROCESSES), seconds, lasts, (ready, over))
            for at in range(PROCESSES)
        ]
        try:
            ready.wait(PATIENCE)
            before = processor_seconds()
            over.wait(lasts + PATIENCE)
        except BrokenBarrierError as error:
            errors = [part.exception(PATIENCE) for part in parts]
            raise next(
                (error for error in errors if error and not isinstance(error, BrokenBarrierError)), error
            ) from None
        used = processor_seconds() - before
        return LoadResult([hold for part in parts for hold in part.result()], used)


def _run(url: str, nodes: Sequence[int], seconds: float | None, lasts: float, barriers: Any) -> list[SlotUse]:
    events.configure("")
    generator, (ready, over) = random.Random(nodes[0]), barriers  # noqa: S311 - a sample
    with world(url) as new_world:
        timeline, journal = RealTime(THREADS), Journal()
        slot_ids: set[str] = set()

        def fate(claim: Claim) -> AttemptOutcome:
            first = claim.slot.id not in slot_ids
            slot_ids.add(claim.slot.id)
            return fate_of(seconds, generator, first=first)

        try:
            setting = SimulationContext(new_world, timeline, journal, fate)
            workers = [SimulatedWorker(setting, f"n{at}", SLOTS) for at in nodes]
            chores = _chores(new_world, len(workers), setting.poll)
            ready.wait(PATIENCE)
            timeline.begin()
            for chore in chores:
                chore.start()
            for worker in workers:
                worker.start()
            slots = len(workers) * SLOTS
            timeline.run(lambda: seconds is None and len(journal.open) >= slots, lasts)
            for chore in chores:
                chore.stop(PATIENCE)
            over.wait(lasts + PATIENCE)
        except BaseException:
            ready.abort()
            over.abort()
            raise
        return journal.all()


def _chores(world: World, workers: int, poll: float) -> list[PeriodicThread]:
    """The periodic work of that number of workers, without roll-ups."""
    return [
        PeriodicThread(
            "chores",
            lambda: maintenance.tend(world.factory, lease_seconds=LEASE_SECONDS),
            every=poll / workers,
            broken="looking after what died failed",
        ),
        PeriodicThread(
            "schedule",
            lambda: maintenance.keep_schedule(world.factory),
            every=SCHEDULE_SECONDS / workers,
            broken="looking at what the scheduler counts by failed",
        ),
    ]


def fate_of(seconds: float | None, generator: random.Random, *, first: bool) -> AttemptOutcome:
    """How long a slot is held, with how many steps; the first ones are caught in the middle, begun long before."""
    if seconds is None:
        return AttemptOutcome(Length(1e6, 0.0, 0.0))
    share = generator.random() if first else 1.0
    hold = seconds * generator.lognormvariate(-0.125, 0.5) * share
    return AttemptOutcome(Length(hold * 0.05, hold * 0.9, hold * 0.05), steps=round(STEP_BUDGET * share))


def lease_rate(holds: Sequence[SlotUse]) -> float:
    """Leases a second, from when all could begin until the last."""
    return len(holds) / max(hold.leased_at for hold in holds)


def full_at(holds: Sequence[SlotUse]) -> float:
    """When every slot had had its first attempt."""
    first: dict[tuple[str, int], float] = {}
    for hold in sorted(holds, key=lambda hold: hold.leased_at):
        first.setdefault(hold.slot, hold.leased_at)
    return max(first.values())


def waits(holds: Sequence[SlotUse], since: float) -> list[float]:
    """Milliseconds from a free slot to its lease, of slots that became free after a moment."""
    return [(hold.leased_at - hold.free_at) * 1000 for hold in holds if hold.free_at >= since]


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
